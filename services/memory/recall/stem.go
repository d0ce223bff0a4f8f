package recall

import (
	"strings"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
)

// Keys of stem classes: words of one English, or one French, stem.
const (
	englishClass = 'e'
	frenchClass  = 'f'
)

// apart has words that the English stemmer would put together with words of
// another meaning, with the stem they get instead.
var apart = map[string]string{
	"responsible": "responsibl", "responsibility": "responsibl", "responsibilities": "responsibl",
	"important": "important", "importance": "important", "importantly": "important",
	"universal": "universal", "numerous": "numerous", "several": "several",
	"organ": "organ", "organs": "organ", "organic": "organic", "authority": "authority", "authorities": "authority",
	"policy": "policy", "policies": "policy", "community": "community", "communities": "community",
	"station": "station", "stations": "station", "relative": "relative", "relatively": "relative",
	"executive": "executive", "portable": "portable", "actor": "actor", "actors": "actor",
	"internal": "internal", "internals": "internal", "international": "international",
	"later": "later", "latest": "latest", "past": "past", "paste": "paste", "pasted": "paste",
	"service": "service", "services": "service", "serve": "serve", "serving": "serve", "server": "server", "servers": "server",
	"customs": "customs", "custom": "custom", "customer": "customer", "customers": "customer", "customize": "customiz",
	"liveness": "liveness", "terminal": "terminal", "terminals": "terminal", "secretary": "secretary", "object": "object", "objective": "objectiv",
	"objectives": "objectiv", "mobile": "mobile", "author": "author", "authors": "author", "general": "general", "generate": "generat",
	"generates": "generat", "generated": "generat", "generating": "generat", "generation": "generat", "generator": "generat",
	"generators": "generat", "generic": "generic", "generics": "generic",
}

// englishStem returns the key of the English stem of a folded word.
func englishStem(word string) string {
	if !stemmable(word) {
		return string(englishClass) + word
	}
	if stem, ok := apart[word]; ok {
		return string(englishClass) + stem
	}
	return string(englishClass) + english.Stem(word, true)
}

// frenchStem returns the key of the French stem of a folded word. The endings
// that accents would tell apart are brought together first.
func frenchStem(word string) string {
	if !stemmable(word) {
		return string(frenchClass) + word
	}
	for _, ending := range []string{"ees", "ee", "es"} {
		if strings.HasSuffix(word, ending) && len(word) > len(ending)+2 {
			word = strings.TrimSuffix(word, ending) + "e"
			break
		}
	}
	return string(frenchClass) + strings.TrimSuffix(french.Stem(word, true), "e")
}

// stemmable reports whether the stemmers know the alphabet of word.
func stemmable(word string) bool {
	if len(word) < 3 {
		return false
	}
	for i := 0; i < len(word); i++ {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return true
}
