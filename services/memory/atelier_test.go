package memorysvc_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	memorysvc "github.com/idea-ide/ideai/services/memory"
)

const atelierNotes = "../../examples/atelier/.ideai/memory"

// atelier runs a service on a copy of the example project.
func atelier(t *testing.T) *memorysvc.Service {
	t.Helper()
	tree := t.TempDir()
	if err := os.CopyFS(filepath.Join(tree, ".ideai", "memory"), os.DirFS(atelierNotes)); err != nil {
		t.Fatal(err)
	}
	return onFiles(t, tree)
}

var wikiLink = regexp.MustCompile(`\[\[([^\]|]+)`)

func TestAtelierNotes(t *testing.T) {
	s := atelier(t)
	list, err := s.ListNotes(t.Context(), here, false, 1000, "")
	if err != nil {
		t.Fatal(err)
	}
	if list.Total < 20 {
		t.Errorf("%d notes, want about twenty", list.Total)
	}
	names, types := map[string]bool{}, map[string]int{}
	for _, n := range list.Notes {
		names[n.ID] = true
		types[n.Type]++
	}
	for _, n := range list.Notes {
		for _, p := range n.Problems {
			t.Errorf("%s: %s", n.ID, p.Message)
		}
		if words := len(strings.Fields(n.Body)); words < 60 || words > 250 {
			t.Errorf("%s has %d words", n.ID, words)
		}
		for _, link := range wikiLink.FindAllStringSubmatch(n.Body, -1) {
			if !names[link[1]] {
				t.Errorf("%s links to %s, which is not there", n.ID, link[1])
			}
		}
	}
	for _, want := range []string{"project", "user", "feedback", "reference"} {
		if types[want] == 0 {
			t.Errorf("no note of type %s", want)
		}
	}
}

//nolint:misspell // the example project is in French
func TestAtelierRecall(t *testing.T) {
	s := atelier(t)
	for _, tc := range []struct{ query, id string }{
		{"comment arrondir les montants d'une facture ?", "arrondi-des-montants"},
		{"un client a été débité deux fois, comment l'éviter", "paiement-en-double"},
		{"pourquoi les accents sont faux sur les étiquettes imprimées", "imprimante-des-etiquettes"},
		{"peut-on renommer un champ de l'API ?", "ne-pas-renommer-l-api"},
		{"ajouter une colonne à une table sans bloquer les ateliers", "migrations-de-schema"},
		{"à quelle heure peut-on envoyer un SMS", "envoi-des-sms"},
		{"les créneaux sont décalés d'une heure fin mars", "fuseau-et-changement-dheure"},
		{"restaurer la base d'un atelier", "sauvegardes-et-restauration"},
		{"le test du planning échoue au hasard", "tests-instables-du-planning"},
		{"quand réserve-t-on une pièce du stock", "reservation-du-stock"},
		{"rédiger le message « votre vélo est prêt »", "ton-des-messages"},
		{"trou dans les numéros de facture", "numerotation-des-factures"},
		{"how are invoice amounts rounded?", "arrondi-des-montants"},
		{"why SQLite instead of Postgres?", "sqlite-par-atelier"},
		{"flaky tests in continuous integration", "tests-instables-du-planning"},
		{"how do we paginate long lists", "listes-par-curseur"},
		{"where are the backups and how do I restore one", "sauvegardes-et-restauration"},
		{"schema migration without downtime", "migrations-de-schema"},
		{"avoid charging a customer twice: idempotency key", "paiement-en-double"},
		{"what shape do API errors have", "erreurs-de-lapi"},
		{"how big may a pull request be", "petites-demandes-de-fusion"},
		{"memory leak when printing PDF invoices", "facture-pdf-sans-navigateur"},
	} {
		t.Run(tc.query, func(t *testing.T) {
			a, err := s.RecallNotes(t.Context(), here, memorysvc.Question{Query: tc.query})
			if err != nil {
				t.Fatal(err)
			}
			if at := slices.Index(ids(a.Notes), tc.id); at < 0 || at > 2 {
				t.Errorf("recalled %v, want %s among the first three", ids(a.Notes), tc.id)
			}
		})
	}
	for _, query := range []string{"kubernetes ingress", "recette de la tarte aux pommes", "submarine periscope"} {
		a, err := s.RecallNotes(t.Context(), here, memorysvc.Question{Query: query})
		if err != nil || len(a.Notes) > 0 {
			t.Errorf("%q recalled %v, %v; want nothing", query, ids(a.Notes), err)
		}
	}
}
