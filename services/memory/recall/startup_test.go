package recall

import "testing"

// BenchmarkGlossary reads the built-in glossary, which the first index of a
// process waits for.
func BenchmarkGlossary(b *testing.B) {
	for b.Loop() {
		readGlossary()
	}
}
