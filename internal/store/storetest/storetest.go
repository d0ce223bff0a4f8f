// Package storetest holds every driver to the contract of package store: the
// same named tests for each, also under injected faults.
package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/idea-ide/ideai/internal/store"
)

// Store is what a driver under test is.
type Store interface {
	store.Docs
	store.Log
	Close() error
}

// Harness is a driver under test. Each test gets a store of its own.
type Harness struct {
	// Open returns an empty store. The test closes it.
	Open func(t *testing.T) Store
	// Reopen closes a store and opens the same data again.
	Reopen func(t *testing.T, s Store) Store
	// Crash leaves a store as the end of its process would, and opens the same
	// data again.
	Crash func(t *testing.T, s Store) Store
	// Second tries to open the same data while s has it.
	Second func(t *testing.T, s Store) error
	// Buffer is how many changed documents a watcher of a store from Open may
	// be behind. It must be small: ErrLagged is tested by exceeding it.
	Buffer int
	// Limits says what the driver cannot do.
	Limits Limits
}

// Limits are a driver's exceptions. Each is the reason why its tests are left
// out; the zero value runs everything.
type Limits struct {
	Reopen string // data does not outlive the store
	Second string // several stores may have the same data
	Nested string // a key and a key below it cannot both be documents
	// Ambiguous: who of several won cannot be told, because an error does not
	// say whether it happened.
	Ambiguous string
}

type test struct {
	name string
	run  func(t *testing.T, h Harness)
}

type group struct {
	name  string
	skip  func(Limits) string
	tests []test
}

// Run holds a driver to the contract.
func Run(t *testing.T, h Harness) {
	groups := []group{
		{name: "basic", tests: basicTests},
		{name: "compare-and-set", tests: casTests},
		{name: "list", tests: listTests},
		{name: "watch", tests: watchTests},
		{name: "interrupted-watch", tests: cutTests},
		{name: "close", tests: closeTests},
		{name: "keys", tests: keyTests},
		{name: "sizes", tests: sizeTests},
		{name: "concurrency", tests: concurrencyTests},
		{name: "log", tests: logTests},
		{name: "tail", tests: tailTests},
		{name: "reopen", tests: reopenTests, skip: func(l Limits) string { return l.Reopen }},
		{name: "model", tests: modelTests},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			if g.skip != nil {
				skipFor(t, g.skip(h.Limits))
			}
			for _, tt := range g.tests {
				t.Run(tt.name, func(t *testing.T) { tt.run(t, h) })
			}
		})
	}
}

func skipFor(t *testing.T, reason string) {
	t.Helper()
	if reason != "" {
		t.Skip(reason)
	}
}

// patience is how long a test waits for what must come.
const patience = time.Minute

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// open returns an empty store that the test need not close.
func open(t *testing.T, h Harness) Store {
	t.Helper()
	return closing(t, h.Open(t))
}

// closing closes a store when the test ends.
func closing(t *testing.T, s Store) Store {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}
