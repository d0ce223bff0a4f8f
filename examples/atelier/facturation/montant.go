// Package facturation calcule les montants et numérote les factures.
package facturation

import "fmt"

// Montant est une somme en centimes d'euro.
type Montant int64

func (m Montant) String() string {
	signe := ""
	if m < 0 {
		signe, m = "-", -m
	}
	return fmt.Sprintf("%s%d,%02d €", signe, m/100, m%100)
}

// Taux est un taux en dix-millièmes : 2000 pour 20 %.
type Taux int64

// Ligne est une ligne de facture, hors taxes.
type Ligne struct {
	Libelle  string
	Quantite int64
	Prix     Montant
	Taxe     Taux
}

// Total additionne les lignes puis calcule la taxe une fois par taux, au
// demi-pair : arrondir chaque ligne donnerait d'autres centimes que la caisse.
func Total(lignes []Ligne) (horsTaxe, taxe Montant) {
	parTaux := map[Taux]Montant{}
	for _, l := range lignes {
		somme := Montant(l.Quantite) * l.Prix
		horsTaxe += somme
		parTaux[l.Taxe] += somme
	}
	for taux, base := range parTaux {
		taxe += demiPair(int64(base)*int64(taux), 10_000)
	}
	return horsTaxe, taxe
}

func demiPair(n, d int64) Montant {
	q, r := n/d, n%d
	if r < 0 {
		q, r = q-1, r+d
	}
	if 2*r > d || 2*r == d && q%2 != 0 {
		q++
	}
	return Montant(q)
}
