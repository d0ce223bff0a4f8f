package recall_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idea-ide/ideai/services/memory/recall"
)

// indexOf returns an index of notes given as "id | description | body".
func indexOf(notes ...string) *recall.Index {
	x := recall.NewIndex()
	for _, n := range notes {
		f := strings.SplitN(n, "|", 3)
		x.Put(recall.Note{ID: strings.TrimSpace(f[0]), Description: strings.TrimSpace(f[1]), Type: "project", Body: strings.TrimSpace(f[2])})
	}
	return x
}

func ids(hits []recall.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func ask(x *recall.Index, text string) []string { return ids(x.Search(recall.Query{Text: text})) }

func TestSearchFindsTheWaysAWordIsWritten(t *testing.T) {
	x := indexOf(
		"relances | Quand une tentative échoue | Attente exponentielle, puis abandon.",
		"build | Container builds | The first stage needs --platform=$BUILDPLATFORM; files named *_gen.go are left out.",
		"codes | What E1042 and ERR_CONN_RESET mean | Since v2.14.3 the client maps them in internal/wire/errors.go.",
		"rpc | The service | RecallNotes takes a RecallNotesRequest; see also the health-check.",
		"queue | Where messages wait | The dead-letter queue keeps them for a week.",
		"日本語 | 日本語のメモ | 検索の設計について。",
		"palette | Colours of the interface | Blue for links.",
	)
	for text, want := range map[string]string{
		"tentatives":                     "relances",
		"retry":                          "relances",
		"ECHOUER":                        "relances",
		"--platform=$BUILDPLATFORM":      "build",
		"_gen.go":                        "build",
		"E1042":                          "codes",
		"err_conn_reset":                 "codes",
		"v2.14.3":                        "codes",
		"internal/wire/errors.go":        "codes",
		"errors.go":                      "codes",
		"recall notes request":           "rpc",
		"recall_notes_request":           "rpc",
		"healthcheck":                    "rpc",
		"health check":                   "rpc",
		"DLQ":                            "queue",
		"file de rejet":                  "queue",
		"設計":                             "日本語",
		"pallette":                       "palette",
		"what are the colors of the ui?": "palette",
	} {
		if got := ask(x, text); len(got) == 0 || got[0] != want {
			t.Errorf("Search(%q) = %v, want %s first", text, got, want)
		}
	}
}

func TestSearchExplainsItself(t *testing.T) {
	x := indexOf(
		"backoff | Waiting between attempts | See [[limits]] for the numbers.",
		"limits | Numbers | Three at most.",
		"other | Something else | Nothing of interest.",
	)
	hits := x.Search(recall.Query{Text: "délai entre les tentatives", Hints: []string{"attempts"}})
	want := []recall.Hit{
		{ID: "backoff", Why: []recall.Reason{
			{Kind: recall.Glossary, Term: "tentatives", Matched: "backoff", Field: recall.FieldName},
			{Kind: recall.Glossary, Term: "delai", Matched: "backoff", Field: recall.FieldName},
			{Kind: recall.Hint, Term: "attempts", Matched: "backoff", Field: recall.FieldName},
		}},
		{ID: "limits", Why: []recall.Reason{{Kind: recall.Link, Term: "backoff"}}},
	}
	for i := range hits {
		if hits[i].Score <= 0 || hits[i].Score > 1 {
			t.Errorf("score %v", hits[i].Score)
		}
		hits[i].Score = 0
	}
	if len(hits) != 2 || hits[0].ID != "backoff" || hits[1].ID != "limits" {
		t.Fatalf("hits %v", hits)
	}
	if diff := cmp.Diff(want[1], hits[1]); diff != "" {
		t.Errorf("linked hit (-want +got):\n%s", diff)
	}
	kinds := map[recall.ReasonKind]bool{}
	for _, r := range hits[0].Why {
		kinds[r.Kind] = true
	}
	if !kinds[recall.Glossary] || !kinds[recall.Hint] {
		t.Errorf("reasons %v lack the glossary or the hint", hits[0].Why)
	}
}

func TestSynonymsCountOnceAndLessThanTheWord(t *testing.T) {
	x := indexOf(
		"word | About the rate limit | One sentence about the rate limit of calls.",
		"synonyms | About quota, throttling, burst | Quota, throttle, throttling, limiter, token bucket, allowance, burst.",
		"filler-1 | One more | Nothing to see.",
		"filler-2 | And another | Nothing to see either.",
	)
	if got := ask(x, "rate limit"); len(got) != 2 || got[0] != "word" {
		t.Errorf("Search = %v, want the note with the words before the one with every synonym", got)
	}
}

func TestHintsLeanAndDoNotAsk(t *testing.T) {
	x := indexOf(
		"deploy-web | How to deploy | Push the image and wait.",
		"deploy-api | How to deploy | Push the image and watch it.",
		"theme | Colours | Dark and light.",
	)
	for hint, want := range map[string]string{"web": "deploy-web", "api": "deploy-api"} {
		got := ids(x.Search(recall.Query{Text: "deploy", Hints: []string{hint, "colours"}}))
		if !slices.Equal(got[:1], []string{want}) || slices.Contains(got, "theme") {
			t.Errorf("with hint %s: %v, want %s first and no theme", hint, got, want)
		}
	}
	if got := ids(x.Search(recall.Query{Hints: []string{"colours", "fix/1234", "web"}})); !slices.Contains(got, "theme") || !slices.Contains(got, "deploy-web") {
		t.Errorf("hints alone find %v, want theme and deploy-web", got)
	}
	for _, r := range x.Search(recall.Query{Hints: []string{"colours"}})[0].Why {
		if r.Kind != recall.Hint {
			t.Errorf("reason %v, want a hint", r)
		}
	}
	if got := x.Search(recall.Query{Text: "ok merci", Hints: []string{"colours"}}); len(got) != 0 {
		t.Errorf("thanks find %v, want nothing", got)
	}
}

func TestSearchOfNothing(t *testing.T) {
	empty := recall.NewIndex()
	x := indexOf("a-note | Something | Some text.")
	for _, q := range []recall.Query{{}, {Text: "  \n"}, {Text: "how do we do it?"}, {Text: "\xff\xfe"}, {Text: "???"}, {Hints: []string{"", "the"}}} {
		if got := append(x.Search(q), empty.Search(q)...); len(got) != 0 {
			t.Errorf("Search(%+v) = %v, want nothing", q, got)
		}
	}
	if got := empty.Search(recall.Query{Text: "deploy"}); len(got) != 0 {
		t.Errorf("an empty index finds %v", got)
	}
}

func TestCopiesAreReturnedOnce(t *testing.T) {
	text := "The gateway drops idle connections after ninety seconds, so the client sends a ping each minute and reconnects when it is not answered."
	x := indexOf(
		"idle-gateway | Idle connections | "+text,
		"idle-gateway-copy | Idle connections | "+text,
		"idle-database | Idle connections of the database | The pool closes idle connections after five minutes.",
		"unrelated | Fonts | Inter everywhere.",
	)
	if got, want := ask(x, "idle connections of the gateway"), []string{"idle-gateway", "idle-database"}; !slices.Equal(got, want) {
		t.Errorf("Search = %v, want %v", got, want)
	}
}

func TestLinkedNotesFollow(t *testing.T) {
	x := indexOf(
		"certificates | Renewing certificates | Runs by itself; when it does not, see [[manual-renewal]].",
		"manual-renewal | Steps by hand | Stop the balancer, run the script, start the balancer.",
		"hub | Everything | "+strings.Repeat("[[certificates]] ", 3)+"and many more.",
	)
	got := ask(x, "certificates")
	if len(got) < 2 || got[0] != "certificates" || !slices.Contains(got, "manual-renewal") {
		t.Errorf("Search = %v, want certificates, and manual-renewal by its link", got)
	}
	x.Delete("manual-renewal")
	if got := ask(x, "certificates"); slices.Contains(got, "manual-renewal") {
		t.Errorf("Search = %v after the linked note is gone", got)
	}
}

func TestOrderIsStableAndLimited(t *testing.T) {
	x := recall.NewIndex()
	for i := range 30 {
		x.Put(recall.Note{ID: fmt.Sprintf("note-%02d", (i*7)%30), Body: fmt.Sprintf("Subject matter %s%d.", strings.Repeat("distinct ", i%5), i)})
	}
	first := x.Search(recall.Query{Text: "subject matter", Limit: 12})
	if len(first) != 12 {
		t.Fatalf("%d hits, want 12", len(first))
	}
	for i := 1; i < len(first); i++ {
		a, b := first[i-1], first[i]
		if a.Score < b.Score || a.Score == b.Score && a.ID > b.ID {
			t.Errorf("%v before %v", a, b)
		}
	}
	if diff := cmp.Diff(first, x.Search(recall.Query{Text: "subject matter", Limit: 12})); diff != "" {
		t.Errorf("second answer differs:\n%s", diff)
	}
	if got := len(x.Search(recall.Query{Text: "subject matter"})); got != 5 {
		t.Errorf("%d hits without a limit, want 5", got)
	}
}

// TestLongPromptFindsItsNote asks with a whole first prompt, of which the note
// answers one part.
func TestLongPromptFindsItsNote(t *testing.T) {
	c := readCorpus(t, "harbour.txt")
	x := c.index()
	prompt := `I would like you to look at the branch that Marta left before her leave. She began to change how
readings are taken from the quarantine topic, so that those whose vessel is unknown are sent back through
once the registry has it. Please read what is there, make the unit tests pass, keep the public types as they
are, and write a short summary of what you changed. Do not touch the build files. If something is unclear
then stop and tell me instead of guessing, and do not commit.`
	if got := ask(x, prompt); len(got) == 0 || got[0] != "keel-poison" {
		t.Errorf("Search = %v, want keel-poison first", got)
	}
	huge := strings.Repeat("lorem ipsum dolor sit amet ", 20_000)
	if got := ask(x, huge+"quarantine"); len(got) != 0 {
		t.Errorf("text far beyond the limit finds %v", got)
	}
}

// TestExplainedHits asks for reasons of all, some and none of the hits.
func TestExplainedHits(t *testing.T) {
	x := recall.NewIndex()
	for i := range 3 {
		x.Put(recall.Note{ID: fmt.Sprintf("n%d", i), Description: "deploy", Body: fmt.Sprintf("w%dx y%dz v%du t%ds", i, i, i, i)})
	}
	for explained, want := range map[int]int{0: 3, 2: 2, -1: 0, 9: 3} {
		hits := x.Search(recall.Query{Text: "deploy", Explained: explained})
		got := 0
		for _, h := range hits {
			if len(h.Why) > 0 {
				got++
			}
		}
		if len(hits) != 3 || got != want {
			t.Errorf("explained %d: %d of %d hits have reasons, want %d of 3", explained, got, len(hits), want)
		}
	}
}
