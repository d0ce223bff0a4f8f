package memorysvc_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"pgregory.net/rapid"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/tokens"
	memorysvc "github.com/idea-ide/ideai/services/memory"
)

func file(id, description, noteType, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %q\nmetadata:\n  type: %s\n---\n%s", id, description, noteType, body)
}

// workshop is a few notes of three sizes.
func workshop() map[string]string {
	long := strings.Repeat("Brake pads are changed in pairs. The rotor is measured first.\n\n", 60)
	return map[string]string{
		"brakes.md":   file("brakes", "How brake pads are changed", "project", long),
		"rotor.md":    file("rotor", "Brake rotor thickness limits", "reference", "Rotors below 1.5 mm are replaced. Brake test after.\n"),
		"cables.md":   file("cables", "Brake cable supplier", "reference", "Brake cables come from Jagwire, order on Tuesdays.\n"),
		"wheels.md":   file("wheels", "Wheel truing tolerance", "project", "0.3 mm lateral.\n"),
		"greeting.md": file("greeting", "Call customers by their first name", "feedback", "They like it.\n"),
		"hours.md":    file("hours", "Opening hours", "user", "9 to 18.\n"),
	}
}

func (f *fixture) ask(q memorysvc.Question) memorysvc.Answer {
	f.t.Helper()
	a, err := f.RecallNotes(f.t.Context(), here, q)
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}

func ids(notes []memorysvc.Recalled) (out []string) {
	for _, n := range notes {
		out = append(out, n.ID)
	}
	return out
}

func TestRecallPinnedFirst(t *testing.T) {
	f := open(t, workshop())
	a := f.ask(memorysvc.Question{Query: "brake pads", Pinned: []string{"hours", "nowhere", "HOURS", "wheels"}})
	if got := ids(a.Notes); len(got) < 3 || got[0] != "hours" || got[1] != "wheels" {
		t.Fatalf("notes = %v", got)
	}
	if diff := cmp.Diff([]string{"nowhere"}, a.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if a.Total != 6 {
		t.Errorf("total = %d", a.Total)
	}
	pinned := a.Notes[0]
	if pinned.Form != memorysvc.Full || pinned.Score != 0 || len(pinned.Why) != 1 || pinned.Why[0].Kind != memorysvc.ReasonPinned {
		t.Errorf("pinned = %+v", pinned)
	}
	for i, n := range a.Notes[2:] {
		if n.Score <= 0 || n.Score > 1 || len(n.Why) == 0 || i > 0 && n.Score > a.Notes[i+1].Score {
			t.Errorf("found %d = %+v", i, n)
		}
	}
}

func TestRecallPinnedNoteIsNotFoundTwice(t *testing.T) {
	f := open(t, workshop())
	a := f.ask(memorysvc.Question{Query: "brake", Pinned: []string{"rotor"}, MaxNotes: 2})
	seen := map[string]int{}
	for _, n := range a.Notes {
		seen[n.ID]++
	}
	if seen["rotor"] != 1 || len(a.Notes) != 3 {
		t.Errorf("notes = %v, want rotor once and two found", ids(a.Notes))
	}
}

func TestRecallFormsWithinBudget(t *testing.T) {
	f := open(t, workshop())
	for budget, want := range map[int]map[memorysvc.Form]int{
		2000: {memorysvc.Full: 3},
		300:  {memorysvc.Excerpt: 1, memorysvc.Full: 2},
		30:   {memorysvc.Pointer: 3},
	} {
		a := f.ask(memorysvc.Question{Query: "brake pads rotor cable", BudgetTokens: budget})
		got := map[memorysvc.Form]int{}
		for _, n := range a.Notes {
			got[n.Form]++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("budget %d: forms (-want +got):\n%s%+v", budget, diff, a.Notes)
		}
	}
	a := f.ask(memorysvc.Question{Query: "brake pads rotor cable", BudgetTokens: 5})
	if len(a.Notes) != 0 || len(a.LeftOut) != 3 {
		t.Errorf("no budget: %v, left out %v", ids(a.Notes), a.LeftOut)
	}
}

func TestRecallNeverExceedsItsBudgets(t *testing.T) {
	f := open(t, workshop())
	count := tokens.NewCounter().Count
	rapid.Check(t, func(t *rapid.T) {
		q := memorysvc.Question{
			Query:        rapid.SampledFrom([]string{"", "brake pads", "rotor cable wheel hours", "pneu crevé", "zzz"}).Draw(t, "query"),
			Hints:        rapid.SliceOfN(rapid.SampledFrom([]string{"rotor", "cable", "opening"}), 0, 2).Draw(t, "hints"),
			Pinned:       rapid.SliceOfN(rapid.SampledFrom([]string{"brakes", "hours", "none"}), 0, 3).Draw(t, "pinned"),
			BudgetTokens: rapid.IntRange(1, 1500).Draw(t, "budget"),
			IndexTokens:  rapid.IntRange(0, 200).Draw(t, "index"),
			MaxNotes:     rapid.IntRange(0, 5).Draw(t, "max"),
		}
		a, err := f.RecallNotes(f.t.Context(), here, q)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := f.RecallNotes(f.t.Context(), here, q)
		if diff := cmp.Diff(a, again); diff != "" {
			t.Fatalf("two answers to one question:\n%s", diff)
		}
		chosen, index := 0, 0
		seen := map[string]bool{}
		for _, n := range a.Notes {
			if seen[n.ID] {
				t.Fatalf("%s twice", n.ID)
			}
			seen[n.ID] = true
			if n.Why[0].Kind == memorysvc.ReasonIndex {
				index += n.Tokens
				continue
			}
			if index > 0 {
				t.Fatal("the index is not last")
			}
			chosen += n.Tokens
			if n.Form != memorysvc.Pointer && n.Tokens != count(n.Text) {
				t.Fatalf("%s says %d tokens and has %d", n.ID, n.Tokens, count(n.Text))
			}
		}
		if chosen > q.BudgetTokens || index > q.IndexTokens {
			t.Fatalf("%d of %d and %d of %d tokens", chosen, q.BudgetTokens, index, q.IndexTokens)
		}
	})
}

func TestRecallIndex(t *testing.T) {
	f := open(t, workshop())
	order := func(q memorysvc.Question) []string {
		q.IndexTokens = 500
		return ids(f.ask(q).Notes)
	}
	byType := []string{"greeting", "hours", "brakes", "wheels", "cables", "rotor"}
	if diff := cmp.Diff(byType, order(memorysvc.Question{})); diff != "" {
		t.Errorf("without hints: by type and id (-want +got):\n%s", diff)
	}
	hinted := f.ask(memorysvc.Question{Hints: []string{"wheel truing"}, MaxNotes: 1, IndexTokens: 500})
	if len(hinted.Notes) != 6 || hinted.Notes[0].ID != "wheels" || hinted.Notes[0].Form == memorysvc.Pointer {
		t.Errorf("hints alone are the question: %+v", hinted.Notes)
	}
	leaning := order(memorysvc.Question{Query: "brake pads", MaxNotes: 1, Hints: []string{"opening hours"}})
	if len(leaning) != 6 || leaning[0] != "brakes" || leaning[1] != "hours" {
		t.Errorf("order = %v, want what the question meets, then what the hints meet, then the rest", leaning)
	}
	small := f.ask(memorysvc.Question{IndexTokens: 20})
	if len(small.Notes) != 2 || small.Notes[0].Form != memorysvc.Pointer || small.Notes[0].Text != "" {
		t.Errorf("small index = %+v", small.Notes)
	}
}

func TestRecallFindsNothingRatherThanSomethingElse(t *testing.T) {
	f := open(t, workshop())
	if got := f.recall("kubernetes ingress certificate renewal"); len(got) > 0 {
		t.Errorf("recalled %v", ids(got))
	}
}

func TestRecallRefusesBounds(t *testing.T) {
	f := open(t, nil)
	for _, q := range []memorysvc.Question{
		{MaxNotes: -1}, {MaxNotes: 33}, {BudgetTokens: 100001}, {IndexTokens: -1}, {Pinned: make([]string, 33)},
	} {
		if _, err := f.RecallNotes(t.Context(), here, q); fault.ReasonOf(err) != fault.InvalidField {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// TestHalfWrittenFile catches a file in the middle of being written: the last
// good version is recalled until the file was damaged for a while.
func TestHalfWrittenFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, map[string]string{"good.md": good})
		f.list() // loads
		f.write("good.md", "---\nname: good\ndescr")
		synctest.Wait()
		if n := f.list()["good"]; !n.Excluded() {
			t.Errorf("note = %+v, want it listed as damaged", n)
		}
		if got := f.recall("oil the lathe"); len(got) != 1 || got[0].Text != "Oil the lathe.\n" {
			t.Errorf("recalled %+v, want the last good version", got)
		}
		if part, err := f.ReadNote(t.Context(), here, "good", 1); err != nil || part.Text != "Oil the lathe.\n" {
			t.Errorf("read %+v, %v", part, err)
		}
		f.expire()
		if got := f.recall("oil the lathe"); len(got) != 0 {
			t.Errorf("recalled %+v, want nothing of a file that stays damaged", got)
		}
		f.write("good.md", strings.ReplaceAll(good, "Oil", "Grease"))
		synctest.Wait()
		if got := f.recall("grease the lathe"); len(got) != 1 {
			t.Errorf("recalled %+v, want the mended file", got)
		}
	})
}

func TestFileChangesOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, map[string]string{"good.md": good})
		if got := f.recall("lathe"); len(got) != 1 {
			t.Fatalf("recalled %+v", got)
		}
		f.write("renamed.md", strings.Replace(good, "name: good", "name: renamed", 1))
		if err := f.docs.Delete(t.Context(), "memory/good.md", store.Any); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := f.recall("lathe"); len(got) != 1 || got[0].ID != "renamed" {
			t.Errorf("recalled %+v, want the renamed note alone", got)
		}
		if got := f.list(); len(got) != 1 || got["renamed"] == nil {
			t.Errorf("listed %v", got)
		}
	})
}

func TestRecallTracesSizesAndNoText(t *testing.T) {
	f := open(t, workshop())
	spans := tracetest.NewSpanRecorder()
	s, err := memorysvc.New(memorysvc.Config{}, memorysvc.Deps{
		Stores: opener{f.docs}, Traces: trace.NewTracerProvider(trace.WithSpanProcessor(spans)),
	})
	if err != nil {
		t.Fatal(err)
	}
	runUntilEnd(t, s)
	if _, err := s.RecallNotes(t.Context(), here, memorysvc.Question{Query: "brake pads"}); err != nil {
		t.Fatal(err)
	}
	ended := spans.Ended()
	if len(ended) != 1 || ended[0].Name() != "memory.recall" {
		t.Fatalf("spans = %v", ended)
	}
	for _, a := range ended[0].Attributes() {
		if strings.Contains(a.Value.String(), "brake") {
			t.Errorf("%s holds text: %s", a.Key, a.Value.String())
		}
	}
}

// A note is never whole at the cost of one that ranks before it: the shares of
// the budget are equal, and what remains is spent in order.
func TestRecallKeepsItsOrderInWhatItGives(t *testing.T) {
	const grain = 60 // tokens of a passage with its marks, and of an excerpt not worth making
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 40), 2, 9).Draw(rt, "passages")
		files := map[string]string{}
		for i, n := range sizes {
			var body strings.Builder
			for line := range n {
				fmt.Fprintf(&body, "Brake rule %d of list %d: check the pads and the cable.\n\n", line, i)
			}
			files[fmt.Sprintf("list-%d.md", i)] = "---\ndescription: brake list " + strings.Repeat("brake ", i) + "\n---\n" + body.String()
		}
		f := open(t, files)
		a, err := f.RecallNotes(t.Context(), here, memorysvc.Question{
			Query: "brake pads", MaxNotes: 9, BudgetTokens: rapid.IntRange(100, 3000).Draw(rt, "budget"),
		})
		if err != nil {
			rt.Fatal(err)
		}
		for i, whole := range a.Notes {
			for _, better := range a.Notes[min(i, 1):i] {
				if whole.Form == memorysvc.Full && better.Form != memorysvc.Full && better.Tokens < whole.Tokens-grain {
					rt.Fatalf("%s is whole with %d tokens, and %s before it got %d as form %d", whole.ID, whole.Tokens, better.ID, better.Tokens, better.Form)
				}
			}
		}
	})
}
