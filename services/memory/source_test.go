package memorysvc_test

import (
	"strings"
	"testing"

	"github.com/idea-ide/ideai/internal/fault"
	memorysvc "github.com/idea-ide/ideai/services/memory"
)

// put saves a whole file over what is there.
func (f *fixture) put(id, etag, source string) (*memorysvc.Note, error) {
	f.t.Helper()
	return f.SaveNote(f.t.Context(), here, memorysvc.Draft{ID: id, Etag: etag, Source: &source})
}

func TestAWholeFileIsKeptAsItWasWritten(t *testing.T) {
	f := open(t, map[string]string{"a.md": "---\nname: a # mine\ndescription: d\n---\n\nold\n"})
	n := f.get("a")
	if n.Source == nil || *n.Source != f.read("a.md") {
		t.Fatalf("source = %v, want the file", n.Source)
	}
	want := strings.Replace(*n.Source, "description: d\n", "description: d\nowner: ana # added\ntags: [x, y]\n", 1)
	want = strings.ReplaceAll(want, "\n", "\r\n")
	saved, err := f.put("a", n.Etag, want)
	if err != nil || f.read("a.md") != want || saved.Source == nil || *saved.Source != want {
		t.Fatalf("saved %+v, %v; the file is %q, want %q", saved, err, f.read("a.md"), want)
	}
	if _, err := f.put("a", n.Etag, "---\nname: a\n---\n\nother\n"); fault.ReasonOf(err) != fault.StaleEtag {
		t.Errorf("over a newer file: %v", err)
	}
}

func TestAWholeFileIsMendedAsTheNextSaveIsSaidTo(t *testing.T) {
	f := open(t, map[string]string{"a.md": "---\nname: b\ndescription: d\n---\n\nold\n"})
	n := f.get("a")
	if _, err := f.put("a", n.Etag, strings.Replace(*n.Source, "name: b", "name: c", 1)); fault.ReasonOf(err) != fault.NameMismatch {
		t.Errorf("renamed in the editor: %v", err)
	}
	if _, err := f.put("a", n.Etag, strings.Replace(*n.Source, "description: d", "description: Choix : SQLite", 1)); err != nil {
		t.Fatal(err)
	}
	if want := "---\nname: a\ndescription: 'Choix : SQLite'\n---\n\nold\n"; f.read("a.md") != want {
		t.Errorf("the file is %q, want %q", f.read("a.md"), want)
	}
}

func TestAWholeFileThatCannotBeUsedIsRefused(t *testing.T) {
	for source, want := range map[string]fault.Reason{
		"": fault.InvalidField, "\n \n": fault.InvalidField,
		"---\nname: [\n---\nx\n":                          fault.Damaged,
		"x\n<<<<<<< HEAD\ny\n=======\nz\n>>>>>>> b\n":     fault.Damaged,
		"pay\u200Bment\n":                                 fault.HiddenText,
		strings.Repeat("x", memorysvc.MaxFile+1):          fault.TooLarge,
		"---\nname: other\ndescription: d\n---\n\ntext\n": fault.NameMismatch,
	} {
		f := open(t, nil)
		if _, err := f.put("a", "", source); fault.ReasonOf(err) != want {
			t.Errorf("%.40q: %v, want %s", source, err, want)
		}
		for doc := range f.docs.List(t.Context(), "") {
			t.Errorf("%.40q was written: %s", source, doc.Key)
		}
	}
}

// What a person wrote in a file's front matter is never dropped, nor beaten by
// what the note said before.
func TestFrontMatterOfABodyReplacesTheFilesKeys(t *testing.T) {
	f := open(t, map[string]string{"a.md": "---\nname: a\ndescription: old\nkept: 1\ntags: [old]\nmetadata:\n  type: user\n  owner: ana\n---\n\nold\n"})
	f.save(memorysvc.Draft{ID: "a", Etag: f.get("a").Etag, Body: "---\ntype: feedback\ntags: [new]\nmetadata:\n  owner: bob\n---\nnew\n"})
	got := f.read("a.md")
	for _, want := range []string{"description: old\n", "kept: 1\n", "tags: [new]\n", "type: feedback\n", "owner: bob\n", "\nnew\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	for _, gone := range []string{"[old]", "ana"} {
		if strings.Contains(got, gone) {
			t.Errorf("%q is still in %q", gone, got)
		}
	}
}
