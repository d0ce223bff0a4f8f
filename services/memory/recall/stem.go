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

// englishStem returns the key of the English stem of a folded word.
func englishStem(word string) string {
	if !stemmable(word) {
		return string(englishClass) + word
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
