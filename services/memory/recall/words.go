package recall

import (
	_ "embed" // words.txt, elsewhere.txt
	"regexp"
	"strings"
	"sync"
)

//go:embed words.txt
var wordsFile string

//go:embed elsewhere.txt
var elsewhereFile string

// wordClass is a set of classes of words.txt.
type wordClass uint8

const (
	noiseWord wordClass = 1 << iota
	englishStop
	frenchStop
	fillerWord
	weakWord
	elsewhereWord
)

var classNames = map[string]wordClass{
	"[noise]": noiseWord, "[english]": englishStop, "[french]": frenchStop, "[filler]": fillerWord, "[weak]": weakWord, "[talk]": 0,
}

// lexicon is what words.txt and elsewhere.txt say.
type lexicon struct {
	classes map[string]wordClass
	talk    *regexp.Regexp
	weak    map[string]bool // English stems of the weak words
}

var builtinWords = sync.OnceValue(func() lexicon {
	w := lexicon{classes: map[string]wordClass{}, weak: map[string]bool{}}
	var talk []string
	var current wordClass
	for line := range strings.Lines(wordsFile) {
		line = strings.TrimSpace(line)
		class, head := classNames[line]
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case head:
			current = class
		case current == 0:
			talk = append(talk, regexp.QuoteMeta(line))
		default:
			for _, word := range strings.Fields(line) {
				w.classes[word] |= current
				if current == weakWord {
					w.weak[englishStem(word)] = true
				}
			}
		}
	}
	for line := range strings.Lines(elsewhereFile) {
		if !strings.HasPrefix(line, "#") {
			for _, word := range strings.Fields(line) {
				w.classes[word] |= elsewhereWord
			}
		}
	}
	w.talk = regexp.MustCompile(`(?i)(^|[^\pL\d])(?:` + strings.Join(talk, "|") + `)($|[^\pL\d])`)
	return w
})

// noise reports whether a form is never indexed.
func noise(form string) bool { return builtinWords().classes[form]&noiseWord != 0 }

// elsewhere reports whether a form belongs to everyday life outside work.
func elsewhere(form string) bool {
	classes := builtinWords().classes
	return (classes[form]|classes[strings.TrimRight(form, "sx")])&elsewhereWord != 0
}

// language is what a question seems to be written in.
type language uint8

const (
	unknownLanguage language = iota
	englishLanguage
	frenchLanguage
)

// englishSigns and frenchSigns are noise words of one language only.
var (
	englishSigns = set("the and of is are was were this that these those it they we you our with from by at for to in has have does do did don can should would will not how what which where when why who whose about")
	frenchSigns  = set("le les un une des du de et ou ne pas que qui quoi nous vous il elle ils ce cet cette ces est sont dans sur sous avec sans au aux en par quel quelle quels quelles quand pourquoi combien comment faut la y faire fait")
)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// guessLanguage decides by the function words.
func guessLanguage(words []word) language {
	en, fr := 0, 0
	for _, w := range words {
		if englishSigns[w.text] {
			en++
		}
		if frenchSigns[w.text] {
			fr++
		}
	}
	switch {
	case en > fr:
		return englishLanguage
	case fr > en:
		return frenchLanguage
	}
	return unknownLanguage
}

// weakWeight is what a word that any note may have counts.
const weakWeight = 0.35

// wordWeight says how much a form counts in a question, 0 to 1.
func wordWeight(form string, lang language) float64 {
	switch c := builtinWords().classes[form]; {
	case c&(noiseWord|fillerWord) != 0,
		c&englishStop != 0 && lang != frenchLanguage,
		c&frenchStop != 0 && lang != englishLanguage:
		return 0
	case c&weakWord != 0, lang == englishLanguage && builtinWords().weak[englishStem(form)]:
		return weakWeight
	}
	return 1
}
