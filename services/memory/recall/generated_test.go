package recall_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/idea-ide/ideai/services/memory/recall"
)

// subject is one thing a team writes down about each of its components.
type subject struct {
	name, body                  string
	keyword, paraphrase, french string // %s is the component
}

var components = strings.Fields(`booking parking tickets lighting heating elevator badges cleaning catering printing
	archive forms payroll surveys library museum theatre transit bikes ferries
	permits taxes census voting weather-station noise-map trees water sewage waste
	street-works playgrounds sports-hall cemetery markets newsletter open-data intranet kiosk call-centre`)

var subjects = []subject{
	{"reprise après échec", "Un appel raté est refait trois fois, à 1, 4 et 16 secondes, avec un écart tiré au sort. Un paiement n'est jamais refait sans sa clé d'opération.",
		"%s clé d'opération 16 secondes", "what do we do when a call from %s does not succeed", "combien de fois %s rejoue-t-il un appel raté"},
	{"big result sets", "Clients ask for at most 250 rows and pass back the opaque marker of the last one. Row numbers were given up because rows move while people read.",
		"%s opaque marker 250 rows", "how are huge listings of %s delivered in portions", "%s : parcourir une longue liste page par page"},
	{"euros", "Sums travel as whole cents in a 64-bit integer. Fractions appear only on the printed receipt, rounded to even.",
		"%s whole cents 64-bit", "how are amounts of money represented by %s", "%s : arrondi des sommes d'argent"},
	{"tests capricieux", "Le scénario complet tombait une fois sur dix parce que le port était encore pris par l'exécution d'avant. Chaque test prend maintenant un port libre.",
		"%s scénario port libre", "intermittent failures in the %s suite", "pourquoi les tests de %s sont-ils instables"},
	{"memory after a week", "The registry of listeners was never emptied and the heap gained 40 MB a day. A weak map and a weekly soak run keep it at 90 MB.",
		"%s registry of listeners weak map", "why did %s eat more and more RAM", "%s : fuite de mémoire corrigée"},
	{"évolution des tables", "Toute modification passe par quatre étapes : ajouter la colonne, écrire des deux côtés, copier l'existant la nuit, retirer l'ancienne. Aucun verrou long en journée.",
		"%s quatre étapes colonne copier", "altering the %s schema while people keep using it", "modifier la structure de la base de %s sans coupure"},
	{"shipping a version", "Versions are cut on the first Monday from a branch that only takes fixes. Fixes land on main first and are picked over.",
		"%s first Monday branch fixes", "how does a new release of %s get made", "branche de livraison de %s"},
	{"style checks", "The build refuses shadowed names, ignored errors and functions above sixty lines. Files made by the generator are left out.",
		"%s shadowed names sixty lines", "what static analysis is applied to the code of %s", "analyse statique du code de %s"},
	{"attente maximale", "Le guichet attend 3 s, le service 8 s, la tâche de nuit 20 minutes. Le temps restant voyage avec l'appel.",
		"%s guichet 3 s 20 minutes", "timeout values for %s", "délai maximum d'une réponse de %s"},
	{"what goes to the log", "One line for each request: number, place, duration, outcome. Names and addresses of citizens are replaced by a hash.",
		"%s request number place outcome", "are personal details written to the journal of %s", "journalisation de %s et données personnelles"},
	{"par habitant", "Chaque compte a droit à 30 appels par minute, avec une pointe de 60. Au-delà, la réponse dit combien de secondes patienter.",
		"%s 30 appels pointe 60", "throttling of users who call %s too often", "limitation du nombre de requêtes de %s"},
	{"two processors", "The picture for the ARM racks is made on the x86 machine by cross compiling; emulation took forty minutes.",
		"%s ARM racks cross compiling", "building the %s container for another architecture", "%s : construire l'image pour une autre architecture"},
	{"codes de retour", "Les erreurs du domaine deviennent des codes dans une seule table ; une absence n'est pas une erreur dans les journaux.",
		"%s table codes domaine absence", "translating domain failures of %s into status codes", "correspondance entre erreurs et codes pour %s"},
	{"who to call", "The crew of the harbour office looks after it; nights and weekends go to the shared rota, then to Mireille.",
		"%s harbour office Mireille", "which team owns %s", "qui est responsable de %s"},
	{"lectures rapides", "L'index sur (quartier, date décroissante) sert l'écran d'accueil ; celui sur les dossiers ouverts est partiel.",
		"%s index quartier partiel", "what speeds up the front screen query of %s", "quels index pour %s"},
	{"time in tests", "The present moment comes from an object handed in, so a test can stand still on leap day. Stored moments have no offset.",
		"%s leap day object handed", "how can I fake the clock in %s", "figer l'heure dans les tests de %s"},
	{"envois en double", "La clé d'opération est gardée deux jours. La même clé avec un autre contenu est refusée comme conflit.",
		"%s clé deux jours conflit", "idempotency of %s submissions", "que fait %s si la même demande arrive deux fois"},
	{"bad deliveries", "After five tries an envelope goes to the lost-letters table, where the duty person looks each morning and puts it back or burns it.",
		"%s lost-letters envelope five", "what becomes of messages %s fails to process", "file de rejet de %s"},
	{"droits", "Lire demande le rôle agent, modifier le rôle chef de bureau, effacer les deux signatures. Les jetons durent dix minutes.",
		"%s chef de bureau signatures", "who may edit or delete in %s", "droits d'accès de %s"},
	{"first hour", "Clone, run the bootstrap target, wait for the three containers, open localhost on 7070. The demo town has twelve inhabitants.",
		"%s bootstrap 7070 demo town", "getting %s to run on my own computer", "installer %s en local sur ma machine"},
	{"wording and tongues", "Texts shown to citizens are keys in the phrasebook, in French first. A key without English shows the French with a star.",
		"%s phrasebook key star", "localization of labels in %s", "traduction des libellés de %s"},
	{"fin de la première API", "La première interface ferme le 30 septembre. Les communes ont été prévenues trois fois ; un en-tête le rappelle à chaque réponse.",
		"%s 30 septembre communes en-tête", "when will the legacy API of %s be shut off", "fin de vie de l'ancienne interface de %s"},
	{"numbers we watch", "A gauge ends in its unit, a counter in _sum. The street is never a label: there are nine thousand.",
		"%s gauge _sum street label", "naming conventions for the metrics of %s", "nommage des compteurs de %s"},
	{"choix du stockage", "Un fichier SQLite par mairie plutôt qu'un serveur : personne sur place pour l'administrer. À revoir au-delà de vingt écrivains.",
		"%s SQLite mairie écrivains", "rationale for the database used by %s", "pourquoi ce stockage pour %s"},
	{"merging", "One colleague reads small changes, two read anything that the other towns can call. The author presses the button.",
		"%s colleague towns button", "number of approvals before a %s change goes in", "règles de relecture pour %s"},
}

// generated returns a bilingual corpus of a thousand notes, every subject for
// every component, and a question of each kind for a part of them.
func generated() corpus {
	var c corpus
	for i, component := range components {
		for j, s := range subjects {
			id := component + ": " + s.name
			c.notes = append(c.notes, recall.Note{ID: id, Type: "project",
				Body: fmt.Sprintf("%s Concerns services/%s, settled in meeting %d.", s.body, component, (i*7+j)%41)})
			if (i+j)%5 == 0 {
				for kind, text := range map[string]string{"keyword": s.keyword, "paraphrase": s.paraphrase, "french": s.french} {
					c.queries = append(c.queries, question{kind, fmt.Sprintf(text, component), []string{id}})
				}
			}
		}
	}
	return c
}

// large returns n notes of about 200 words with a vocabulary like that of real
// texts: few common words, very many rare ones, the sentences of generated
// among them.
func large(n int) []recall.Note {
	rng := rand.New(rand.NewPCG(7, 11))
	zipf := rand.NewZipf(rng, 1.1, 8, 40_000)
	syllables := strings.Fields("ba ce di fo gu la me ni po ru sa te vi xo za bri cla dre flo gri pla tro spe sto")
	word := func() string {
		var b strings.Builder
		for k := zipf.Uint64() + 30; k > 0; k /= uint64(len(syllables)) {
			b.WriteString(syllables[k%uint64(len(syllables))])
		}
		return b.String()
	}
	known := generated().notes
	notes := make([]recall.Note, n)
	for i := range notes {
		base := known[i%len(known)]
		var b strings.Builder
		b.WriteString("# " + word() + " " + word() + "\n\n" + base.Body + "\n\n")
		for w := range 170 {
			b.WriteString(word())
			if w%17 == 16 {
				b.WriteString(".\n\n")
			} else {
				b.WriteByte(' ')
			}
		}
		notes[i] = recall.Note{ID: fmt.Sprintf("note-%05d", i), Description: base.ID, Type: "project", Body: b.String()}
	}
	return notes
}
