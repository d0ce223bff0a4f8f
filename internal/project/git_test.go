package project_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/project"
)

func TestWorktreesAreOneProject(t *testing.T) {
	d := newDisk(t)
	root := d.repo("shop")
	common := root + "/.git"
	fix := d.worktree(common, "Fix It", "trees/Fix It", "fix/it")
	d.worktree(common, "main", "trees/main", "other")
	d.worktree(common, "gone", "trees/gone", "gone")
	if err := os.RemoveAll(d.path("trees/gone")); err != nil {
		t.Fatal(err)
	}
	d.worktree(common, "reused", "trees/reused", "reused")
	d.write("ref: refs/heads/x\n", "trees/elsewhere/.git/HEAD")
	d.write(d.path("trees/elsewhere/.git")+"\n", "shop/.git/worktrees/reused/gitdir")
	d.worktree(common, "far", "trees/far", "far")
	d.write("0123456789abcdef0123456789abcdef01234567\n", "shop/.git/worktrees/far/HEAD")

	done := d.register(filepath.Join(fix, "."), "")
	if done.Project.ID != "shop" || done.Worktree != "fix-it" {
		t.Fatalf("got %s %s", done.Project.ID, done.Worktree)
	}
	want := []project.Worktree{
		{ID: "main", Root: root, Branch: "trunk"},
		{ID: "far", Root: d.path("trees/far")},
		{ID: "fix-it", Root: fix, Branch: "fix/it"},
		{ID: done.Project.Worktrees[3].ID, Root: d.path("trees/main"), Branch: "other"},
	}
	if diff := cmp.Diff(want, done.Project.Worktrees); diff != "" {
		t.Error(diff)
	}
	if id := done.Project.Worktrees[3].ID; !strings.HasPrefix(id, "main-") {
		t.Errorf("a linked worktree called main has the id %s", id)
	}
	for worktree, want := range map[string]string{"": root, "main": root, "fix-it": fix} {
		if got, err := d.reg.Tree(t.Context(), "shop", worktree); err != nil || got != want {
			t.Errorf("Tree(%q) = %s, %v", worktree, got, err)
		}
	}
	_, err := d.reg.Tree(t.Context(), "shop", "gone")
	wantReason(t, err, fault.WorktreeNotFound, "gone")
}

func TestBareRepositories(t *testing.T) {
	t.Run("around its worktrees", func(t *testing.T) {
		d := newDisk(t)
		d.write("ref: refs/heads/x\n", "shop/.bare/HEAD")
		d.write("gitdir: ./.bare\n", "shop/.git")
		d.worktree(d.path("shop/.bare"), "a", "shop/a", "a")
		done := d.register(d.path("shop/a"), "")
		if done.Project.Root != d.path("shop") || done.Worktree != "a" {
			t.Errorf("got %+v", done)
		}
	})
	t.Run("elsewhere", func(t *testing.T) {
		d := newDisk(t)
		d.write("ref: refs/heads/x\n", "shop.git/HEAD")
		a := d.worktree(d.path("shop.git"), "a", "a", "a")
		b := d.worktree(d.path("shop.git"), "b", "b", "b")
		first := d.register(a, "")
		second := d.register(b, "")
		if first.Project.Root != a || second.Created || second.Project.ID != first.Project.ID || second.Worktree != "b" {
			t.Errorf("got %+v then %+v", first, second)
		}
	})
	t.Run("claimed by a folder that points to it", func(t *testing.T) {
		d := newDisk(t)
		d.write("ref: refs/heads/x\n", "shop.git/HEAD")
		a := d.worktree(d.path("shop.git"), "a", "a", "a")
		d.write("gitdir: "+d.path("shop.git")+"\n", "claimer/.git")
		claimer := d.register(d.path("claimer"), "")
		if len(claimer.Project.Worktrees) != 1 {
			t.Errorf("it lists %v", claimer.Project.Worktrees)
		}
		if own := d.register(a, ""); !own.Created || own.Project.Root != a {
			t.Errorf("the worktree went to %+v", own.Project)
		}
	})
	t.Run("git folder put elsewhere", func(t *testing.T) {
		d := newDisk(t)
		d.write("ref: refs/heads/x\n", "gits/shop/HEAD")
		d.write("[core]\n\tworktree = \"../../shop\"\n", "gits/shop/config")
		d.write("gitdir: "+d.path("gits/shop")+"\n", "shop/.git")
		wt := d.worktree(d.path("gits/shop"), "w", "w", "w")
		if done := d.register(wt, ""); done.Project.Root != d.path("shop") || done.Worktree != "w" {
			t.Errorf("got %+v", done)
		}
	})
}

func TestForgedIdentityIsRefused(t *testing.T) {
	d := newDisk(t)
	private := d.repo("private")
	d.register(private, "")
	d.worktree(private+"/.git", "wt", "wt", "b")

	d.mkdir("evil-link")
	if err := os.Symlink(private+"/.git", d.path("evil-link/.git")); err != nil {
		t.Fatal(err)
	}
	_, _, err := d.reg.Resolve(d.path("evil-link"))
	wantReason(t, err, fault.OutsideProject, "symbolic link")

	d.write("gitdir: "+private+"/.git/worktrees/wt\n", "evil-pointer/.git")
	_, _, err = d.reg.Resolve(d.path("evil-pointer"))
	wantReason(t, err, fault.Damaged, "repair")

	// Everything in its own tree, pointing back as it should, and only the
	// common folder is another's.
	d.write("gitdir: gd\n", "evil-common/.git")
	d.write("ref: refs/heads/x\n", "evil-common/gd/HEAD")
	d.write(d.path("evil-common/.git")+"\n", "evil-common/gd/gitdir")
	d.write(private+"/.git\n", "evil-common/gd/commondir")
	_, _, err = d.reg.Resolve(d.path("evil-common"))
	wantReason(t, err, fault.Damaged, "repair")

	d.write("gitdir: "+private+"/.git\n", "evil-separate/.git")
	_, _, err = d.reg.Resolve(d.path("evil-separate"))
	wantReason(t, err, fault.ProjectNotFound)
}

func TestBrokenGitFiles(t *testing.T) {
	d := newDisk(t)
	d.write("hello\n", "a/.git")
	d.write("gitdir: /no/such/place\n", "b/.git")
	d.write("gitdir: ../c-git\n", "c/.git")
	d.write("ref: x\n", "c-git/HEAD")
	d.write("../nowhere\n", "c-git/commondir")
	for _, name := range []string{"a", "b", "c"} {
		_, err := d.reg.Register(d.path(name), "")
		wantReason(t, err, fault.Damaged)
	}
}

func TestAgainstRealGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed; the other tests write its files by hand")
	}
	d := newDisk(t)
	git := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	root := d.mkdir("Mon Dépôt")
	git(root, "init", "-q", "-b", "trunk")
	git(root, "commit", "-q", "--allow-empty", "-m", "x")
	git(root, "worktree", "add", "-q", "-b", "feat/é", d.path("wt é"))
	git(root, "worktree", "add", "-q", "--detach", d.path("loose"))
	done := d.register(d.path("wt é"), "")
	if done.Project.ID != "mon-depot" || done.Worktree != "wt-e" {
		t.Errorf("got %s %s", done.Project.ID, done.Worktree)
	}
	want := map[string]string{}
	for _, block := range strings.Split(git(root, "worktree", "list", "--porcelain"), "\n\n") {
		var path, name string
		for _, line := range strings.Split(block, "\n") {
			if p, ok := strings.CutPrefix(line, "worktree "); ok {
				path = p
			}
			if b, ok := strings.CutPrefix(line, "branch refs/heads/"); ok {
				name = b
			}
		}
		want[path] = name
	}
	got := map[string]string{}
	for _, w := range done.Project.Worktrees {
		got[w.Root] = w.Branch
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	git(d.home, "clone", "-q", "--bare", root, d.path("b.git"))
	git(d.path("b.git"), "worktree", "add", "-q", d.path("from-bare"))
	if done := d.register(d.path("from-bare"), ""); done.Project.Root != d.path("from-bare") {
		t.Errorf("bare: %+v", done)
	}
}
