package recall

import (
	"testing"

	"pgregory.net/rapid"
)

// TestSketchesNeverClaimTooMuch: what two sketches say is apart is.
func TestSketchesNeverClaimTooMuch(t *testing.T) {
	forms := rapid.MapOf(rapid.Uint32(), rapid.Just(true))
	rapid.Check(t, func(t *rapid.T) {
		a, b := forms.Draw(t, "a"), forms.Draw(t, "b")
		for form := range forms.Draw(t, "both") {
			a[form], b[form] = true, true
		}
		var sketchA, sketchB sketch
		apart := 0
		for form := range a {
			sketchA.add(form)
			if !b[form] {
				apart++
			}
		}
		for form := range b {
			sketchB.add(form)
			if !a[form] {
				apart++
			}
		}
		if got := sketchA.apart(&sketchB); got > apart {
			t.Errorf("apart by %d, the words by %d", got, apart)
		}
	})
}
