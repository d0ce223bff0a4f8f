package rpc

import (
	"slices"
	"testing"
)

// The order is a promise: see chain.
func TestChainOrder(t *testing.T) {
	var got []string
	for _, l := range chain(ServerConfig{}.withDefaults()) {
		got = append(got, l.name)
		if l.unary == nil || l.stream == nil {
			t.Errorf("%s is not for unary calls and streams alike", l.name)
		}
	}
	want := []string{"request id", "access log", "metrics", "errors", "recovery", "auth", "limits", "validation"}
	if !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}
