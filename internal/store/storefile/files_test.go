package storefile

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// write makes a file below the tree's .ideai and returns its path.
func write(t testing.TB, tree, name, data string) string {
	t.Helper()
	full := filepath.Join(tree, Folder, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	return full
}

func link(t testing.TB, target, tree, name string) {
	t.Helper()
	full := filepath.Join(tree, Folder, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, full); err != nil {
		t.Fatal(err)
	}
}

func wantReason(t testing.TB, err error, reason fault.Reason) *fault.Error {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Reason != reason {
		t.Fatalf("error %v, want %s", err, reason)
	}
	return f
}

func listed(t testing.TB, s *Store, prefix string) map[string]store.Doc {
	t.Helper()
	out := map[string]store.Doc{}
	for doc, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		out[doc.Key] = doc
	}
	return out
}

func TestLinksInsideAreFollowed(t *testing.T) {
	tree := t.TempDir()
	shared := filepath.Join(tree, "docs", "notes")
	if err := os.MkdirAll(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shared, "a.md"), []byte("shared"), 0o600); err != nil {
		t.Fatal(err)
	}
	link(t, "../docs/notes", tree, "memory")
	link(t, filepath.Join(shared, "a.md"), tree, "agents/absolute.md")
	link(t, "absolute.md", tree, "agents/twice.md")
	link(t, "nowhere.md", tree, "agents/dangling.md")
	link(t, ".", tree, "agents/loop")
	s := openTest(t, tree, testOptions())
	defer s.Close()
	docs := listed(t, s, "")
	for _, key := range []string{"memory/a.md", "agents/absolute.md", "agents/twice.md"} {
		if string(docs[key].Data) != "shared" {
			t.Errorf("%s holds %q, %v", key, docs[key].Data, docs[key].Err)
		}
	}
	if len(docs) != 3 {
		t.Errorf("%d documents: %v", len(docs), docs)
	}
	if _, err := s.Put(t.Context(), "agents/twice.md", []byte("changed"), docs["agents/twice.md"].Version); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(filepath.Join(tree, Folder, "agents", "twice.md"))
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	data, err := os.ReadFile(filepath.Join(shared, "a.md"))
	if err != nil || string(data) != "changed" {
		t.Errorf("the linked file holds %q, %v", data, err)
	}
	if info, err := os.Stat(filepath.Join(shared, "a.md")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := s.Delete(t.Context(), "agents/twice.md", store.Any); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(shared, "a.md")); err != nil {
		t.Errorf("deleting a link deleted what it leads to: %v", err)
	}
}

// Links come with a cloned repository, which nobody may have trusted.
func TestLinksInsideThatWouldHarmAreRefused(t *testing.T) {
	const mine = "mine"
	tree := t.TempDir()
	for _, name := range []string{".git/HEAD", ".env", "README.md", "d1/keep"} {
		if err := os.MkdirAll(filepath.Join(tree, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, name), []byte(mine), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link(t, "../../.env", tree, "memory/env.md")
	link(t, "../../.git/HEAD", tree, "memory/head.md")
	link(t, "../../../README.md", tree, "run/locks/memory.lock")
	opts := testOptions()
	opts.Service = ""
	s := openTest(t, tree, opts)
	defer s.Close()
	for key, doc := range listed(t, s, "memory") {
		wantReason(t, doc.Err, fault.OutsideProject)
		_, err := s.Get(t.Context(), key)
		wantReason(t, err, fault.OutsideProject)
	}
	for _, at := range []struct{ target, name string }{
		{"../../../README.md", "run/locks/memory.lock"}, {"../../../.git/HEAD", "run/locks/memory.lock"},
		{"../../d1", "run/locks"}, {"../d1", "run"},
	} {
		if err := os.RemoveAll(filepath.Join(tree, Folder, "run")); err != nil {
			t.Fatal(err)
		}
		link(t, at.target, tree, at.name)
		opts.Service = "memory"
		_, err := Open(tree, Folder, opts)
		wantReason(t, err, fault.OutsideProject)
	}
	for _, name := range []string{".git/HEAD", ".env", "README.md", "d1/keep"} {
		if data, err := os.ReadFile(filepath.Join(tree, name)); err != nil || string(data) != mine {
			t.Errorf("%s holds %q, %v", name, data, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(tree, "d1")); err != nil || len(entries) != 1 {
		t.Errorf("d1 has %d entries, %v", len(entries), err)
	}
}

func TestLinksOutsideAreRefused(t *testing.T) {
	tree, out := t.TempDir(), t.TempDir()
	secret := filepath.Join(out, "secret.md")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, tree, "memory/good.md", "good")
	link(t, secret, tree, "memory/file.md")
	link(t, "../../../"+filepath.Base(filepath.Dir(out)), tree, "memory/up.md")
	link(t, out, tree, "agents")
	s := openTest(t, tree, testOptions())
	defer s.Close()
	docs := listed(t, s, "memory")
	if string(docs["memory/good.md"].Data) != "good" {
		t.Errorf("other documents do not load: %v", docs)
	}
	f := wantReason(t, docs["memory/file.md"].Err, fault.OutsideProject)
	if f.Meta["target"] != secret || f.Meta["name"] != ".ideai/memory/file.md" {
		t.Errorf("meta %v", f.Meta)
	}
	wantReason(t, docs["memory/up.md"].Err, fault.OutsideProject)
	for _, key := range []string{"memory/file.md", "agents/x.md", "agents/secret.md"} {
		_, err := s.Get(t.Context(), key)
		wantReason(t, err, fault.OutsideProject)
		_, err = s.Put(t.Context(), key, []byte("x"), store.Any)
		wantReason(t, err, fault.OutsideProject)
		_, err = s.Append(t.Context(), key, [][]byte{[]byte("x")}, store.AnySeq)
		if key != "memory/file.md" {
			wantReason(t, err, fault.OutsideProject)
		}
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "secret" {
		t.Errorf("the file outside holds %q, %v", data, err)
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) != 1 {
		t.Errorf("the folder outside has %d entries, %v", len(entries), err)
	}
	_, err := Open(tree, ".ideai/agents", Options{})
	wantReason(t, err, fault.OutsideProject)
}

func TestAFolderThatLeadsOutIsRefusedAtOnce(t *testing.T) {
	tree, out := t.TempDir(), t.TempDir()
	if err := os.Symlink(out, filepath.Join(tree, Folder)); err != nil {
		t.Fatal(err)
	}
	_, err := Open(tree, Folder, testOptions())
	if f := wantReason(t, err, fault.OutsideProject); f.Meta["target"] != out {
		t.Errorf("meta %v", f.Meta)
	}
	if entries, _ := os.ReadDir(out); len(entries) != 0 {
		t.Errorf("something was made outside: %v", entries)
	}
}

func TestWhatCannotBeReadIsListedWithItsError(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, "memory/good.md", "good")
	write(t, tree, "memory/large.md", strings.Repeat("x", store.MaxDoc+1))
	write(t, tree, "memory/bad\nname.md", "never read")
	pipe(t, filepath.Join(tree, Folder, "memory/pipe.md"))
	s := openTest(t, tree, testOptions())
	defer s.Close()
	docs := listed(t, s, "memory")
	if len(docs) != 4 || string(docs["memory/good.md"].Data) != "good" {
		t.Errorf("documents %v", docs)
	}
	if err := docs["memory/large.md"].Err; !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("large: %v", err)
	}
	wantReason(t, docs["memory/pipe.md"].Err, fault.StoreUnavailable)
	if _, err := s.Get(t.Context(), "memory/large.md"); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("Get: %v", err)
	}
	_, err := s.Get(t.Context(), "memory/pipe.md")
	wantReason(t, err, fault.StoreUnavailable)
	if _, err := s.Put(t.Context(), "memory/pipe.md", []byte("x"), store.Any); !errors.Is(err, store.ErrBadKey) {
		t.Errorf("Put on a pipe: %v", err)
	}
	if _, err := s.Put(t.Context(), "memory", []byte("x"), store.Any); !errors.Is(err, store.ErrBadKey) {
		t.Errorf("Put on a folder: %v", err)
	}
	if _, err := s.Put(t.Context(), "memory/good.md/below", []byte("x"), store.Any); !errors.Is(err, store.ErrBadKey) {
		t.Errorf("Put below a document: %v", err)
	}
	// A large file is replaced when the caller wants that, and is still kept.
	if _, err := s.Put(t.Context(), "memory/large.md", []byte("small"), store.Any); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for key := range listed(t, s, "memory") {
		if strings.HasPrefix(key, "memory/large.md.conflict-") {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("%d copies of the large file", kept)
	}
}

func TestReservedNamesAreNoKeys(t *testing.T) {
	s := openTest(t, t.TempDir(), testOptions())
	defer s.Close()
	for _, key := range []string{"a.jsonl", "a.jsonl.torn", ".ideai-tmp-x", "c/.ideai-x/a", ".gitignore", "run/locks/test.lock", "run/locks"} {
		if _, err := s.Put(t.Context(), key, []byte("x"), store.Any); !errors.Is(err, store.ErrBadKey) {
			t.Errorf("Put(%q): %v", key, err)
		}
	}
	for _, stream := range []string{"log.000002", "log.jsonl", strings.Repeat("x", 190)} {
		if _, err := s.Append(t.Context(), stream, [][]byte{nil}, 0); !errors.Is(err, store.ErrBadKey) {
			t.Errorf("Append(%q): %v", stream, err)
		}
	}
	if docs := listed(t, s, ""); len(docs) != 0 {
		t.Errorf("documents %v", docs)
	}
}

func TestIgnoreFile(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	tree := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", tree}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	s := openTest(t, tree, testOptions())
	defer s.Close()
	if _, err := s.Append(t.Context(), "conversations/1/log", [][]byte{[]byte("{}")}, 0); err != nil {
		t.Fatal(err)
	}
	if out := git("status", "--porcelain", "-uall"); out != "" {
		t.Errorf("after a launch that saved nothing git says:\n%s", out)
	}
	for _, key := range []string{"project.yaml", "CONTEXT.md", "agents/a.md", "skills/s/SKILL.md", "memory/deep/n.md", "live-state.json", "conversations/1/handoff.md"} {
		if _, err := s.Put(t.Context(), key, []byte("x"), store.Absent); err != nil {
			t.Fatal(err)
		}
	}
	write(t, tree, "memory/.ideai-tmp-test-left", "x")
	want := "?? .ideai/CONTEXT.md\n?? .ideai/agents/a.md\n?? .ideai/memory/deep/n.md\n?? .ideai/project.yaml\n?? .ideai/skills/s/SKILL.md\n"
	if out := git("status", "--porcelain", "-uall"); out != want {
		t.Errorf("git says:\n%swant:\n%s", out, want)
	}
}

func TestAnIgnoreFileThatIsThereIsLeftAlone(t *testing.T) {
	tree := t.TempDir()
	path := write(t, tree, ".gitignore", "mine\n")
	s := openTest(t, tree, testOptions())
	defer s.Close()
	if data, err := os.ReadFile(path); err != nil || string(data) != "mine\n" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestModes(t *testing.T) {
	tree := t.TempDir()
	s := openTest(t, tree, testOptions())
	defer s.Close()
	for key, mode := range map[string]fs.FileMode{"memory/a.md": 0o644, "conversations/1/handoff.md": 0o600} {
		v, err := s.Put(t.Context(), key, []byte("x"), store.Absent)
		if err != nil {
			t.Fatal(err)
		}
		full := filepath.Join(tree, Folder, key)
		if info, err := os.Stat(full); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", key, info.Mode(), err)
		}
		if err := os.Chmod(full, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(t.Context(), key, []byte("y"), v); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(full); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s after a replacement: %v, %v", key, info.Mode(), err)
		}
	}
}
