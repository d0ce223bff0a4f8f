package launchertest

import (
	"os"
	"path/filepath"
	"testing"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

func testServerInfo(t *testing.T, s *suite) {
	info, err := s.Owner.GetServerInfo(s.ctx, &launcherv1.GetServerInfoRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if info.GetBuildId() == "" || info.GetPid() == 0 || info.GetStartTime() == nil || info.GetDraining() || info.GetLiveLaunches() != 0 {
		t.Errorf("got %v", info)
	}
	p := s.project("shop")
	plan := s.prepare(s.request(p))
	_, detach := s.attach(p, plan.GetLaunchId())
	defer detach()
	info, err = s.Owner.GetServerInfo(s.ctx, &launcherv1.GetServerInfoRequest{})
	if err != nil || info.GetLiveLaunches() != 1 {
		t.Errorf("one launch is attached: %v %v", info, err)
	}
}

func testProjects(t *testing.T, s *suite) {
	root := s.folder("Boutique Élan")
	inside := filepath.Join(root, "src", "deep")
	if err := os.MkdirAll(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, ".ideai"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := s.Owner.ResolveProject(s.ctx, &launcherv1.ResolveProjectRequest{Path: inside})
	s.fails(err, fault.ProjectNotFound, "ideai init")
	first, err := s.Owner.RegisterProject(s.ctx, &launcherv1.RegisterProjectRequest{Path: inside})
	if err != nil {
		t.Fatal(err)
	}
	if got := first.GetProject(); !first.GetCreated() || got.GetProjectId() != "boutique-elan" || first.GetWorktreeId() != "main" || got.GetTrusted() || got.GetProblem() != "" {
		t.Errorf("got %v", first)
	}
	again, err := s.Owner.RegisterProject(s.ctx, &launcherv1.RegisterProjectRequest{Path: root})
	if err != nil || again.GetCreated() {
		t.Errorf("registered again: %v %v", again, err)
	}
	equal(t, "registered again", again.GetProject(), first.GetProject())
	found, err := s.Owner.ResolveProject(s.ctx, &launcherv1.ResolveProjectRequest{Path: inside})
	if err != nil || found.GetWorktreeId() != "main" {
		t.Errorf("resolve: %v %v", found, err)
	}
	equal(t, "resolved", found.GetProject(), first.GetProject())

	for _, name := range []string{"a", "b", "c"} {
		s.project(name)
	}
	var ids []string
	for token := ""; ; {
		page, err := s.Owner.ListProjects(s.ctx, &launcherv1.ListProjectsRequest{PageSize: 3, PageToken: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.GetProjects() {
			ids = append(ids, p.GetProjectId())
		}
		if token = page.GetNextPageToken(); token == "" {
			break
		}
	}
	if len(ids) != 4 || ids[0] != "a" || ids[1] != "b" || ids[2] != "boutique-elan" || ids[3] != "c" {
		t.Errorf("listed %v", ids)
	}
	if _, err := s.Owner.UnregisterProject(s.ctx, &launcherv1.UnregisterProjectRequest{ProjectId: "b"}); err != nil {
		t.Fatal(err)
	}
	_, err = s.Owner.UnregisterProject(s.ctx, &launcherv1.UnregisterProjectRequest{ProjectId: "b"})
	s.fails(err, fault.ProjectNotFound)
}

func testProjectFaults(t *testing.T, s *suite) {
	_, err := s.Owner.ListProjects(s.ctx, &launcherv1.ListProjectsRequest{PageToken: "x"})
	s.fails(err, fault.PageTokenInvalid)
	_, err = s.Owner.ListProjects(s.ctx, &launcherv1.ListProjectsRequest{PageSize: -1})
	s.fails(err, fault.InvalidField)
	for _, path := range []string{"", "relative/path", "/no/such/folder", "/"} {
		_, err = s.Owner.RegisterProject(s.ctx, &launcherv1.RegisterProjectRequest{Path: path})
		s.fails(err, fault.InvalidField)
		_, err = s.Owner.ResolveProject(s.ctx, &launcherv1.ResolveProjectRequest{Path: path})
		s.fails(err, fault.InvalidField)
	}
	for _, id := range []string{"../x", "A b", "-x"} {
		_, err = s.Owner.RegisterProject(s.ctx, &launcherv1.RegisterProjectRequest{Path: s.folder("x"), ProjectId: id})
		s.fails(err, fault.InvalidField)
		_, err = s.Owner.UnregisterProject(s.ctx, &launcherv1.UnregisterProjectRequest{ProjectId: id})
		s.fails(err, fault.InvalidField)
	}
	p := s.project("shop")
	_, err = s.Owner.RegisterProject(s.ctx, &launcherv1.RegisterProjectRequest{Path: s.folder("other"), ProjectId: p.id})
	s.fails(err, fault.IDReused, p.root)
	if err := os.Rename(p.root, p.root+"-moved"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Owner.PrepareLaunch(s.ctx, s.request(p))
	s.fails(err, fault.ProjectNotFound, "is gone")
	list, err := s.Owner.ListProjects(s.ctx, &launcherv1.ListProjectsRequest{})
	if err != nil || len(list.GetProjects()) != 1 || list.GetProjects()[0].GetProblem() == "" {
		t.Errorf("a moved project is listed with its problem: %v %v", list, err)
	}
	moved, err := s.Owner.RegisterProject(s.ctx, &launcherv1.RegisterProjectRequest{Path: p.root + "-moved", ProjectId: p.id})
	if err != nil || moved.GetProject().GetProblem() != "" {
		t.Errorf("registered in its new place: %v %v", moved, err)
	}
}

func testWorktrees(t *testing.T, s *suite) {
	root, linked := s.folder("shop"), s.folder("fix")
	for path, content := range map[string]string{
		root + "/.git/HEAD":                      "ref: refs/heads/trunk\n",
		root + "/.git/worktrees/fix/HEAD":        "ref: refs/heads/fix/cart\n",
		root + "/.git/worktrees/fix/commondir":   "../..\n",
		root + "/.git/worktrees/fix/gitdir":      linked + "/.git\n",
		linked + "/.git":                         "gitdir: " + root + "/.git/worktrees/fix\n",
		root + "/.git/worktrees/gone/HEAD":       "ref: refs/heads/x\n",
		root + "/.git/worktrees/gone/commondir":  "../..\n",
		root + "/.git/worktrees/gone/gitdir":     root + "-gone/.git\n",
		linked + "/pkg/readme":                   "x",
		root + "/.git/worktrees/locked/unrelate": "x",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Owner.RegisterProject(s.ctx, &launcherv1.RegisterProjectRequest{Path: linked + "/pkg"})
	if err != nil {
		t.Fatal(err)
	}
	if p := got.GetProject(); got.GetWorktreeId() != "fix" || len(p.GetWorktrees()) != 2 ||
		p.GetWorktrees()[0].GetBranch() != "trunk" || p.GetWorktrees()[1].GetBranch() != "fix/cart" {
		t.Errorf("got %v", got)
	}
	req := Request("shop", s.id(), linked)
	req.WorktreeId = "fix"
	if id := s.prepare(req).GetIdentity(); id.GetWorktreeId() != "fix" {
		t.Errorf("got %v", id)
	}
	req = Request("shop", s.id(), linked)
	req.WorktreeId = "gone"
	_, err = s.Owner.PrepareLaunch(s.ctx, req)
	s.fails(err, fault.WorktreeNotFound, "gone")
}

func testTrust(t *testing.T, s *suite) {
	p := s.project("shop")
	if err := os.WriteFile(filepath.Join(p.root, "AGENTS.md"), []byte("# Rules\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	get := func() *launcherv1.Trust {
		t.Helper()
		resp, err := s.Owner.GetTrust(s.ctx, &launcherv1.GetTrustRequest{ProjectId: p.id})
		if err != nil {
			t.Fatal(err)
		}
		return resp.GetTrust()
	}
	before := get()
	if before.GetTrusted() || before.GetUpdateTime() != nil || len(before.GetFiles()) != 1 ||
		before.GetFiles()[0].GetPath() != "AGENTS.md" || before.GetFiles()[0].GetSizeBytes() != 8 {
		t.Errorf("got %v", before)
	}
	for _, trusted := range []bool{true, true, false} {
		set, err := s.Owner.SetTrust(s.ctx, &launcherv1.SetTrustRequest{ProjectId: p.id, Trusted: trusted})
		if err != nil || set.GetTrust().GetTrusted() != trusted || set.GetTrust().GetPersonId() == "" {
			t.Errorf("set: %v %v", set, err)
		}
		if got := get(); got.GetTrusted() != trusted || got.GetUpdateTime() == nil {
			t.Errorf("got %v", got)
		}
	}
	_, err := s.Owner.GetTrust(s.ctx, &launcherv1.GetTrustRequest{ProjectId: "none"})
	s.fails(err, fault.ProjectNotFound)
	_, err = s.Owner.SetTrust(s.ctx, &launcherv1.SetTrustRequest{ProjectId: "none"})
	s.fails(err, fault.ProjectNotFound)
	_, err = s.Owner.GetTrust(s.ctx, &launcherv1.GetTrustRequest{ProjectId: p.id, WorktreeId: "none"})
	s.fails(err, fault.WorktreeNotFound)

	// Another folder under the same id is another project: nobody trusts it yet.
	if _, err := s.Owner.SetTrust(s.ctx, &launcherv1.SetTrustRequest{ProjectId: p.id, Trusted: true}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(p.root); err != nil {
		t.Fatal(err)
	}
	other, err := s.Owner.RegisterProject(s.ctx, &launcherv1.RegisterProjectRequest{Path: s.folder("shop"), ProjectId: p.id})
	if err != nil || other.GetProject().GetTrusted() {
		t.Errorf("got %v %v", other, err)
	}
}

func testAliases(t *testing.T, s *suite) {
	p := s.project("shop")
	if err := os.MkdirAll(filepath.Join(p.root, ".ideai"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.root, ".ideai", "project.yaml"), []byte("aliases: [store, old-shop]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{p.id, "store", "old-shop"} {
		resp, err := s.Owner.GetProject(s.ctx, &launcherv1.GetProjectRequest{ProjectId: name})
		if got := resp.GetProject(); err != nil || got.GetProjectId() != p.id || len(got.GetAliases()) != 2 || got.GetRoot() != p.root {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	_, err := s.Owner.GetProject(s.ctx, &launcherv1.GetProjectRequest{ProjectId: "none"})
	s.fails(err, fault.ProjectNotFound, "none")
}
