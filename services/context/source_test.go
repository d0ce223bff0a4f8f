package contextsvc_test

import (
	"strings"
	"testing"

	"github.com/idea-ide/ideai/internal/fault"
)

// What an editor saves is the file, to the byte, but for quotes YAML needs.
func TestWholeFilesAreKeptAsTheyWereWritten(t *testing.T) {
	w, dir := onDisk(t, map[string]string{
		".ideai/CONTEXT.md":    "---\nrules_from: [a.md]\n---\nOld.\n",
		".ideai/agents/dev.md": "---\nname: Dev\n---\nOld.\n",
	})
	dev, text, err := w.PersonaFile(t.Context(), at, "dev")
	if err != nil || text != file(t, dir, ".ideai/agents/dev.md") {
		t.Fatalf("persona file %q, %v", text, err)
	}
	saved, err := w.SavePersonaFile(t.Context(), at, "dev", dev.Etag, "---\r\nmodel: big # his\r\nname: Dév : lui\r\n---\r\nNew.\r\n")
	if err != nil || saved.Name != "Dév : lui" || saved.Body != "New.\n" {
		t.Fatalf("saved %+v, %v", saved, err)
	}
	if got, want := file(t, dir, ".ideai/agents/dev.md"), "---\r\nmodel: big # his\r\nname: 'Dév : lui'\r\n---\r\nNew.\r\n"; got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
	if _, err := w.SavePersonaFile(t.Context(), at, "dev", dev.Etag, "Late.\n"); fault.ReasonOf(err) != fault.StaleEtag {
		t.Errorf("over a newer file: %v", err)
	}
	rules, source, err := w.RulesFile(t.Context(), at)
	if err != nil || source == nil || *source != file(t, dir, ".ideai/CONTEXT.md") {
		t.Fatalf("rules file %v, %v", source, err)
	}
	want := strings.Replace(*source, "---\n", "---\nowner: us # ours\n", 1)
	if got, err := w.SaveRulesFile(t.Context(), at, rules.Etag, want); err != nil || len(got.From) != 1 || file(t, dir, ".ideai/CONTEXT.md") != want {
		t.Errorf("saved %+v, %v", got, err)
	}
}

func TestWholeFilesThatCannotBeUsedAreRefused(t *testing.T) {
	for text, want := range map[string]fault.Reason{
		"---\nname: [x\n---\nbody\n":                         fault.Damaged,
		"---\nprofile: No Id\n---\nbody\n":                   fault.Damaged,
		"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n":       fault.Damaged,
		"be\u200Bgin\n":                                      fault.HiddenText,
		strings.Repeat("x", 256<<10+1):                       fault.TooLarge,
		"---\nrules_from: [../secret]\nname: [a]\n---\nx.\n": fault.OutsideProject,
	} {
		w, _ := onDisk(t, nil)
		var err error
		if want == fault.OutsideProject {
			_, err = w.SaveRulesFile(t.Context(), at, "", text)
		} else {
			_, err = w.SavePersonaFile(t.Context(), at, "dev", "", text)
		}
		if fault.ReasonOf(err) != want {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
		if _, err := w.Persona(t.Context(), at, "dev"); fault.ReasonOf(err) != fault.PersonaNotFound {
			t.Errorf("%.40q was written", text)
		}
		if r, err := w.Rules(t.Context(), at); err != nil || r.Etag != "" {
			t.Errorf("%.40q was written as rules: %v", text, err)
		}
	}
}
