package storemem_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/storemem"
	"github.com/idea-ide/ideai/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const buffer = 40

func harness() storetest.Harness {
	return storetest.Harness{
		Open:   func(*testing.T) storetest.Store { return storemem.NewBuffer(buffer) },
		Buffer: buffer,
		Limits: storetest.Limits{Reopen: "memory does not outlive the store"},
	}
}

func TestStore(t *testing.T) { storetest.Run(t, harness()) }

func TestStoreUnderFaults(t *testing.T) { storetest.Run(t, storetest.UnderFaults(harness(), 8)) }

// The opener gives the same store for the same names, as files do.
func TestOpener(t *testing.T) {
	o := storemem.Opener()
	docs, log, err := o.Runtime(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	again, err := o.Versioned(t.Context(), "p", "")
	if err != nil {
		t.Fatal(err)
	}
	other, err := o.Versioned(t.Context(), "p", "feature")
	if err != nil {
		t.Fatal(err)
	}
	if docs != again || docs != log.(store.Docs) || docs == other {
		t.Fatal("runtime and versioned stores of the main checkout differ, or those of two worktrees do not")
	}
}
