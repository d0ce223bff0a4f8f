package launchersvc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/store"
)

func effective(texts ...string) *contextv1.EffectiveContext {
	ec := &contextv1.EffectiveContext{Digest: "d", Tokens: 7}
	for i, text := range texts {
		ec.Sections = append(ec.Sections, &contextv1.Section{Text: text, Report: &typev1.SectionReport{
			Kind: sectionKinds[i], Tokens: int32(len(text)), Sources: []*typev1.Source{{Name: fmt.Sprint(i)}},
		}})
	}
	return ec
}

func newRequest() *launcherv1.PrepareLaunchRequest {
	return &launcherv1.PrepareLaunchRequest{ProjectId: "shop", LaunchId: "l1", Task: "round « totals »", Host: &launcherv1.Host{Os: "linux"}}
}

// What is stored is what was told, and never more than a document holds.
func TestToldSurvivesTheStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			text := rapid.String().Draw(t, "text")
			return strings.Repeat(text, rapid.SampledFrom([]int{1, 3, 40000}).Draw(t, "times"))
		}), 0, len(sectionKinds)).Draw(t, "texts")
		was := newTold(effective(texts...))
		was.Request, was.Headless, was.Side = newRequest(), true, "/p/.ideai/run/l1"
		data, err := was.encode()
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > store.MaxDoc {
			t.Fatalf("%d bytes do not fit into a document", len(data))
		}
		is, err := decodeTold(data)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range is.Sections {
			if want := strings.ToValidUTF8(texts[i], "\uFFFD"); !s.Missing && s.Text != want {
				t.Errorf("section %d holds %d bytes, want %d", i, len(s.Text), len(want))
			}
			is.Sections[i].Text, was.Sections[i].Text = "", ""
		}
		if diff := cmp.Diff(was, is, protocmp.Transform()); diff != "" {
			t.Errorf("(-told +stored)\n%s", diff)
		}
	})
}

// The largest sections give way, and are still known to differ.
func TestToldIsBounded(t *testing.T) {
	big := strings.Repeat("x", maxTold)
	a, b := newTold(effective("small", big, "other")), newTold(effective("small", big+"y", "other"))
	if a.Sections[0].Missing || !a.Sections[1].Missing || a.Sections[2].Missing || a.Sections[1].Text != "" {
		t.Errorf("kept %+v", a.Sections[0].Missing)
	}
	diffs := changes(a, b)
	if len(diffs) != 1 || diffs[0].GetSection() != sectionKinds[1] {
		t.Errorf("changes %v", diffs)
	}
	if d := sectionDiff(diffs[0], &a.Sections[1], &b.Sections[1]); !d.GetTextMissing() || len(d.GetLines()) > 0 {
		t.Errorf("diff %v", d)
	}
	if size := changeSize(a, b); size < 1<<40 {
		t.Errorf("a change of unknown size counts as %d bytes", size)
	}
}

func TestDamagedToldIsRefused(t *testing.T) {
	for _, data := range []string{"", "null", "[]", "{}", `{"format":2}`, `{"format":1,"sections":[{}],"request":{}}`, `{"format":1,"request":3}`, `{"format":1,"sections":[{}],"reports":[7],"request":{}}`} {
		if got, err := decodeTold([]byte(data)); err == nil {
			t.Errorf("%q is read as %+v", data, got)
		}
	}
}

// The lines of a difference make up both sides, but for what is skipped.
func TestDiffLinesAreTrue(t *testing.T) {
	line := rapid.SampledFrom([]string{"", "a", "b", "c", "# Rules", "é « x »"})
	sides := rapid.SliceOfN(line, 0, 60)
	rapid.Check(t, func(t *rapid.T) {
		a, b := sides.Draw(t, "before"), sides.Draw(t, "after")
		lines, truncated := diffLines(joined(a), joined(b))
		if truncated {
			t.Fatal("truncated")
		}
		restA, restB := a, b
		same := 0
		take := func(rest *[]string, text string) {
			if len(*rest) == 0 || (*rest)[0] != text {
				t.Fatalf("line %q is not next of %q", text, *rest)
			}
			*rest = (*rest)[1:]
		}
		for _, l := range lines {
			switch l.GetOp() {
			case launcherv1.DiffOp_DIFF_OP_SAME:
				same++
				take(&restA, l.GetText())
				take(&restB, l.GetText())
			case launcherv1.DiffOp_DIFF_OP_REMOVED:
				take(&restA, l.GetText())
			case launcherv1.DiffOp_DIFF_OP_ADDED:
				take(&restB, l.GetText())
			case launcherv1.DiffOp_DIFF_OP_SKIPPED:
				n := 0
				if _, err := fmt.Sscan(l.GetText(), &n); err != nil || n <= 0 {
					t.Fatalf("skipped %q", l.GetText())
				}
				if cmp.Diff(restA[:n], restB[:n]) != "" {
					t.Fatal("skipped lines differ")
				}
				restA, restB = restA[n:], restB[n:]
			default:
				t.Fatalf("a line of %s", l.GetOp())
			}
		}
		if len(restA) > 0 || len(restB) > 0 {
			t.Errorf("left over: %q and %q", restA, restB)
		}
	})
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestDiffIsBounded(t *testing.T) {
	var a, b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&a, "old %d\n", i)
		fmt.Fprintf(&b, "new %d\n", i)
	}
	lines, truncated := diffLines(a.String(), b.String())
	if !truncated || len(lines) != maxDiffLines {
		t.Errorf("%d lines, truncated %v", len(lines), truncated)
	}
	lines, _ = diffLines("", strings.Repeat("é", 5000)+"\n")
	if len(lines) != 1 || len(lines[0].GetText()) > maxDiffLine || !strings.HasSuffix(lines[0].GetText(), "é…") {
		t.Errorf("a long line has %d bytes", len(lines[0].GetText()))
	}
}
