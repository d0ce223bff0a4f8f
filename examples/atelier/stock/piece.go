// Package stock suit les pièces détachées.
package stock

import (
	"errors"
	"fmt"
)

// Code est un code-barres EAN-13. C'est un texte : beaucoup commencent par zéro.
type Code string

// ErrIndisponible est rendue quand il ne reste pas assez de pièces libres.
var ErrIndisponible = errors.New("pièce indisponible")

// Piece est une référence en stock.
type Piece struct {
	Code      Code
	Quantite  int // sur l'étagère
	Reservees int // promises à des devis acceptés
}

// Reserver promet n pièces à un devis accepté.
func (p *Piece) Reserver(n int) error {
	if libres := p.Quantite - p.Reservees; n > libres {
		return fmt.Errorf("%w : %s, %d demandées, %d libres", ErrIndisponible, p.Code, n, libres)
	}
	p.Reservees += n
	return nil
}
