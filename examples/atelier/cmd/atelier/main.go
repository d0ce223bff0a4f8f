// Commande atelier : le serveur d'un atelier.
package main

import (
	"flag"
	"fmt"

	"example.org/atelier/facturation"
)

func main() {
	port := flag.Int("port", 8100, "port d'écoute")
	donnees := flag.String("donnees", "", "jeu de données à charger")
	refaire := flag.Bool("refaire", false, "refait le jeu de données")
	flag.Parse()
	horsTaxe, taxe := facturation.Total([]facturation.Ligne{{Libelle: "Révision", Quantite: 1, Prix: 49_00, Taxe: 2000}})
	fmt.Printf("atelier : port %d, données %q (refaire : %v), une révision coûte %v\n", *port, *donnees, *refaire, horsTaxe+taxe)
}
