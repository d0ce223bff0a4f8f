package server_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/host"
	"github.com/idea-ide/ideai/internal/server/servertest"
	"github.com/idea-ide/ideai/services/launcher/launchertest"
)

// git runs git as a person whose own settings say nothing.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.org"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// clone is a project with two checkouts: main, and one on the branch fix.
type clone struct {
	*servertest.Clients
	t        *testing.T
	main     string
	worktree string
}

func newClone(t *testing.T) *clone {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	s := servertest.Start(t)
	root := s.Project("shop", map[string]string{
		".ideai/CONTEXT.md":       "Rules of main.\n",
		".ideai/memory/vat.md":    "---\ndescription: Rates of VAT\n---\nRates.\n",
		".ideai/memory/gone.md":   "---\ndescription: Old habits\n---\nOld.\n",
		"main.go":                 "package main\n",
		".ideai/agents/tester.md": "---\ndescription: Tests\n---\nYou test.\n",
	})
	c := &clone{Clients: s.Owner(), t: t, main: root, worktree: filepath.Join(filepath.Dir(root), "shop-fix")}
	// What ideai keeps of a running project is there before git is: as usual.
	c.launch("l0", "", root)
	if _, err := c.Launcher.ReportLaunch(t.Context(), &launcherv1.ReportLaunchRequest{ProjectId: "shop", LaunchId: "l0",
		Event: &launcherv1.ReportLaunchRequest_Exited{Exited: &launcherv1.LaunchExited{}}}); err != nil {
		t.Fatal(err)
	}
	git(t, root, "init", "-q", "-b", "main")
	git(t, root, "add", ".")
	git(t, root, "commit", "-qm", "all")
	git(t, root, "worktree", "add", "-qb", "fix", c.worktree)
	c.write(c.worktree, ".ideai/CONTEXT.md", "Rules of the branch.\n")
	c.write(c.worktree, ".ideai/memory/branch.md", "---\ndescription: Only on the branch\n---\nNew.\n")
	if err := os.Remove(filepath.Join(c.worktree, ".ideai/memory/gone.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Launcher.SetTrust(t.Context(), &launcherv1.SetTrustRequest{ProjectId: "shop", Trusted: true}); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *clone) write(root, name, text string) {
	c.t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clone) launch(id, worktree, root string) *launcherv1.LaunchPlan {
	c.t.Helper()
	req := launchertest.Request("shop", id, root)
	req.WorktreeId = worktree
	r, err := c.Launcher.PrepareLaunch(c.t.Context(), req)
	if err != nil {
		c.t.Fatal(err)
	}
	return r.GetPlan()
}

func (c *clone) refresh(id string) *launcherv1.RefreshContextResponse {
	c.t.Helper()
	r, err := c.Launcher.RefreshContext(c.t.Context(), &launcherv1.RefreshContextRequest{ProjectId: "shop", LaunchId: id})
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// texts is what the files of a plan say.
func texts(plan *launcherv1.LaunchPlan) string {
	var b strings.Builder
	for _, f := range plan.GetFiles() {
		b.Write(f.GetContent())
	}
	return b.String()
}

// Notes and rules come from the worktree of the launch; what runs is known to
// all.
func TestAWorktreeHasItsOwnTextsAndSharesWhatRuns(t *testing.T) {
	c := newClone(t)
	where, err := c.Launcher.ResolveProject(t.Context(), &launcherv1.ResolveProjectRequest{Path: c.worktree})
	if err != nil || where.GetProject().GetProjectId() != "shop" || where.GetWorktreeId() != "shop-fix" {
		t.Fatalf("the worktree is %v, %v", where, err)
	}
	main, branch := texts(c.launch("in-main", "", c.main)), c.launch("on-branch", "shop-fix", c.worktree)
	if !strings.Contains(main, "Rules of main.") || !strings.Contains(main, "Old habits") || strings.Contains(main, "Only on the branch") {
		t.Errorf("main is told:\n%s", main)
	}
	if got := texts(branch); !strings.Contains(got, "Rules of the branch.") || !strings.Contains(got, "Only on the branch") ||
		strings.Contains(got, "Old habits") || strings.Contains(got, "Rules of main.") {
		t.Errorf("the branch is told:\n%s", got)
	}
	// The same agent in both is two instances, and both are listed.
	if got := branch.GetIdentity(); got.GetInstanceId() != "dev-2" || got.GetWorktreeId() != "shop-fix" {
		t.Errorf("identity %v", got)
	}
	if got := branch.GetSideDirectory(); got != c.worktree+"/.ideai/run/on-branch" {
		t.Errorf("the launch's own directory is %s", got)
	}
	list, err := c.Launcher.ListLaunches(t.Context(), &launcherv1.ListLaunchesRequest{ProjectId: "shop"})
	if err != nil || len(list.GetLaunches()) != 3 {
		t.Errorf("launches %v, %v", list.GetLaunches(), err)
	}
	if status := git(t, c.main, "status", "--short"); status != "" {
		t.Errorf("git sees in main:\n%s", status)
	}
}

// A launch is stale when its own worktree changed, not another.
func TestAWorktreeIsStaleByItself(t *testing.T) {
	c := newClone(t)
	c.launch("in-main", "", c.main)
	c.launch("on-branch", "shop-fix", c.worktree)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := c.Launcher.WatchContext(ctx, &launcherv1.WatchContextRequest{ProjectId: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	for synced := false; !synced; {
		synced = recv(t, stream).GetSynced() != nil
	}
	stale := launcherv1.ContextState_CONTEXT_STATE_STALE
	next := func(what string, launch string, section string) {
		t.Helper()
		got := recv(t, stream).GetContext()
		var names []string
		for _, ch := range got.GetChanges() {
			names = append(names, ch.GetSection().String())
		}
		if got.GetLaunchId() != launch || got.GetState() != stale || !strings.Contains(strings.Join(names, " "), section) {
			t.Errorf("%s: %v", what, got)
		}
	}
	c.write(c.worktree, ".ideai/memory/branch.md", "---\ndescription: Seen on the branch\n---\nNew.\n")
	next("a note edited by hand", "on-branch", "MEMORY")
	c.write(c.main, ".ideai/CONTEXT.md", "Rules of main, revised.\n")
	next("rules edited by hand", "in-main", "RULES")
	c.write(c.worktree, ".ideai/skills/ship/SKILL.md", "---\nname: ship\ndescription: Ships\n---\nShip.\n")
	next("a new skill", "on-branch", "CAPABILITIES")
	c.write(c.worktree, ".ideai/CONTEXT.md", "---\nrules_from: [docs/style.md]\n---\nRules of the branch.\n")
	c.write(c.worktree, "docs/style.md", "Short sentences.\n")
	next("a file the rules name", "on-branch", "RULES")
	if r := c.refresh("on-branch"); !strings.Contains(string(r.GetFiles()[0].GetContent()), "Short sentences.") {
		t.Errorf("the refreshed file:\n%s", r.GetFiles()[0].GetContent())
	}
}

func recv(t *testing.T, stream grpc.ServerStreamingClient[launcherv1.WatchContextResponse]) *launcherv1.WatchContextResponse {
	t.Helper()
	ev, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// What is kept of a project survives whatever git does to a worktree.
func TestRemovingAWorktreeLosesNothing(t *testing.T) {
	c := newClone(t)
	plan := c.launch("on-branch", "shop-fix", c.worktree)
	diff := func() {
		t.Helper()
		r, err := c.Launcher.DiffContext(t.Context(), &launcherv1.DiffContextRequest{ProjectId: "shop", LaunchId: "on-branch", OtherLaunchId: "l0"})
		if err != nil || len(r.GetSections()) == 0 {
			t.Errorf("what the launch was told: %v, %v", r, err)
		}
	}
	known := func() *launcherv1.Launch {
		t.Helper()
		r, err := c.Launcher.GetLaunch(t.Context(), &launcherv1.GetLaunchRequest{ProjectId: "shop", LaunchId: "on-branch"})
		if err != nil || r.GetLaunch().GetContextDigest() != plan.GetContextDigest() {
			t.Fatalf("the launch's record: %v, %v", r, err)
		}
		return r.GetLaunch()
	}
	// A note saved from the branch is the branch's own, until it is merged.
	if _, err := c.Memory.SaveNote(t.Context(), &memoryv1.SaveNoteRequest{ProjectId: "shop", WorktreeId: "shop-fix",
		Note: &memoryv1.Note{NoteId: "kept", Description: "Saved on the branch", Body: "Text.\n"}}); err != nil {
		t.Fatal(err)
	}
	git(t, c.worktree, "add", "-A")
	git(t, c.worktree, "commit", "-qm", "notes")

	// Everything git ignores in the worktree goes, the launch's own directory too.
	if _, err := host.Run(t.Context(), exits(plan), host.Options{ProjectRoot: c.worktree}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(c.worktree, ".ideai/run/killed"), 0o700); err != nil {
		t.Fatal(err)
	}
	git(t, c.worktree, "clean", "-qfdx")
	if left, err := os.ReadDir(filepath.Join(c.worktree, ".ideai", "run")); err == nil {
		t.Errorf("git clean left %v", left)
	}
	known()
	diff()
	if r := c.refresh("on-branch"); r.GetDigestBefore() != plan.GetContextDigest() {
		t.Errorf("refresh after git clean: %v", r)
	}

	git(t, c.main, "worktree", "remove", "--force", c.worktree)
	known()
	diff()
	list, err := c.Launcher.ListLaunches(t.Context(), &launcherv1.ListLaunchesRequest{ProjectId: "shop"})
	if err != nil || len(list.GetLaunches()) != 2 {
		t.Errorf("launches %v, %v", list.GetLaunches(), err)
	}
	notes, err := c.Memory.WatchNotes(t.Context(), &memoryv1.WatchNotesRequest{ProjectId: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	git(t, c.main, "merge", "-q", "--no-edit", "fix")
	for seen := false; !seen; {
		ev, err := notes.Recv()
		if err != nil {
			t.Fatal(err)
		}
		seen = ev.GetNote().GetNoteId() == "kept"
	}
	if r, err := c.Memory.GetNote(t.Context(), &memoryv1.GetNoteRequest{ProjectId: "shop", NoteId: "kept"}); err != nil || r.GetNote().GetBody() != "Text.\n" {
		t.Errorf("the note of the branch after the merge: %v, %v", r, err)
	}
	// The main checkout goes on.
	if got := texts(c.launch("in-main", "", c.main)); !strings.Contains(got, "Rules of the branch.") {
		t.Errorf("main after the merge is told:\n%s", got)
	}
	if _, err := c.Context.GetRules(t.Context(), &contextv1.GetRulesRequest{ProjectId: "shop", WorktreeId: "shop-fix"}); err == nil {
		t.Error("the worktree that is gone still answers")
	}
}

// exits is a plan that ends at once.
func exits(plan *launcherv1.LaunchPlan) *launcherv1.LaunchPlan {
	plan.Argv = plan.GetArgv()[:1]
	plan.Argv[0].Value = "/bin/true"
	return plan
}
