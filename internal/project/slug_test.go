package project

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"Boutique Élan":    "boutique-elan",
		"Cœur_de-Métier":   "coeur_de-metier",
		"Straße  &  Płock": "strasse-plock",
		"v1..2":            "v1.2",
		"__x__":            "x",
		"外주":               "",
		"---":              "",
	} {
		if got := Slug(name); got != want {
			t.Errorf("Slug(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestSlugIsAnIDOrEmpty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		slug := Slug(name)
		if slug != "" && !ValidID(slug) {
			t.Fatalf("Slug(%q) = %q", name, slug)
		}
		if again := Slug(slug); again != slug {
			t.Fatalf("not stable: %q then %q", slug, again)
		}
		for n := 1; n < 12; n++ {
			if slug != "" && !ValidID(numbered(slug, n)) {
				t.Fatalf("numbered(%q, %d) = %q", slug, n, numbered(slug, n))
			}
		}
		if !ValidID(marked(slug, name)) {
			t.Fatalf("marked(%q) = %q", slug, marked(slug, name))
		}
	})
}

func FuzzParseNames(f *testing.F) {
	for _, s := range []string{"id: shop", "id: [", "aliases: [a, b]\nid: x", "id: ../x", "- 1", "\x00", "id: !!binary x", "a: &a [*a]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := parseNames(data)
		if err == nil && n.ID != "" && !ValidID(n.ID) {
			t.Fatalf("accepted %q", n.ID)
		}
	})
}
