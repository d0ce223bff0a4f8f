package project_test

import (
	"os"
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
	for src, want := range map[string]string{
		"id: a\naliases: !000000 {}\n":                  "line 2",
		"id: a\naliases: {b: c}\n":                      "line 2",
		"aliases: [one, ../two]\n":                      "line 1",
		"# x\nid: [a]\n":                                "line 2",
		"aliases: &a [*a]\n":                            "line 1",
		"id: a\nid: b\n":                                "line 2",
		"<<<<<<< a\nid: a\n=======\nid: b\n>>>>>>> b\n": "line 1: cannot be read: git's conflict",
		strings.Repeat("[", 20_000):                     "line 1",
		strings.Repeat("# x\n", 9_000):                  "line 1",
	} {
		d.write(src, "h/.ideai/project.yaml")
		_, err := d.reg.Register(d.path("h"), "")
		wantReason(t, err, fault.Damaged, want)
	}
	d.write("id: tagged\naliases: !000000 0\n", "i/.ideai/project.yaml") // made the YAML library panic
	d.register(d.path("i"), "")
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
