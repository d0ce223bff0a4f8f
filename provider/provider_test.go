package provider

import "testing"

func TestBuiltin(t *testing.T) {
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Profiles() {
		t.Log(p.ID, len(p.Carriers))
	}
}
