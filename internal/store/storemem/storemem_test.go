package storemem_test

import (
	"testing"

	"go.uber.org/goleak"

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
