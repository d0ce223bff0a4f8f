package recall

import (
	"embed"
	"slices"
	"strings"
	"sync"
)

//go:embed glossary/*.txt
var glossaryFiles embed.FS

// glossary knows which words and phrases stand for each other. It does not
// change once built.
type glossary struct {
	groups  []glossGroup
	content map[string][]glossRef // first word with meaning to phrases
	full    map[string][]glossRef // first word to phrases met word for word
	english map[string]bool       // words of the English phrases, as written
	french  map[string]bool       // words of the French phrases, as written
}

// glossGroup is one line of the file.
type glossGroup struct {
	phrases []glossPhrase
}

// glossPhrase is one word or phrase of a group.
type glossPhrase struct {
	text    string
	words   []string // stem keys of the words with meaning
	full    []string // stem keys of all words
	forms   []string // the words with meaning, folded
	asks    bool     // begins with a question word
	spoken  bool     // met word for word in queries, never looked for in notes
	titled  bool     // one question word, which titles of notes may have
	related bool
}

type glossRef struct{ group, phrase int }

var builtinGlossary = sync.OnceValue(readGlossary)

func readGlossary() *glossary {
	entries, err := glossaryFiles.ReadDir("glossary")
	if err != nil {
		panic(err) // the files are part of the program
	}
	var all strings.Builder
	for _, e := range entries {
		data, err := glossaryFiles.ReadFile("glossary/" + e.Name())
		if err != nil {
			panic(err)
		}
		all.Write(data)
	}
	return parseGlossary(all.String())
}

// parseGlossary reads groups of words, one group a line:
//
//	en, en = fr, fr ~ near, near
//
// The words and phrases on both sides of "=" stand for each other. Those after
// "~", in either language, are near them and count less; they do not stand for
// each other. A phrase is met by its words in that order, whatever function
// words are between; one with a question word is met word for word. In a note
// its words may have any order within one field. "#" begins a comment.
func parseGlossary(text string) *glossary {
	g := &glossary{content: map[string][]glossRef{}, full: map[string][]glossRef{}, english: map[string]bool{}, french: map[string]bool{}}
	var near []string
	englishStem, frenchStem := remembered(englishStem), remembered(frenchStem)
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		same, related, _ := strings.Cut(line, "~")
		en, fr, _ := strings.Cut(same, "=")
		var group glossGroup
		group.add(en, englishStem, false, g.english)
		group.add(fr, frenchStem, false, g.french)
		g.groups, near = append(g.groups, group), append(near, related)
	}
	for i, related := range near { // now it is known which words are whose
		for item := range strings.SplitSeq(related, ",") {
			english, french := g.phraseLanguages(item)
			if english {
				g.groups[i].add(item, englishStem, true, nil)
			}
			if french {
				g.groups[i].add(item, frenchStem, true, nil)
			}
		}
	}
	for i, group := range g.groups {
		for j, p := range group.phrases {
			if p.spoken {
				g.full[p.full[0]] = append(g.full[p.full[0]], glossRef{i, j})
			} else {
				g.content[p.words[0]] = append(g.content[p.words[0]], glossRef{i, j})
			}
		}
	}
	return g
}

// languages reports in which languages a word may be: in one only when the
// glossary has it, as it is written, in that one and not in the other.
func (g *glossary) languages(word string) (english, french bool) {
	english, french = g.english[word], g.french[word]
	if !english && !french {
		return true, true
	}
	return english, french
}

// remembered keeps the answers of a stemmer, which is slow beside a map.
func remembered(stem func(string) string) func(string) string {
	known := map[string]string{}
	return func(word string) string {
		s, ok := known[word]
		if !ok {
			s = stem(word)
			known[word] = s
		}
		return s
	}
}

// phraseLanguages reports in which languages the glossary has all words of a phrase;
// both when it has them in none.
func (g *glossary) phraseLanguages(phrase string) (english, french bool) {
	english, french = true, true
	new(tokenizer).run(phrase, func(tok token) {
		english = english && (tok.whole || g.english[tok.text])
		french = french && (tok.whole || g.french[tok.text])
	})
	if !english && !french {
		return true, true
	}
	return english, french
}

// keys returns the stem keys by which a word of a query is looked up: of the
// query's language, and of the other one only for a word the glossary has as
// it is written.
func (g *glossary) keys(w *word, lang language) [2]string {
	keys := [2]string{w.en, w.fr}
	if lang == englishLanguage && !g.french[w.text] {
		keys[1] = ""
	}
	if lang == frenchLanguage && !g.english[w.text] {
		keys[0] = ""
	}
	return keys
}

// add parses a comma-separated side of a line.
func (g *glossGroup) add(side string, stem func(string) string, related bool, written map[string]bool) {
	var t tokenizer
	for item := range strings.SplitSeq(side, ",") {
		p := glossPhrase{text: strings.TrimSpace(item), related: related}
		last, plain, negated := "", 0, false
		t.run(item, func(tok token) {
			if tok.whole {
				return
			}
			p.asks = p.asks || len(p.full) == 0 && questionWords[tok.text]
			p.full = append(p.full, stem(tok.text))
			if written != nil {
				written[tok.text] = true
			}
			last = tok.text
			negated = negated || negations[tok.text]
			if noise(tok.text) && !titleQuestions[tok.text] {
				return
			}
			p.words = append(p.words, stem(tok.text))
			p.forms = append(p.forms, tok.text)
			if wordWeight(tok.text, unknownLanguage) == 1 {
				plain++
			}
		})
		cut := len(p.words) < len(p.full)
		p.titled = p.asks && len(p.full) == 1 && len(p.words) == 1
		p.spoken = p.asks || negated || repeats(p.words) || cut && (plain == 0 || noise(last) && len(p.words) == 1)
		if len(p.full) == 0 || g.has(p) {
			continue
		}
		g.phrases = append(g.phrases, p)
	}
}

// repeats reports whether a word stands twice in a phrase, as in "bit by bit".
func repeats(words []string) bool {
	for i, w := range words {
		if slices.Contains(words[:i], w) {
			return true
		}
	}
	return false
}

// has reports whether the group holds p already, as when both languages stem
// a word alike.
func (g *glossGroup) has(p glossPhrase) bool {
	return slices.ContainsFunc(g.phrases, func(o glossPhrase) bool { return slices.Equal(o.full, p.full) })
}

var questionWords = set("how who whom whose what which where when why combien qui quand ou quoi quel quelle quels quelles comment pourquoi")

// titleQuestions are the question words that are indexed, in ids and where a
// title begins: a note called "who to call" answers a question of who.
var titleQuestions = set("who why when qui pourquoi quand combien")

var negations = set("not no without never cannot doesn don isn ne pas sans jamais non")

// How much what the glossary knows counts beside the word itself.
const (
	sameWeight    = 0.75
	relatedWeight = 0.5
)

// weightBetween says how much phrase b counts for phrase a of one group; 0 is
// not at all.
func weightBetween(a, b glossPhrase) float64 {
	switch {
	case a.related && b.related:
		return 0
	case a.related || b.related:
		return relatedWeight
	}
	return sameWeight
}
