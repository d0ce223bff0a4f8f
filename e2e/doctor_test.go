package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// proved is what `ideai doctor --prove --json` says of one cell.
type proved struct {
	Carrier, Workspace, Session string
	Terminal, Arrived           bool
	Sections                    []struct{ Name string }
	Tools, ToolsAll             int
	Problems                    []struct{ Kind, Subject string }
	Output                      []string
}

// prove runs a proof and returns its cells.
func (w *world) prove(code int, args ...string) []proved {
	w.t.Helper()
	r, _ := w.try(5*time.Minute, w.project, "", "ideai", append([]string{"doctor", "--json", "--prove"}, args...)...)
	if r.code != code {
		w.t.Fatalf("exit code %d, want %d:\n%s", r.code, code, r.all())
	}
	var out struct {
		Proofs []struct{ Cells []proved }
	}
	must(w.t, json.Unmarshal([]byte(r.stdout), &out))
	if len(out.Proofs) != 1 {
		w.t.Fatalf("%d proofs:\n%s", len(out.Proofs), r.stdout)
	}
	return out.Proofs[0].Cells
}

// Every door of the catalogue is proved by doctor, without a word to the model
// that the person has set up, and without touching their home.
func TestDoctorProvesEveryCLI(t *testing.T) {
	for profile, terminal := range map[string]bool{"claude": true, "codex": true, "gemini": false, "opencode": false, "qwen": false, "copilot": false, "pi": false} {
		t.Run(profile, func(t *testing.T) {
			w := newWorld(t)
			w.inClosedFolder()
			if profile == "gemini" { // it takes no tools below a folder that others may write to
				w.env = append(w.env, "IDEAI_STATE_DIR="+filepath.Join(filepath.Dir(w.project), "state"))
			}
			w.run("ideai", "init", "--yes")
			// Some write into their home when they are asked for their version.
			_, _ = w.try(2*time.Minute, w.project, "", "ideai", "doctor")
			before := files(t, w.home)
			cells := w.prove(0, profile)
			modes := map[bool]int{}
			for _, c := range cells {
				modes[c.Terminal]++
				if !c.Arrived || len(c.Sections) < 4 || c.Tools != c.ToolsAll || (c.Tools == 0) != (profile == "pi") {
					t.Errorf("%+v", c)
				}
			}
			if modes[false] < 2 || (modes[true] > 0) != terminal {
				t.Errorf("proved %d cells without a terminal, %d in one", modes[false], modes[true])
			}
			if n := len(w.model.Requests()); n > 0 {
				t.Errorf("the person's own model got %d requests", n)
			}
			after := files(t, w.home)
			if added := slices.DeleteFunc(after, func(f string) bool { return slices.Contains(before, f) }); len(added) > 0 {
				t.Errorf("there is something new in the person's home: %q", added)
			}
			if profile == "claude" || profile == "codex" {
				plan := w.run("ideai", "--dry-run", profile).stdout
				if !strings.Contains(plan, "(verified ") || !strings.Contains(plan, " today)") {
					t.Errorf("the plan of a launch does not rest on the proof:\n%s", plan)
				}
			}
		})
	}
}

// files are the paths below a folder, those of ideai itself left out.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	must(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil && !strings.Contains(path, ".local") {
			out = append(out, path)
		}
		return err
	}))
	return out
}

// The person's own environment switches the context off: doctor finds out, and
// the next plan takes another door.
func TestDoctorFindsOutThatTheEnvironmentSwitchesTheContextOff(t *testing.T) {
	w := newWorld(t)
	w.run("ideai", "init", "--yes")
	w.env = append(w.env, "CLAUDE_CODE_DISABLE_CLAUDE_MDS=1")
	for _, c := range w.prove(1, "claude", "--carrier", "side_directory") {
		missing := 0
		for _, p := range c.Problems {
			if p.Kind == "section_missing" {
				missing++
			}
		}
		if c.Arrived || missing != len(c.Sections) {
			t.Errorf("%+v", c)
		}
	}
	out, _ := w.try(time1, w.project, "", "ideai", "doctor", "--prove", "claude", "--carrier", "side_directory")
	if !strings.Contains(out.stdout, "CLAUDE_CODE_DISABLE_CLAUDE_MDS=1") {
		t.Errorf("the cause is not named:\n%s", out.stdout)
	}
	if plan := w.run("ideai", "--dry-run", "claude").stdout; strings.Contains(plan, "side_directory") {
		t.Errorf("the plan takes a door that is shut:\n%s", plan)
	}
	doctor, err := w.try(time1, w.project, "", "ideai", "doctor")
	if err == nil || !strings.Contains(doctor.stdout, "did not arrive whole by side_directory") {
		t.Errorf("doctor says nothing of it: %v\n%s", err, doctor.stdout)
	}
}
