package memorysvc_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store/storefile"
	memorysvc "github.com/idea-ide/ideai/services/memory"
)

// onFiles runs a service on a source tree.
func onFiles(t testing.TB, tree string) *memorysvc.Service {
	t.Helper()
	stores := storefile.NewOpener("memory", func(context.Context, string, string) (string, error) { return tree, nil })
	t.Cleanup(func() {
		if err := stores.Close(); err != nil {
			t.Error(err)
		}
	})
	return start(t, stores)
}

func put(t testing.TB, tree, name, text string) {
	t.Helper()
	path := filepath.Join(tree, ".ideai", "memory", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func problems(t *testing.T, s *memorysvc.Service) map[string][]memorysvc.ProblemKind {
	t.Helper()
	list, err := s.ListNotes(t.Context(), here, false, 1000, "")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]memorysvc.ProblemKind{}
	for _, n := range list.Notes {
		out[n.ID] = []memorysvc.ProblemKind{}
		for _, p := range n.Problems {
			out[n.ID] = append(out[n.ID], p.Kind)
		}
	}
	return out
}

func TestMissingIdeai(t *testing.T) {
	tree := t.TempDir()
	s := onFiles(t, tree)
	if got := problems(t, s); len(got) != 0 {
		t.Errorf("notes = %v", got)
	}
	if _, err := s.SaveNote(t.Context(), here, memorysvc.Draft{ID: "first", Description: "d", Body: "b"}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(tree, ".ideai/memory/first.md")); err != nil || !strings.Contains(string(data), "name: first") {
		t.Errorf("%q, %v", data, err)
	}
}

func TestUnreadableIdeai(t *testing.T) {
	tree := t.TempDir()
	if err := os.WriteFile(filepath.Join(tree, ".ideai"), []byte("a file"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := onFiles(t, tree)
	_, err := s.ListNotes(t.Context(), here, false, 0, "")
	if f, ok := fault.As(err); !ok || !strings.Contains(f.Msg, ".ideai") {
		t.Errorf("err = %v, want a fault that names .ideai", err)
	}
}

func TestMissingProject(t *testing.T) {
	s := onFiles(t, filepath.Join(t.TempDir(), "gone"))
	if _, err := s.GetNote(t.Context(), here, "a"); fault.ReasonOf(err) == fault.ReasonInternal {
		t.Errorf("err = %v, want a fault", err)
	}
}

func TestNoteOfFiveMegabytes(t *testing.T) {
	tree := t.TempDir()
	put(t, tree, "good.md", good)
	put(t, tree, "huge.md", good+strings.Repeat("lathe\n", 5<<20/6))
	s := onFiles(t, tree)
	got := problems(t, s)
	if len(got["huge"]) != 1 || got["huge"][0] != memorysvc.ProblemTooLarge || len(got["good"]) != 0 {
		t.Errorf("problems = %v", got)
	}
	if n, err := s.GetNote(t.Context(), here, "huge"); err != nil || !n.Excluded() || n.Body != "" {
		t.Errorf("get: %v, %v", n, err)
	}
}

func TestSymlinksOutOfTheProject(t *testing.T) {
	tree, outside := t.TempDir(), t.TempDir()
	put(t, tree, "good.md", good)
	secret := filepath.Join(outside, "secret.md")
	if err := os.WriteFile(secret, []byte("the password is swordfish"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"out.md": secret, "up.md": "../../../" + filepath.Base(outside) + "/secret.md"} {
		if err := os.Symlink(target, filepath.Join(tree, ".ideai/memory", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("good.md", filepath.Join(tree, ".ideai/memory/inside.md")); err != nil {
		t.Fatal(err)
	}
	s := onFiles(t, tree)
	got := problems(t, s)
	for _, id := range []string{"out", "up"} {
		if len(got[id]) != 1 || got[id][0] != memorysvc.ProblemOutsideProject {
			t.Errorf("%s: problems = %v", id, got[id])
		}
		if _, err := s.ReadNote(t.Context(), here, id, 0); fault.ReasonOf(err) != fault.Damaged {
			t.Errorf("%s: read: %v", id, err)
		}
		if _, err := s.SaveNote(t.Context(), here, memorysvc.Draft{ID: id, Description: "d", Body: "b"}); fault.ReasonOf(err) != fault.OutsideProject {
			t.Errorf("%s: save: %v", id, err)
		}
	}
	if a, err := s.RecallNotes(t.Context(), here, memorysvc.Question{Query: "password swordfish"}); err != nil || len(a.Notes) > 0 {
		t.Errorf("recalled %v, %v", a.Notes, err)
	}
	if kinds, listed := got["inside"]; !listed || len(kinds) > 1 {
		t.Errorf("a link inside the project: %v", got)
	}
	if data, _ := os.ReadFile(secret); string(data) != "the password is swordfish" {
		t.Errorf("the file outside was changed: %q", data)
	}
}

func TestSecondServerOnTheSameProject(t *testing.T) {
	tree := t.TempDir()
	put(t, tree, "good.md", good)
	first, second := onFiles(t, tree), onFiles(t, tree)
	problems(t, first)
	_, err := second.SaveNote(t.Context(), here, memorysvc.Draft{ID: "a", Description: "d", Body: "b"})
	if fault.ReasonOf(err) != fault.StoreLocked {
		t.Errorf("err = %v, want STORE_LOCKED", err)
	}
}

// TestEditorOnFiles changes notes as people do and waits for the watch to tell.
func TestEditorOnFiles(t *testing.T) {
	tree := t.TempDir()
	put(t, tree, "good.md", good)
	s := onFiles(t, tree)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	step := 0
	for ev, err := range s.WatchNotes(ctx, here) {
		if err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		switch {
		case ev.Synced:
			put(t, tree, "New.md", file("new", "The drill press", "project", "Belt drive.\n"))
		case ev.Note != nil && ev.Note.ID == "new" && ev.Note.Type == "project":
			step++
			put(t, tree, "New.md", file("new", "The drill press", "user", "Gear drive.\n"))
		case ev.Note != nil && ev.Note.ID == "new" && ev.Note.Type == "user":
			step++
			a, err := s.RecallNotes(ctx, here, memorysvc.Question{Query: "drill press gear"})
			if err != nil || len(a.Notes) != 1 || a.Notes[0].Text != "Gear drive.\n" {
				t.Errorf("recalled %+v, %v", a.Notes, err)
			}
			n, err := s.GetNote(ctx, here, "new")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.SaveNote(ctx, here, memorysvc.Draft{ID: "new", Description: "d", Type: "saved", Etag: n.Etag}); err != nil {
				t.Fatal(err)
			}
		case ev.Note != nil && ev.Note.ID == "new":
			if _, err := os.Stat(filepath.Join(tree, ".ideai/memory/New.md")); err != nil {
				t.Error(err)
			}
			if err := os.Rename(filepath.Join(tree, ".ideai/memory/New.md"), filepath.Join(tree, ".ideai/memory/other.md")); err != nil {
				t.Fatal(err)
			}
		case ev.Deleted == "new":
			step++
		case ev.Note != nil && ev.Note.ID == "other":
			step++
		}
		if step == 4 {
			break
		}
	}
	if got := problems(t, s); len(got) != 2 || got["new"] != nil {
		t.Errorf("notes = %v", got)
	}
}
