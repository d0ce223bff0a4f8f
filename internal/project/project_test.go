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

// disk is a home with a registry and a folder for source trees beside it.
type disk struct {
	t    *testing.T
	home string
	reg  *project.Registry
	dir  string // of the registry
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	dir := filepath.Join(home, ".local/state/ideai/projects")
	return &disk{t: t, home: home, dir: dir, reg: project.OpenRegistry(dir)}
}

func (d *disk) path(elem ...string) string {
	return filepath.Join(append([]string{d.home}, elem...)...)
}

func (d *disk) mkdir(elem ...string) string {
	d.t.Helper()
	p := d.path(elem...)
	if err := os.MkdirAll(p, 0o755); err != nil {
		d.t.Fatal(err)
	}
	return p
}

func (d *disk) write(content string, elem ...string) string {
	d.t.Helper()
	p := d.path(elem...)
	d.mkdir(filepath.Join(elem[:len(elem)-1]...), filepath.Dir(elem[len(elem)-1]))
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		d.t.Fatal(err)
	}
	return p
}

// repo writes the files of a git repository by hand.
func (d *disk) repo(elem ...string) string {
	d.t.Helper()
	root := d.mkdir(elem...)
	rel, _ := filepath.Rel(d.home, root)
	d.mkdir(rel, ".git/refs/heads")
	d.write("ref: refs/heads/trunk\n", rel, ".git/HEAD")
	d.write("[core]\n\tbare = false\n", rel, ".git/config")
	return root
}

// worktree writes what `git worktree add` makes in both places.
func (d *disk) worktree(common, name, checkout, branch string) string {
	d.t.Helper()
	at := d.mkdir(checkout)
	common, _ = filepath.Rel(d.home, common)
	git := filepath.Join(common, "worktrees", name)
	d.write("gitdir: "+d.path(git)+"\n", checkout, ".git")
	d.write(at+"/.git\n", git, "gitdir")
	d.write("../..\n", git, "commondir")
	d.write("ref: refs/heads/"+branch+"\n", git, "HEAD")
	return at
}

func (d *disk) register(path, id string) project.Registration {
	d.t.Helper()
	done, err := d.reg.Register(path, id)
	if err != nil {
		d.t.Fatal(err)
	}
	return done
}

func wantReason(t *testing.T, err error, reason fault.Reason, words ...string) {
	t.Helper()
	if fault.ReasonOf(err) != reason {
		t.Fatalf("got %v (%s), want %s", err, fault.ReasonOf(err), reason)
	}
	f, _ := fault.As(err)
	for _, key := range reason.MetaKeys() {
		if _, ok := f.Meta[key]; !ok {
			t.Errorf("%v: no metadata %q", err, key)
		}
	}
	for _, w := range words {
		if !strings.Contains(f.Msg, w) {
			t.Errorf("message %q does not say %q", f.Msg, w)
		}
	}
}

func TestRegisterIsIdempotentFromAnywhereInside(t *testing.T) {
	d := newDisk(t)
	root := d.repo("Projets été", "Boutique Élan")
	sub := d.mkdir("Projets été", "Boutique Élan", "src", "deep er")
	first := d.register(sub, "")
	if !first.Created || first.Project.ID != "boutique-elan" || first.Project.Root != root || first.Worktree != "main" {
		t.Fatalf("got %+v", first)
	}
	again := d.register(root, "")
	if again.Created {
		t.Error("registered twice")
	}
	if diff := cmp.Diff(first.Project, again.Project); diff != "" {
		t.Error(diff)
	}
	d.register(root, "boutique-elan")
	_, err := d.reg.Register(root, "other")
	wantReason(t, err, fault.IDReused, "boutique-elan")
	got, worktree, err := d.reg.Resolve(d.write("x", "Projets été", "Boutique Élan", "src", "a.go"))
	if err != nil || got.ID != "boutique-elan" || worktree != "main" {
		t.Fatalf("resolve: %+v %s %v", got, worktree, err)
	}
}

func TestRootOfAPath(t *testing.T) {
	d := newDisk(t)
	d.write("ref: refs/heads/dotfiles\n", ".git/HEAD")
	d.mkdir(".ideai")
	for name, tc := range map[string]struct{ path, root string }{
		"plain folder inside a home under git": {d.mkdir("code/plain"), d.path("code/plain")},
		"below a folder with .ideai":           {d.mkdir("code/notes/a/b"), d.path("code/notes")},
		"git beats .ideai below it":            {d.mkdir("code/repo/pkg/x"), d.path("code/repo")},
		"an empty .git is no repository":       {d.mkdir("code/notes/a/empty/in"), d.path("code/notes")},
	} {
		d.mkdir("code/notes/.ideai")
		d.repo("code/repo")
		d.mkdir("code/repo/pkg/.ideai")
		d.mkdir("code/notes/a/empty/.git")
		t.Run(name, func(t *testing.T) {
			if got := d.register(tc.path, ""); got.Project.Root != tc.root {
				t.Errorf("got %s, want %s", got.Project.Root, tc.root)
			}
		})
	}
}

func TestHomeAndRootAreRefused(t *testing.T) {
	d := newDisk(t)
	for _, path := range []string{d.home, filepath.Dir(d.home), "/"} {
		_, err := d.reg.Register(path, "")
		wantReason(t, err, fault.InvalidField, path)
	}
	for _, path := range []string{"", "relative", "../x", "/no/such/place", d.home + "\x00"} {
		_, err := d.reg.Register(path, "")
		wantReason(t, err, fault.InvalidField)
		_, _, err = d.reg.Resolve(path)
		wantReason(t, err, fault.InvalidField)
	}
}

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

func TestIDs(t *testing.T) {
	d := newDisk(t)
	one := d.register(d.mkdir("a/shop"), "")
	two := d.register(d.mkdir("b/shop"), "")
	d.write("id: la-boutique\naliases: [shop-old, store]\n", "c/.ideai/project.yaml")
	three := d.register(d.path("c"), "")
	four := d.register(d.mkdir("日本"), "")
	five := d.register(d.mkdir("...hidden.. name!"), "")
	got := []string{one.Project.ID, two.Project.ID, three.Project.ID, four.Project.ID, five.Project.ID}
	if diff := cmp.Diff([]string{"shop", "shop-2", "la-boutique", "project", "hidden.-name"}, got); diff != "" {
		t.Error(diff)
	}
	_, err := d.reg.Register(d.mkdir("e"), "shop")
	wantReason(t, err, fault.IDReused, d.path("a/shop"))
	for _, id := range []string{"../x", "A", "a/b", "-a", "a..b", strings.Repeat("a", 64), ".git"} {
		_, err := d.reg.Register(d.mkdir("e"), id)
		wantReason(t, err, fault.InvalidField)
		_, err = d.reg.Get(id)
		wantReason(t, err, fault.ProjectNotFound)
	}
	if p, err := d.reg.Get("store"); err != nil || p.ID != "la-boutique" {
		t.Errorf("alias: %+v %v", p, err)
	}
	_, err = d.reg.Tree(t.Context(), "store", "")
	wantReason(t, err, fault.ProjectNotFound, "la-boutique")
	d.write("aliases: [store]\n", "e/.ideai/project.yaml")
	d.register(d.path("e"), "")
	_, err = d.reg.Get("store")
	wantReason(t, err, fault.ProjectNotFound, "e and la-boutique")
}

func TestHostileSettings(t *testing.T) {
	d := newDisk(t)
	d.write("language: fr\nid: ../../etc\n", "a/.ideai/project.yaml")
	_, err := d.reg.Register(d.path("a"), "")
	wantReason(t, err, fault.Damaged, "line 2", "../../etc")
	d.write("language: fr\nid: [\n", "b/.ideai/project.yaml")
	_, err = d.reg.Register(d.path("b"), "")
	wantReason(t, err, fault.Damaged, "project.yaml, line")
	d.write("id: x\n", "outside/project.yaml")
	d.mkdir("c")
	if err := os.Symlink(d.path("outside"), d.path("c/.ideai")); err != nil {
		t.Fatal(err)
	}
	_, err = d.reg.Register(d.path("c"), "")
	wantReason(t, err, fault.OutsideProject, d.path("outside"))
}

func TestMovedProject(t *testing.T) {
	d := newDisk(t)
	d.register(d.repo("old", "shop"), "")
	if err := os.Rename(d.path("old"), d.path("new")); err != nil {
		t.Fatal(err)
	}
	p, err := d.reg.Get("shop")
	if err != nil || !strings.Contains(p.Problem, "ideai init --id shop") || p.Root != d.path("old/shop") {
		t.Fatalf("got %+v %v", p, err)
	}
	_, err = d.reg.Tree(t.Context(), "shop", "")
	wantReason(t, err, fault.ProjectNotFound, "is gone")
	done := d.register(d.path("new/shop"), "shop")
	if done.Project.ID != "shop" || done.Project.Root != d.path("new/shop") || done.Project.Problem != "" {
		t.Fatalf("got %+v", done)
	}
	all, err := d.reg.List()
	if err != nil || len(all) != 1 {
		t.Fatalf("list: %+v %v", all, err)
	}
}

func TestEntriesThatAreFolders(t *testing.T) {
	d := newDisk(t)
	rel, _ := filepath.Rel(d.home, d.dir)
	d.repo(rel, "mounted")
	d.mkdir(rel, ".hidden")
	d.mkdir(rel, "Not An Id")
	d.write("x", rel, "file")
	all, err := d.reg.List()
	if err != nil || len(all) != 2 || all[0].ID != "file" || all[0].Problem == "" {
		t.Fatalf("got %+v %v", all, err)
	}
	p, worktree, err := d.reg.Resolve(d.mkdir(rel, "mounted", "sub"))
	if err != nil || p.ID != "mounted" || worktree != "main" || p.Worktrees[0].Branch != "trunk" {
		t.Fatalf("got %+v %v", p, err)
	}
	wantReason(t, d.reg.Remove("mounted"), fault.StoreReadOnly, "by hand")
}

func TestRemoveKeepsFiles(t *testing.T) {
	d := newDisk(t)
	root := d.mkdir("shop")
	d.register(root, "")
	if err := d.reg.Remove("shop"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(root); err != nil {
		t.Error(err)
	}
	wantReason(t, d.reg.Remove("shop"), fault.ProjectNotFound, "shop")
	_, _, err := d.reg.Resolve(root)
	wantReason(t, err, fault.ProjectNotFound, "ideai init")
}

func TestResolveInsideRegisteredFolder(t *testing.T) {
	d := newDisk(t)
	d.register(d.mkdir("work"), "")
	p, _, err := d.reg.Resolve(d.mkdir("work/a/b"))
	if err != nil || p.ID != "work" {
		t.Errorf("plain folder below a registered one: %+v %v", p, err)
	}
	_, _, err = d.reg.Resolve(d.repo("work", "own"))
	wantReason(t, err, fault.ProjectNotFound)
}

func TestConcurrentRegister(t *testing.T) {
	d := newDisk(t)
	d.mkdir("shop")
	ids := make(chan string)
	for range 16 {
		go func() {
			done, err := d.reg.Register(d.path("shop"), "")
			if err != nil {
				ids <- err.Error()
				return
			}
			ids <- done.Project.ID
		}()
	}
	for range 16 {
		if id := <-ids; id != "shop" {
			t.Errorf("got %s", id)
		}
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

func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	d := newDisk(t)
	d.register(d.mkdir("shop"), "")
	d.mkdir("locked/in")
	for _, p := range []string{"shop", "locked"} {
		if err := os.Chmod(d.path(p), 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(d.path(p), 0o755) })
	}
	if p, err := d.reg.Get("shop"); err != nil || !strings.Contains(p.Problem, "permission") {
		t.Errorf("got %+v %v", p, err)
	}
	_, err := d.reg.Register(d.path("locked/in"), "")
	wantReason(t, err, fault.StoreUnavailable, "permission")
}

func BenchmarkTree(b *testing.B) {
	home := b.TempDir()
	b.Setenv("HOME", home)
	reg := project.OpenRegistry(filepath.Join(home, "projects"))
	root := filepath.Join(home, "shop")
	if err := os.MkdirAll(filepath.Join(root, ".git"), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ".git/HEAD"), []byte("ref: refs/heads/trunk\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	if _, err := reg.Register(root, "shop"); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := reg.Tree(b.Context(), "shop", ""); err != nil {
			b.Fatal(err)
		}
	}
}
