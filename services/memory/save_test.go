package memorysvc_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
	memorysvc "github.com/idea-ide/ideai/services/memory"
)

func TestSaveCreatesWhatGetAndRecallReturn(t *testing.T) {
	f := open(t, nil)
	saved := f.save(memorysvc.Draft{
		ID: "rounding-rule", Description: "How invoice amounts are rounded: half-even : at the end",
		Body: "Amounts are cents. Round half-even, once, at the total.\n",
	})
	if saved.Etag == "" || len(saved.Problems) > 0 {
		t.Fatalf("saved = %+v", saved)
	}
	if diff := cmp.Diff(saved, f.get("rounding-rule")); diff != "" {
		t.Errorf("got another note than saved (-saved +got):\n%s", diff)
	}
	notes := f.recall("how do we round invoices?")
	if len(notes) != 1 || notes[0].ID != "rounding-rule" || notes[0].Form != memorysvc.Full || notes[0].Text != saved.Body {
		t.Errorf("recalled %+v", notes)
	}
	want := "---\nname: rounding-rule\ndescription: \"How invoice amounts are rounded: half-even : at the end\"\n" +
		"metadata:\n  type: project\n---\n\nAmounts are cents. Round half-even, once, at the total.\n"
	if diff := cmp.Diff(want, f.read("rounding-rule.md")); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

func TestSaveRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		draft  memorysvc.Draft
		reason fault.Reason
		says   string
	}{
		"empty name":                {memorysvc.Draft{Body: "x"}, fault.InvalidField, "name"},
		"nothing":                   {memorysvc.Draft{ID: "a", Body: " \n"}, fault.InvalidField, "say something"},
		"a path":                    {memorysvc.Draft{ID: "../a", Body: "x"}, fault.InvalidField, "'/'"},
		"an absolute path":          {memorysvc.Draft{ID: "/etc/passwd", Body: "x"}, fault.InvalidField, "'/'"},
		"a hidden file":             {memorysvc.Draft{ID: ".a", Body: "x"}, fault.InvalidField, "leading"},
		"upper case":                {memorysvc.Draft{ID: "Rounding", Body: "x"}, fault.NameMismatch, `"rounding"`},
		"decomposed accents":        {memorysvc.Draft{ID: "re\u0301gle", Body: "x"}, fault.NameMismatch, "régle"},
		"two-line description":      {memorysvc.Draft{ID: "a", Description: "x\ny", Body: "x"}, fault.InvalidField, "one line"},
		"right-to-left override":    {memorysvc.Draft{ID: "a", Description: "d", Body: "ok\nab\u202Ecd"}, fault.HiddenText, "line 2, column 3"},
		"zero-width in description": {memorysvc.Draft{ID: "a", Description: "pay\u200Bment", Body: "x"}, fault.HiddenText, "column 4"},
		"conflict markers":          {memorysvc.Draft{ID: "a", Body: "x\n<<<<<<< HEAD\ny\n=======\nz\n>>>>>>> b\n"}, fault.InvalidField, "line 2"},
		"too large":                 {memorysvc.Draft{ID: "a", Body: strings.Repeat("x", memorysvc.MaxFile)}, fault.TooLarge, "split"},
		"far too large":             {memorysvc.Draft{ID: "a", Body: strings.Repeat("x", 5<<20)}, fault.TooLarge, "split"},
		"another note's file":       {memorysvc.Draft{ID: "a", Body: "---\nname: b\ndescription: d\n---\nx"}, fault.NameMismatch, `"b"`},
		"broken front matter":       {memorysvc.Draft{ID: "a", Body: "---\nname: [\n---\nx"}, fault.InvalidField, "line"},
		"etag of nothing":           {memorysvc.Draft{ID: "a", Body: "x", Etag: "v1"}, fault.StaleEtag, "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, nil)
			_, err := f.SaveNote(t.Context(), here, tc.draft)
			if fault.ReasonOf(err) != tc.reason || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("err = %v (%s), want %s saying %q", err, fault.ReasonOf(err), tc.reason, tc.says)
			}
			for doc, err := range f.docs.List(t.Context(), "") {
				t.Errorf("something was written: %v, %v", doc.Key, err)
			}
		})
	}
}

func TestSaveNeverReplacesAnUnseenVersion(t *testing.T) {
	f := open(t, nil)
	first := f.save(memorysvc.Draft{ID: "a", Description: "d", Body: "one\n"})
	second := f.save(memorysvc.Draft{ID: "a", Description: "d", Body: "two\n", Etag: first.Etag})

	_, err := f.SaveNote(t.Context(), here, memorysvc.Draft{ID: "a", Description: "d", Body: "three\n", Etag: first.Etag})
	stale := staleOf(t, err)
	if stale.Current != second.Etag || bodyAt(t, f.Service, stale.Base) != "one\n" {
		t.Errorf("stale = %+v", stale)
	}
	_, err = f.SaveNote(t.Context(), here, memorysvc.Draft{ID: "a", Description: "d", Body: "three\n"})
	if stale := staleOf(t, err); stale.Current != second.Etag || stale.Base != "" {
		t.Errorf("creating what exists: stale = %+v", stale)
	}
	if got := f.get("a"); got.Body != "two\n" {
		t.Errorf("body = %q", got.Body)
	}
}

func TestSaveAfterAnEditorsSaveIsStale(t *testing.T) {
	f := open(t, nil)
	first := f.save(memorysvc.Draft{ID: "a", Description: "d", Body: "one\n"})
	f.write("a.md", "---\nname: a\ndescription: d\n---\nedited\n")
	_, err := f.SaveNote(t.Context(), here, memorysvc.Draft{ID: "a", Description: "d", Body: "mine\n", Etag: first.Etag})
	if stale := staleOf(t, err); bodyAt(t, f.Service, stale.Current) != "edited\n" || bodyAt(t, f.Service, stale.Base) != "one\n" {
		t.Errorf("stale = %+v", stale)
	}
}

// racing is a store in which an editor always saves just before Put.
type racing struct {
	store.Docs
	edit string
}

func (r racing) Put(ctx context.Context, key string, data []byte, expect store.Version) (store.Version, error) {
	if _, err := r.Docs.Put(ctx, key, []byte(r.edit), store.Any); err != nil {
		return "", err
	}
	return r.Docs.Put(ctx, key, data, expect)
}

func (r racing) Versioned(context.Context, string, string) (store.Docs, error) { return r, nil }

func (r racing) Runtime(context.Context, string) (store.Docs, store.Log, error) {
	return nil, nil, errors.New("no runtime store")
}

func TestSaveThatLosesTheRaceIsStale(t *testing.T) {
	f := open(t, nil)
	first := f.save(memorysvc.Draft{ID: "a", Description: "d", Body: "one\n"})
	slow := start(t, racing{Docs: f.docs, edit: "---\nname: a\ndescription: d\n---\nedited\n"})
	_, err := slow.SaveNote(t.Context(), here, memorysvc.Draft{ID: "a", Description: "d", Body: "mine\n", Etag: first.Etag})
	if stale := staleOf(t, err); bodyAt(t, slow, stale.Current) != "edited\n" {
		t.Errorf("stale = %+v", stale)
	}
	if !strings.HasSuffix(f.read("a.md"), "edited\n") {
		t.Error("the editor's save is lost")
	}
}

// lying is a store that does what it is told and says that it failed.
type lying struct{ store.Docs }

func (l *lying) Put(ctx context.Context, key string, data []byte, expect store.Version) (store.Version, error) {
	if _, err := l.Docs.Put(ctx, key, data, expect); err != nil {
		return "", err
	}
	return "", errors.New("connection lost")
}

// TestSaveThatWasDoneAndFailed: saving again the same way finds it done, and
// what was saved is shown meanwhile.
func TestSaveThatWasDoneAndFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, nil)
		first := f.save(memorysvc.Draft{ID: "a", Description: "d", Body: "one\n"})
		s := start(t, opener{&lying{f.docs}})
		d := memorysvc.Draft{ID: "a", Description: "d", Body: "two\n", Etag: first.Etag}
		if _, err := s.SaveNote(t.Context(), here, d); err == nil {
			t.Fatal("no error")
		}
		synctest.Wait()
		a, err := s.RecallNotes(t.Context(), here, memorysvc.Question{Pinned: []string{"a"}})
		if err != nil || len(a.Notes) != 1 || a.Notes[0].Text != "two\n" {
			t.Errorf("recalled %+v, %v", a.Notes, err)
		}
		if n, err := s.SaveNote(t.Context(), here, d); err != nil || n.Body != "two\n" {
			t.Errorf("again: %+v, %v", n, err)
		}
	})
}

func TestSaveTwiceIsOneSave(t *testing.T) {
	f := open(t, nil)
	d := memorysvc.Draft{ID: "a", Description: "d", Body: "one\n"}
	first := f.save(d)
	if again := f.save(d); again.Etag != first.Etag {
		t.Errorf("etag %q became %q", first.Etag, again.Etag)
	}
	d.Body, d.Etag = "two\n", first.Etag
	second := f.save(d)
	if again := f.save(d); again.Etag != second.Etag {
		t.Errorf("a retry with the old etag gave %q, want %q", again.Etag, second.Etag)
	}
}

func TestSaveKeepsTheFilesOwnName(t *testing.T) {
	for _, name := range []string{"Rounding-Rule.md", "re\u0301gles.md", "CHOIX.MD"} {
		t.Run(name, func(t *testing.T) {
			f := open(t, map[string]string{name: "---\ndescription: old\n---\nbody\n"})
			id := memorysvc.CanonicalID(strings.TrimSuffix(strings.TrimSuffix(name, ".md"), ".MD"))
			n := f.get(id)
			f.save(memorysvc.Draft{ID: id, Description: "new", Body: n.Body, Etag: n.Etag})
			if got := f.read(name); !strings.Contains(got, "description: new") {
				t.Errorf("file = %q", got)
			}
			if len(f.list()) != 1 {
				t.Errorf("notes: %v", f.list())
			}
		})
	}
}

func TestSaveRepairs(t *testing.T) {
	for name, tc := range map[string]struct{ file, want string }{
		"doubled front matter": {
			"---\nname: a\ndescription: memory note a\nmetadata:\n  type: project\n---\n---\nname: a\ndescription: What it is.\nmetadata:\n  type: project\nowner: [x, y] # team\n---\n\n# Body\n",
			"---\nname: a\ndescription: What it is.\nmetadata:\n  type: project\nowner: [x, y] # team\n---\n# Body\n",
		},
		"name of another note": {
			"---\nname: b\ndescription: d\n---\nBody\n",
			"---\nname: a\ndescription: d\n---\nBody\n",
		},
		"colon without quotes": {
			"---\nname: a\ndescription: Choix : SQLite, c'est dit\n---\nBody\n",
			"---\nname: a\ndescription: 'Choix : SQLite, c''est dit'\n---\nBody\n",
		},
		"no front matter": {
			"# Title\n\nText\n",
			"---\nname: a\ndescription: Title\nmetadata:\n  type: project\n---\n\n# Title\n\nText\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, map[string]string{"a.md": tc.file})
			n := f.get("a")
			if len(n.Problems) == 0 || n.Excluded() {
				t.Fatalf("problems = %+v, want some that do not exclude", n.Problems)
			}
			saved := f.save(memorysvc.Draft{ID: "a", Description: n.Description, Type: n.Type, Body: n.Body, Etag: n.Etag})
			if name == "no front matter" {
				saved = f.save(memorysvc.Draft{ID: "a", Description: n.Description, Type: "project", Body: n.Body, Etag: saved.Etag})
			}
			if diff := cmp.Diff(tc.want, f.read("a.md")); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
			if len(saved.Problems) > 0 {
				t.Errorf("still problems: %+v", saved.Problems)
			}
		})
	}
}

func TestSaveMendsBrokenFrontMatterGivenInTheBody(t *testing.T) {
	f := open(t, map[string]string{"a.md": "---\nname: a\ndescription: [open\n---\nBody\n"})
	n := f.get("a")
	if !n.Excluded() || !strings.Contains(n.Body, "[open") {
		t.Fatalf("note = %+v", n)
	}
	saved := f.save(memorysvc.Draft{ID: "a", Body: strings.Replace(n.Body, "[open", "closed", 1), Etag: n.Etag})
	if saved.Description != "closed" || saved.Body != "Body\n" || len(saved.Problems) > 0 {
		t.Errorf("saved = %+v", saved)
	}
}

func TestSaveUnwrapsABodyWithFrontMatter(t *testing.T) {
	f := open(t, nil)
	saved := f.save(memorysvc.Draft{ID: "a", Description: "memory note a",
		Body: "---\nname: a\ndescription: What it is.\nmetadata:\n  type: feedback\n---\n\nText.\n"})
	if saved.Description != "What it is." || saved.Type != "feedback" || saved.Body != "Text.\n" || len(saved.Problems) > 0 {
		t.Errorf("saved = %+v", saved)
	}
	saved = f.save(memorysvc.Draft{ID: "a", Description: "Said by me.", Body: "---\nname: a\ndescription: Other.\nsince: 2024\n---\nNew.\n", Etag: saved.Etag})
	if saved.Description != "Said by me." || saved.Body != "New.\n" || !strings.Contains(f.read("a.md"), "since: 2024\n") {
		t.Errorf("saved = %+v\n%s", saved, f.read("a.md"))
	}
}

func TestSaveDoesNotReplaceWhatIsNoText(t *testing.T) {
	f := open(t, map[string]string{"a.md": "\x00\x01\x02"})
	n := f.get("a")
	_, err := f.SaveNote(t.Context(), here, memorysvc.Draft{ID: "a", Body: "text", Etag: n.Etag})
	if fault.ReasonOf(err) != fault.Damaged || f.read("a.md") != "\x00\x01\x02" {
		t.Errorf("err = %v, file = %q", err, f.read("a.md"))
	}
}

func TestDelete(t *testing.T) {
	f := open(t, map[string]string{"Old.md": "---\ndescription: the legacy printer\n---\nx\n"})
	n := f.get("old")
	ctx := t.Context()
	if err := f.DeleteNote(ctx, here, "old", "v0", false); fault.ReasonOf(err) != fault.StaleEtag {
		t.Errorf("stale etag: %v", err)
	}
	if err := f.DeleteNote(ctx, here, "old", n.Etag, false); err != nil {
		t.Fatal(err)
	}
	if got := f.recall("legacy printer"); len(got) > 0 {
		t.Errorf("still recalled: %+v", got)
	}
	if _, err := f.GetNote(ctx, here, "old"); fault.ReasonOf(err) != fault.NoteNotFound {
		t.Errorf("get: %v", err)
	}
	if err := f.DeleteNote(ctx, here, "old", "", false); fault.ReasonOf(err) != fault.NoteNotFound {
		t.Errorf("twice: %v", err)
	}
	if err := f.DeleteNote(ctx, here, "old", "", true); err != nil {
		t.Errorf("allowed to be missing: %v", err)
	}
}

func staleOf(t *testing.T, err error) *memorysvc.Stale {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Reason != fault.StaleEtag {
		t.Fatalf("err = %v, want STALE_ETAG", err)
	}
	return f.Detail.(*memorysvc.Stale)
}

// bodyAt returns the body of note a as it was at an etag.
func bodyAt(t *testing.T, s *memorysvc.Service, etag string) string {
	t.Helper()
	n, err := s.NoteAt(t.Context(), here, "a", etag)
	if err != nil {
		t.Fatalf("at %q: %v", etag, err)
	}
	return n.Body
}

func TestVersionsThatAreNotKnown(t *testing.T) {
	f := open(t, nil)
	first := f.save(memorysvc.Draft{ID: "a", Description: "d", Body: "one\n"})
	f.save(memorysvc.Draft{ID: "a", Description: "d", Body: "two\n", Etag: first.Etag})
	again := start(t, storeOf{f.docs})
	for name, get := range map[string]func() (*memorysvc.Note, error){
		"no such etag":    func() (*memorysvc.Note, error) { return f.NoteAt(t.Context(), here, "a", "x") },
		"of another note": func() (*memorysvc.Note, error) { return f.NoteAt(t.Context(), here, "b", first.Etag) },
		"after a restart": func() (*memorysvc.Note, error) { return again.NoteAt(t.Context(), here, "a", first.Etag) },
	} {
		if n, err := get(); fault.ReasonOf(err) != fault.NoteNotFound {
			t.Errorf("%s: %v, %v, want NOTE_NOT_FOUND", name, n, err)
		}
	}
	_, err := again.SaveNote(t.Context(), here, memorysvc.Draft{ID: "a", Description: "d", Body: "three\n", Etag: first.Etag})
	if stale := staleOf(t, err); stale.Base != "" || bodyAt(t, again, stale.Current) != "two\n" {
		t.Errorf("stale = %+v", stale)
	}
}

// storeOf opens the same documents again, as another process would.
type storeOf struct{ store.Docs }

func (o storeOf) Versioned(context.Context, string, string) (store.Docs, error) { return o.Docs, nil }

func (storeOf) Runtime(context.Context, string) (store.Docs, store.Log, error) {
	return nil, nil, errors.New("no runtime store")
}
