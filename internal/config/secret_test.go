package config

import (
	"strings"
	"testing"
)

// No setting is secret yet; the first one must not be shown.
func TestSecretsAreHidden(t *testing.T) {
	l := &Loaded{Config: Config{Person: "s3cret"}, origins: map[string]string{"inner.password": "env IDEAI_INNER_PASSWORD"}}
	keys := []Key{
		{Name: "inner.password", Secret: true, get: func(c Config) string { return c.Person }},
		{Name: "inner.unset", Secret: true, get: func(Config) string { return "" }},
	}
	var out strings.Builder
	if err := show(&out, l.values(keys)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "s3cret") || !strings.Contains(out.String(), hidden) || strings.Count(out.String(), hidden) != 1 {
		t.Fatal(out.String())
	}
}
