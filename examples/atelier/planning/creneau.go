// Package planning découpe les journées d'un atelier en créneaux.
package planning

import "time"

// Creneau est une plage de rendez-vous ; ses heures sont en UTC.
type Creneau struct {
	Debut, Fin time.Time
}

// Jour rend les créneaux d'une journée, de l'ouverture à la fermeture comptées
// en heures locales : le jour du changement d'heure n'a pas 24 heures.
func Jour(annee int, mois time.Month, jour int, lieu *time.Location, ouverture, fermeture int, duree time.Duration) []Creneau {
	debut := time.Date(annee, mois, jour, ouverture, 0, 0, 0, lieu)
	fin := time.Date(annee, mois, jour, fermeture, 0, 0, 0, lieu)
	var creneaux []Creneau
	for t := debut; !t.Add(duree).After(fin); t = t.Add(duree) {
		creneaux = append(creneaux, Creneau{t.UTC(), t.Add(duree).UTC()})
	}
	return creneaux
}
