package planning

import (
	"testing"
	"time"
)

func TestJourDuChangementDHeure(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Skip("pas de base des fuseaux sur cette machine")
	}
	for nom, jour := range map[string]int{"veille": 28, "changement": 29} {
		creneaux := Jour(2026, time.March, jour, paris, 9, 12, time.Hour)
		if len(creneaux) != 3 || creneaux[0].Debut.In(paris).Hour() != 9 {
			t.Errorf("%s : %v", nom, creneaux)
		}
	}
}
