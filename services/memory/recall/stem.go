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

// irregular leads forms that no suffix rule reaches to the word they belong to.
var irregular = map[byte]map[string]string{englishClass: pairs(`
	written write rewritten rewrite overwritten overwrite wrote write chosen choose chose choose broken break broke break
	kept keep sent send built build rebuilt rebuild ran run took take taken take lost lose found find left leave held hold
	made make told tell sold sell bought buy paid pay hidden hide forgotten forget forgot forget frozen freeze froze freeze
	given give gave give shown show seen see saw see known know knew know grown grow grew grow thrown throw threw throw
	drawn draw begun begin began begin stuck stick spent spend lent lend meant mean met meet fed feed led lead won win
	bound bind wound wind understood understand stood stand caught catch taught teach brought bring thought think
	sought seek fought fight slept sleep swept sweep crept creep felt feel dealt deal dug dig hung hang swung swing
	spoken speak spoke speak stolen steal woken wake woke wake driven drive drove drive risen rise rose rise fallen fall
	fell fall eaten eat ate eat worn wear torn tear born bear sworn swear flown fly blown blow shaken shake
	indices index matrices matrix schemata schema criteria criterion statuses status people person children child
	men man women woman lives life halves half
	`), frenchClass: pairs(`
	ecrit ecrire ecrite ecrire ecrits ecrire ecrites ecrire reecrit reecrire reecrite reecrire recu recevoir recue recevoir
	recus recevoir recues recevoir perdu perdre perdue perdre perdus perdre perdues perdre vendu vendre vendue vendre
	rendu rendre rendue rendre lu lire lue lire lus lire lues lire pris prendre prise prendre
	connu connaitre connue connaitre connus connaitre tenu tenir tenue tenir choisi choisir choisie choisir choisis choisir choisies choisir
	choix choisir suivi suivre suivie suivre ouvert ouvrir ouverte ouvrir ouverts ouvrir couvert couvrir couverte couvrir
	eteint eteindre eteinte eteindre detruit detruire detruite detruire construit construire construite construire
	traduit traduire traduite traduire traduits traduire reduit reduire reduite reduire vendus vendre
	echu echoir deduit deduire introduit introduire joint joindre jointe joindre atteint atteindre atteinte atteindre
	deviennent devenir devient devenir viennent venir vient venir revient revenir reviennent revenir
	journaux journal canaux canal signaux signal totaux total generaux general locaux local principaux principal
	verrous verrou yeux oeil
	`)}

func pairs(text string) map[string]string {
	words := strings.Fields(text)
	out := make(map[string]string, len(words)/2)
	for i := 0; i+1 < len(words); i += 2 {
		out[words[i]] = words[i+1]
	}
	return out
}

// englishStem returns the key of the English stem of a folded word.
func englishStem(word string) string {
	if !stemmable(word) {
		return string(englishClass) + word
	}
	if base, ok := irregular[englishClass][word]; ok {
		word = base
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
	if base, ok := irregular[frenchClass][word]; ok {
		word = base
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
