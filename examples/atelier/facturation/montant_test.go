package facturation

import "testing"

func TestTotalArronditUneFoisParTaux(t *testing.T) {
	lignes := []Ligne{
		{"Chambre à air", 1, 4_13, 2000},
		{"Patins de frein", 1, 4_13, 2000},
		{"Main-d'œuvre", 1, 25_00, 2000},
	}
	horsTaxe, taxe := Total(lignes) // ligne par ligne, on trouverait 6,66 €
	if horsTaxe != 33_26 || taxe != 6_65 {
		t.Errorf("total = %v et %v, attendu 33,26 € et 6,65 €", horsTaxe, taxe)
	}
}

func TestDemiPair(t *testing.T) {
	for n, attendu := range map[int64]Montant{5: 0, 15: 2, 25: 2, 26: 3, -5: 0, -15: -2} {
		if got := demiPair(n, 10); got != attendu {
			t.Errorf("demiPair(%d, 10) = %d, attendu %d", n, got, attendu)
		}
	}
}

func TestMontantEnToutesLettres(t *testing.T) {
	for m, attendu := range map[Montant]string{0: "0,00 €", 5: "0,05 €", -1250: "-12,50 €"} {
		if m.String() != attendu {
			t.Errorf("%d s'écrit %q, attendu %q", int64(m), m.String(), attendu)
		}
	}
}
