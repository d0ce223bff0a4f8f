package memorysvc_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
	memorysvc "github.com/idea-ide/ideai/services/memory"
)

const good = "---\nname: good\ndescription: The lathe needs oil every Monday.\nmetadata:\n  type: project\n---\nOil the lathe.\n"

// TestBadInput puts one bad file beside a good one: the bad one is listed with
// what to do, and the good one is still recalled.
func TestBadInput(t *testing.T) {
	type problem struct {
		Kind     memorysvc.ProblemKind
		Line     int
		Excluded bool
	}
	for name, tc := range map[string]struct {
		file, text string
		id         string
		want       []problem
		says       string
	}{
		"broken YAML front matter": {"bad.md", "---\nname: bad\ndescription: [a\nmetadata:\n---\nlathe\n", "bad",
			[]problem{{memorysvc.ProblemFrontMatter, 4, true}}, "not YAML"},
		"front matter never closed": {"bad.md", "---\nname: bad\ndescription: lathe\n", "bad",
			[]problem{{memorysvc.ProblemFrontMatter, 1, true}}, "never closed"},
		"front matter that is a list": {"bad.md", "---\n- lathe\n---\nlathe\n", "bad",
			[]problem{{memorysvc.ProblemFrontMatter, 2, true}}, "key: value"},
		"an empty file": {"bad.md", "\n", "bad",
			[]problem{{memorysvc.ProblemFrontMatter, 0, true}}, "empty"},
		"a 400 KiB note": {"bad.md", "lathe\n" + strings.Repeat("x", 400<<10), "bad",
			[]problem{{memorysvc.ProblemTooLarge, 0, true}}, "split"},
		"binary bytes": {"bad.md", "lathe\xff\xfe", "bad",
			[]problem{{memorysvc.ProblemBinary, 0, true}}, "UTF-8"},
		"NUL bytes": {"bad.md", "lathe\x00", "bad",
			[]problem{{memorysvc.ProblemBinary, 0, true}}, "UTF-8"},
		"bidi characters": {"bad.md", "---\nname: bad\ndescription: d\n---\nlathe\nif \u202Eadmin\n", "bad",
			[]problem{{memorysvc.ProblemHiddenText, 6, true}}, "U+202E"},
		"zero-width characters": {"bad.md", "---\nname: bad\ndescription: la\u200Bthe\n---\nx\n", "bad",
			[]problem{{memorysvc.ProblemHiddenText, 3, true}}, "U+200B"},
		"conflict markers": {"bad.md", "---\nname: bad\ndescription: d\n---\n<<<<<<< HEAD\nlathe\n=======\nmill\n>>>>>>> branch\n", "bad",
			[]problem{{memorysvc.ProblemConflict, 5, true}}, "merge"},
		"conflict markers, CRLF": {"bad.md", "---\r\nname: bad\r\ndescription: lathe\r\n---\r\na\r\n>>>>>>> branch\r\n", "bad",
			[]problem{{memorysvc.ProblemConflict, 6, true}}, "merge"},
		"conflict in the front matter": {"bad.md", "---\nname: bad\n<<<<<<< HEAD\ndescription: lathe\n=======\ndescription: mill\n>>>>>>> b\n---\nx\n", "bad",
			[]problem{{memorysvc.ProblemConflict, 3, true}, {memorysvc.ProblemFrontMatter, 3, true}}, "merge"},
		"a name that cannot be one": {"bad\u202Ename.md", "---\ndescription: lathe\n---\nx\n", "",
			[]problem{{memorysvc.ProblemNameMismatch, 0, true}, {memorysvc.ProblemHiddenText, 0, true}}, "rename"},
		"a name that is too long": {strings.Repeat("é", 80) + ".md", "---\ndescription: lathe\n---\nx\n", "",
			[]problem{{memorysvc.ProblemNameMismatch, 0, true}}, "rename"},
		"name of another note": {"bad.md", "---\nname: other\ndescription: the mill\n---\nmill\n", "bad",
			[]problem{{memorysvc.ProblemNameMismatch, 2, false}}, `"other"`},
		"no description": {"bad.md", "---\nname: bad\n---\n# The mill\n", "bad",
			[]problem{{memorysvc.ProblemNoDescription, 0, false}}, "description"},
		"front matter twice": {"bad.md", "---\nname: bad\ndescription: memory note bad\n---\n---\nname: bad\ndescription: the mill\n---\nmill\n", "bad",
			[]problem{{memorysvc.ProblemDoubledFrontMatter, 5, false}}, "twice"},
		"colon without quotes": {"bad.md", "---\nname: bad\ndescription: Fraiseuse : mode d'emploi\n---\nmill\n", "bad",
			[]problem{{memorysvc.ProblemFrontMatter, 3, false}}, "quotes"},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, map[string]string{"good.md": good, tc.file: tc.text})
			var bad *memorysvc.Note
			for id, n := range f.list() {
				if id != "good" {
					bad = n
				}
			}
			if bad == nil {
				t.Fatal("the bad note is not listed")
			}
			if tc.id != "" && bad.ID != tc.id {
				t.Errorf("id = %q, want %q", bad.ID, tc.id)
			}
			if !memorysvc.ValidID(bad.ID) {
				t.Errorf("listed under %q, which is no id", bad.ID)
			}
			var got []problem
			for _, p := range bad.Problems {
				got = append(got, problem{p.Kind, p.Line, p.Excluded})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if !strings.Contains(bad.Problems[0].Message, tc.says) {
				t.Errorf("message = %q, want it to say %q", bad.Problems[0].Message, tc.says)
			}
			if notes := f.recall("lathe oil"); len(notes) != 1 || notes[0].ID != "good" {
				t.Errorf("recalled %+v, want the good note alone", notes)
			}
			_, err := f.ReadNote(t.Context(), here, bad.ID, 0)
			if bad.Excluded() && bad.Problems[0].Kind != memorysvc.ProblemNameMismatch && fault.ReasonOf(err) != fault.Damaged {
				t.Errorf("reading it: %v, want DAMAGED", err)
			}
			if !bad.Excluded() && err != nil {
				t.Errorf("reading it: %v", err)
			}
		})
	}
}

func TestTwoNotesOfOneName(t *testing.T) {
	f := open(t, map[string]string{
		"good.md": good, "tour.md": "---\ndescription: lathe one\n---\nlathe\n", "Tour.md": "---\ndescription: lathe two\n---\nlathe\n",
	})
	n := f.list()["tour"]
	if n == nil || !n.Excluded() {
		t.Fatalf("note = %+v, want it excluded", n)
	}
	p := n.Problems[len(n.Problems)-1]
	if p.Kind != memorysvc.ProblemDuplicateID || !strings.Contains(p.Message, "tour.md") || !strings.Contains(p.Message, "Tour.md") {
		t.Errorf("problem = %+v", p)
	}
	if notes := f.recall("lathe oil"); len(notes) != 1 || notes[0].ID != "good" {
		t.Errorf("recalled %+v", notes)
	}
	_, err := f.SaveNote(t.Context(), here, memorysvc.Draft{ID: "tour", Description: "d", Body: "x", Etag: n.Etag})
	if fault.ReasonOf(err) != fault.Damaged {
		t.Errorf("saving it: %v, want DAMAGED", err)
	}
	if err := f.DeleteNote(t.Context(), here, "tour", "", false); fault.ReasonOf(err) != fault.Damaged {
		t.Errorf("deleting whichever: %v, want DAMAGED", err)
	}
	if err := f.DeleteNote(t.Context(), here, "tour", n.Etag, false); err != nil {
		t.Fatal(err)
	}
	if got := f.get("tour"); got.Excluded() || got.Description == n.Description {
		t.Errorf("the other file should be the note now: %+v", got)
	}
}

func TestFilesThatAreNoNotes(t *testing.T) {
	f := open(t, map[string]string{"good.md": good, ".hidden.md": good, "notes.txt": good, "sub/deep.md": good, "good.md~": good})
	if got := f.list(); len(got) != 1 {
		t.Errorf("listed %v", got)
	}
}

// unreadable is a store that cannot give some of its documents.
type unreadable struct {
	store.Docs
	errs map[string]error
}

func (u unreadable) Get(ctx context.Context, key string) (store.Doc, error) {
	if err := u.errs[key]; err != nil {
		return store.Doc{}, err
	}
	return u.Docs.Get(ctx, key)
}

func (u unreadable) Watch(ctx context.Context, prefix string) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		for key, err := range u.errs {
			if !yield(store.Event{Doc: store.Doc{Key: key, Err: err}}, nil) {
				return
			}
		}
		for ev, err := range u.Docs.Watch(ctx, prefix) {
			if !yield(ev, err) {
				return
			}
		}
	}
}

type opener struct{ docs store.Docs }

func (o opener) Versioned(context.Context, string, string) (store.Docs, error) { return o.docs, nil }

func (o opener) Runtime(context.Context, string) (store.Docs, store.Log, error) {
	return nil, nil, store.ErrClosed
}

func TestFilesTheStoreCannotGive(t *testing.T) {
	f := open(t, map[string]string{"good.md": good})
	outside := fault.New(fault.OutsideProject, fault.Meta{"name": "memory/link.md", "target": "/etc/passwd"}, "leads out")
	s := start(t, opener{&unreadable{f.docs, map[string]error{
		"memory/big.md": store.ErrTooLarge, "memory/link.md": outside,
		"memory/shut.md": fault.New(fault.StoreUnavailable, fault.Meta{"path": "shut.md"}, "no permission to read it"),
	}}})
	for id, want := range map[string]memorysvc.ProblemKind{
		"big": memorysvc.ProblemTooLarge, "link": memorysvc.ProblemOutsideProject, "shut": memorysvc.ProblemUnreadable,
	} {
		n, err := s.GetNote(t.Context(), here, id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if len(n.Problems) != 1 || n.Problems[0].Kind != want || !n.Excluded() {
			t.Errorf("%s: problems = %+v", id, n.Problems)
		}
		if _, err := s.ReadNote(t.Context(), here, id, 1); fault.ReasonOf(err) != fault.Damaged {
			t.Errorf("%s: read: %v", id, err)
		}
	}
	if n, _ := s.GetNote(t.Context(), here, "link"); !strings.Contains(n.Problems[0].Message, "/etc/passwd") {
		t.Errorf("the target is not named: %q", n.Problems[0].Message)
	}
	if n, err := s.GetNote(t.Context(), here, "good"); err != nil || n.Excluded() {
		t.Errorf("good: %+v, %v", n, err)
	}
}

// refusing is a store that cannot be written.
type refusing struct {
	store.Docs
	err error
}

func (r *refusing) Put(context.Context, string, []byte, store.Version) (store.Version, error) {
	return "", r.err
}

func (r *refusing) Delete(context.Context, string, store.Version) error { return r.err }

func TestReadOnlyDiskAndDiskFull(t *testing.T) {
	f := open(t, map[string]string{"good.md": good})
	before := f.get("good")
	for _, want := range []*fault.Error{
		fault.New(fault.StoreReadOnly, fault.Meta{"path": "/p"}, "/p cannot be written; make it writable"),
		fault.New(fault.StoreFull, fault.Meta{"path": "/p"}, "no space left; free some"),
	} {
		s := start(t, opener{&refusing{f.docs, want}})
		_, err := s.SaveNote(t.Context(), here, memorysvc.Draft{ID: "good", Description: "d", Body: "grease", Etag: before.Etag})
		if !errors.Is(err, want) {
			t.Errorf("save: %v, want %s", err, want.Reason)
		}
		if err := s.DeleteNote(t.Context(), here, "good", "", false); !errors.Is(err, want) {
			t.Errorf("delete: %v, want %s", err, want.Reason)
		}
		if n, err := s.GetNote(t.Context(), here, "good"); err != nil || n.Body != before.Body {
			t.Errorf("the note is %+v, %v", n, err)
		}
		a, err := s.RecallNotes(t.Context(), here, memorysvc.Question{Query: "lathe oil"})
		if err != nil || len(a.Notes) != 1 || a.Notes[0].Text != before.Body {
			t.Errorf("recalled %+v, %v", a.Notes, err)
		}
	}
}

// TestRoundTrip saves notes as they were read: their files keep every byte. A
// changed body or description changes nothing else.
func TestRoundTrip(t *testing.T) {
	head := "---\n# by hand\nname: a\nowner: {team: bikes}  # flow\ndescription: 'The ''why'''\nmetadata:\n  type: project\n  since: 2024-05-01\ntags: [x, y]\n---\n"
	for name, file := range map[string]string{
		"unknown keys, order and comments": head + "\n# Title\n\nText.\n",
		"CRLF":                             strings.ReplaceAll(head+"One.\n\nTwo.\n", "\n", "\r\n"),
		"no final newline":                 head + "One.\n\nTwo.",
		"blank lines around":               head + "\n\n\nOne.\n\n\n",
		"byte order mark":                  "\uFEFF" + head + "One.\n",
		"a ruler first":                    head + "---\nNot front matter: a ruler.\n\n---\n",
		"no body":                          head,
		"type at the top":                  "---\nname: a\ndescription: d\ntype: user\n---\nOne.\n",
		"own spelling of the name":         "---\nname: A\ndescription: d\nmetadata: {type: user}\n---\nOne.\n",
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, map[string]string{"a.md": file})
			n := f.get("a")
			if n.Excluded() {
				t.Fatalf("problems = %+v", n.Problems)
			}
			d := memorysvc.Draft{ID: "a", Description: n.Description, Type: n.Type, Body: n.Body, Etag: n.Etag}
			if got := f.save(d); got.Etag != n.Etag || f.read("a.md") != file {
				t.Errorf("file changed:\n%s", cmp.Diff(file, f.read("a.md")))
			}
			d.Body = strings.ReplaceAll(n.Body, "One", "Uno")
			if name == "no body" {
				d.Body = "Uno."
			}
			n = f.save(d)
			want := strings.ReplaceAll(file, "One", "Uno")
			if name == "no body" {
				want += "Uno.\n"
			}
			if diff := cmp.Diff(want, f.read("a.md")); diff != "" {
				t.Errorf("after a change of the body (-want +got):\n%s", diff)
			}
			d.Description, d.Etag = "short", n.Etag
			f.save(d)
			old := "description: 'The ''why'''"
			if !strings.Contains(want, old) {
				old = "description: d"
			}
			if diff := cmp.Diff(strings.Replace(want, old, "description: short", 1), f.read("a.md")); diff != "" {
				t.Errorf("after a change of the description (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNotesOfTheFirstIdeA holds the quirks met in notes of an earlier tool.
func TestNotesOfTheFirstIdeA(t *testing.T) {
	f := open(t, map[string]string{
		"plan.md":  "---\nname: plan\ndescription: Cadrage du programme : ce qui existe vs reste, et la règle.\nmetadata:\n  type: project\n---\nÉtat.\n",
		"cells.md": "---\nname: cells\ndescription: memory note cells\nmetadata:\n  type: project\n---\n---\nname: cells\ndescription: Cadrage : cellules.\nmetadata:\n  type: project\n---\n\n# Cellules\n",
	})
	if n := f.get("plan"); n.Excluded() || n.Description != "Cadrage du programme : ce qui existe vs reste, et la règle." {
		t.Errorf("plan = %+v", n)
	}
	if n := f.get("cells"); n.Excluded() || n.Description != "Cadrage : cellules." || n.Body != "# Cellules\n" {
		t.Errorf("cells = %+v", n)
	}
}
