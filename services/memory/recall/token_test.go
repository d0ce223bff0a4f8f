package recall

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func forms(text string) []string {
	var out []string
	new(tokenizer).run(text, func(tok token) { out = append(out, tok.text) })
	return out
}

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
	}{
		{"Œuvre d'été : l’île, aujourd'hui", "oeuvre ete ile aujourd hui aujourdhui"},
		{"qu'il s'agit jusqu'ici", "il agit ici"},
		{"don't the team's isn't", "don the team isn"},
		{"RecallNotesRequest", "recall notes request recallnotesrequest"},
		{"HTTPServer userID URLs", "http server httpserver user id userid urls"},
		{"snake_case kebab-case", "snake case snakecase kebab case kebabcase"},
		{"_gen.go", "gen go gen.go"},
		{"internal/auth/token.go", "internal auth token go token.go internal/auth/token.go"},
		{"--platform=$BUILDPLATFORM", "platform buildplatform"},
		{"v1.2.3 and 1.26.8", "v1.2.3 and 1.26.8"},
		{"ERR_CONN_RESET E1234 409", "err conn reset errconnreset e1234 1234 409"},
		{"arm64 200ms", "arm64 arm 200ms 200"},
		{"C++ or C#", "c++ or c#"},
		{"x y 7", ""},
		{"日本語 メモ", "日本 本語 メモ"},
		{"поиск заметок", "поиск заметок"},
		{"Müller straße", "muller strasse"},
		{"a\u0301t\u0065\u0301", "ate"},
		{strings.Repeat("a", 200), ""},
		{"end.Next one", "end next end.next one"},
	} {
		if got := strings.Join(forms(c.text), " "); got != c.want {
			t.Errorf("tokens of %q = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestStems(t *testing.T) {
	for _, c := range []struct {
		stem     func(string) string
		together string
	}{
		{englishStem, "retry retries retried retrying"},
		{englishStem, "migrate migration migrations migrating"},
		{englishStem, "responsible responsibility"},
		{frenchStem, "migre migree migrees migres migrer"},
		{frenchStem, "livraison livraisons"},
		{frenchStem, "regle regles"},
	} {
		words := strings.Fields(c.together)
		for _, w := range words[1:] {
			if c.stem(w) != c.stem(words[0]) {
				t.Errorf("stem of %s is %s, that of %s is %s", w, c.stem(w), words[0], c.stem(words[0]))
			}
		}
	}
	if englishStem("response") == englishStem("responsible") {
		t.Error("response and responsible have one stem")
	}
}

// FuzzTokens checks what the index relies on: forms are valid, folded, short
// and no more than a small multiple of the text.
func FuzzTokens(f *testing.F) {
	for _, seed := range []string{"", "l'été", "a_b-c/d.e", "\xff\xfe", "İstanbul ǅ", "日本語text", "’’''", "HTTPServer2XX", "a\u0301\u0301\u0301"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got []token
		words := new(tokenizer).run(text, func(tok token) { got = append(got, tok) })
		if len(got) > 4*len(text)+4 || words > len(text) {
			t.Fatalf("%d forms and %d words in %d bytes", len(got), words, len(text))
		}
		for _, tok := range got {
			if tok.text == "" || len(tok.text) > maxWord || !utf8.ValidString(tok.text) {
				t.Fatalf("form %q", tok.text)
			}
			if tok.pos < 0 || tok.pos > words {
				t.Fatalf("form %q at %d of %d words", tok.text, tok.pos, words)
			}
			englishStem(tok.text)
			frenchStem(tok.text)
		}
		if again := forms(text); !slices.EqualFunc(again, got, func(s string, tok token) bool { return s == tok.text }) {
			t.Fatal("not the same twice")
		}
	})
}

func TestLinks(t *testing.T) {
	n := Note{ID: "self", Body: "See [[Other]], [[folder/third|the third]], [[fourth#part]], [x](../memory/fifth.md#top), [y](https://a.b/c.md), [z](page.html) and [[self]]."}
	if got, want := strings.Join(links(n), " "), "fifth fourth other third"; got != want {
		t.Errorf("links = %q, want %q", got, want)
	}
}

func TestGlossaryIsLarge(t *testing.T) {
	g := builtinGlossary()
	french := 0
	for _, group := range g.groups {
		if len(group.phrases) < 2 {
			t.Errorf("a group has only %v", group.phrases)
		}
		for _, p := range group.phrases {
			if !p.related && len(p.words) > 0 && p.words[0][0] == frenchClass {
				french++
				break
			}
		}
	}
	if len(g.groups) < 500 || french < 400 {
		t.Errorf("%d groups, %d with French", len(g.groups), french)
	}
}

func TestCounts(t *testing.T) {
	var c counts
	for range 5000 {
		for f := range fieldCount {
			c = c.plus(f)
		}
	}
	for f := range fieldCount {
		if got, want := c.of(f), uint32(1)<<countBits[f]-1; got != want {
			t.Errorf("field %d counts %d, want to stop at %d", f, got, want)
		}
	}
}
