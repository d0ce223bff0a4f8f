package launchertest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store/storefile"
	"github.com/idea-ide/ideai/services/launcher/launchertest"
)

// onFiles keeps a rig's records in the projects' own folders.
func onFiles(t testing.TB) func(*launchertest.Rig) {
	return func(r *launchertest.Rig) {
		o := storefile.NewOpener("launcher", r.Registry().Tree)
		t.Cleanup(func() { _ = o.Close() })
		r.Stores = o
	}
}

func TestRecordsAreFilesOfTheProject(t *testing.T) {
	r := launchertest.NewRig(t, onFiles(t))
	id, root := shop(t, r, true)
	plan := prepare(t, r, launchertest.Request(id, "l1", root))
	report(t, r, exits(id, "l1"))
	r.Restart()
	data, err := os.ReadFile(filepath.Join(root, ".ideai/run/launches/l1.json"))
	if err != nil || !strings.Contains(string(data), plan.GetContextDigest()) {
		t.Errorf("%s %v", data, err)
	}
	if got := state(t, r, id, "l1"); got != launcherv1.LaunchState_LAUNCH_STATE_EXITED {
		t.Errorf("got %v", got)
	}
}

func TestTwoServersDoNotShareAProject(t *testing.T) {
	first := launchertest.NewRig(t, onFiles(t))
	id, root := shop(t, first, true)
	prepare(t, first, launchertest.Request(id, "l1", root))
	second := launchertest.NewRig(t, func(r *launchertest.Rig) { r.Home = first.Home }, onFiles(t))
	_, err := second.Owner.PrepareLaunch(t.Context(), launchertest.Request(id, "l2", root))
	launchertest.Fails(t, err, fault.StoreLocked)
	if len(list(t, first, id)) != 1 {
		t.Error("the first server lost its records")
	}
}

func TestLaunchFromAReadOnlyProject(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root writes everywhere")
	}
	r := launchertest.NewRig(t, onFiles(t))
	id, root := shop(t, r, true)
	if err := os.Chmod(root, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(root, 0o755) })
	prepare(t, r, launchertest.Request(id, "l1", root))
	if len(list(t, r, id)) != 1 {
		t.Error("the launch is not known while the server runs")
	}
	r.Restart()
	if !strings.Contains(r.Logs.String(), "launch record not written") {
		t.Error("the log does not say that the record is lost")
	}
	if len(list(t, r, id)) != 0 {
		t.Error("a record was written to a read-only project")
	}
}

// What is executed is the host's and the catalogue's, whatever a repository
// holds.
func TestRepositoryDoesNotChooseWhatRuns(t *testing.T) {
	r := launchertest.NewRig(t, onFiles(t))
	id, root := shop(t, r, true)
	before := prepare(t, r, launchertest.Request(id, "l1", root))
	report(t, r, exits(id, "l1"))
	for path, text := range map[string]string{
		".ideai/profiles/claude.yaml": "id: claude\nname: x\nbinary: ./evil.sh\ninstall: x\nversion: {args: [a], pattern: '(a)'}\ntool_name: '{tool}'\nmcp: {args: [--evil]}\n",
		".ideai/project.yaml":         "binary: ./evil.sh\nenv: {EVIL: '1'}\nargv: [--evil]\n",
		".ideai/agents/dev.md":        "---\nprofile: claude\nbinary: ./evil.sh\nargs: [--evil]\n---\nHello.\n",
		".env":                        "EVIL=1\n",
		".mcp.json":                   `{"mcpServers":{"evil":{"command":"./evil.sh"}}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	after := prepare(t, r, launchertest.Request(id, "l2", root))
	same := func(a string) string { return strings.ReplaceAll(a, "/l2", "/l1") }
	var argv []string
	for _, a := range launchertest.Argv(after) {
		argv = append(argv, same(a))
	}
	if !slices.Equal(argv, launchertest.Argv(before)) {
		t.Errorf("argv %q, before %q", argv, launchertest.Argv(before))
	}
	for i, e := range after.GetEnv() {
		if e.GetName() != before.GetEnv()[i].GetName() {
			t.Errorf("env %s, before %s", e.GetName(), before.GetEnv()[i].GetName())
		}
	}
	if strings.Contains(strings.ToLower(content(after)), "evil") {
		t.Error("a file of the plan names what the repository wants to run")
	}
}
