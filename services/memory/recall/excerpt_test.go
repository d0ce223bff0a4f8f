package recall_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/idea-ide/ideai/services/memory/recall"
)

func wordCount(s string) int { return len(strings.Fields(s)) }

const manual = `Introductory words that say little about anything in particular.

# Operations

General advice for operators of the system.

## Restart

Stop the worker first, then the gateway. Never the other way round.

## Certificates

Certificates are renewed on the first of the month.

- The root certificate is in the safe.
- The lamp in the corridor is blue.
- Renewal by hand needs two people.

` + "```sh\nrenew --now\n\nrenew --check\n```" + `

# History

Once upon a time there was only one server.
`

func excerptOf(body, query string, tokens int) string {
	x := recall.NewIndex()
	x.Put(recall.Note{ID: "manual", Body: body})
	return x.Excerpt("manual", recall.Query{Text: query}, tokens, wordCount)
}

func TestExcerptTakesWhatAnswers(t *testing.T) {
	for _, c := range []struct {
		name, query string
		tokens      int
		want        string
	}{
		{"whole", "certificates", 200, strings.TrimSpace(manual)},
		{"no room", "certificates", 0, ""},
		{"one passage under its headings", "restart the worker", 24,
			"[…]\n\n# Operations\n\n[…]\n\n## Restart\n\nStop the worker first, then the gateway. Never the other way round.\n\n[…]"},
		{"items of a list, with the gap marked", "renewal of the root certificate", 36,
			"[…]\n\n# Operations\n\n[…]\n\n## Certificates\n\nCertificates are renewed on the first of the month.\n\n- The root certificate is in the safe.\n\n[…]\n\n- Renewal by hand needs two people.\n\n[…]"},
		{"by the glossary", "relancer", 24,
			"[…]\n\n# Operations\n\n[…]\n\n## Restart\n\nStop the worker first, then the gateway. Never the other way round.\n\n[…]"},
		{"no match gives the beginning", "zebra", 14, "Introductory words that say little about anything in particular.\n\n[…]"},
	} {
		if got := excerptOf(manual, c.query, c.tokens); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	if got := recall.NewIndex().Excerpt("absent", recall.Query{Text: "x"}, 10, wordCount); got != "" {
		t.Errorf("an absent note gives %q", got)
	}
}

func TestExcerptCutsWhatIsTooLong(t *testing.T) {
	for before, want := range map[int]string{
		0:   "needle word word word word word word word word word word […]",
		250: "[…] word word word needle word word word word word word […]",
		500: "[…] word word word word word word word word word word needle",
	} {
		body := strings.Repeat("word ", before) + "needle" + strings.Repeat(" word", 500-before)
		if got := excerptOf(body, "needle", 12); got != want {
			t.Errorf("needle after %d words: %q, want %q", before, got, want)
		}
	}
}

func TestExcerptFitsAndQuotes(t *testing.T) {
	block := rapid.SampledFrom([]string{
		"# One", "## Two", "### Three", "A paragraph about certificates and renewal.", "Nothing here. But there is more; much more! Is there?",
		"- item about restart", "1. first step", "```\ncode certificates\n\nmore code\n```", "```\nnever closed", strings.Repeat("long words of a long paragraph. ", 30), "été à la plage…", "",
	})
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(block, 0, 20).Draw(t, "blocks"), rapid.SampledFrom([]string{"\n", "\n\n", "\r\n\r\n"}).Draw(t, "separator"))
		tokens := rapid.IntRange(0, 60).Draw(t, "tokens")
		got := excerptOf(body, rapid.SampledFrom([]string{"certificates renewal", "restart", "zebra", ""}).Draw(t, "query"), tokens)
		if n := wordCount(got); n > tokens {
			t.Fatalf("%d tokens of %d: %q", n, tokens, got)
		}
		if !utf8.ValidString(got) {
			t.Fatalf("not UTF-8: %q", got)
		}
		rest := strings.Join(strings.Fields(body), " ")
		for part := range strings.SplitSeq(got, "[…]") {
			part = strings.Join(strings.Fields(part), " ")
			at := strings.Index(rest, part)
			if at < 0 {
				t.Fatalf("%q is not in the note, or not in its order", part)
			}
			rest = rest[at+len(part):]
		}
	})
}
