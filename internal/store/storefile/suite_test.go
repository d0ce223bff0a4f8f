package storefile

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/idea-ide/ideai/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testBuffer = 40

func testOptions() Options {
	return Options{Service: "test", Buffer: testBuffer, SegmentBytes: 4 << 10}
}

func openTest(t testing.TB, tree string, opts Options) *Store {
	t.Helper()
	s, err := Open(tree, Folder, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func harness() storetest.Harness {
	return storetest.Harness{
		Open: func(t *testing.T) storetest.Store { return openTest(t, t.TempDir(), testOptions()) },
		Reopen: func(t *testing.T, s storetest.Store) storetest.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return openTest(t, s.(*Store).tree, testOptions())
		},
		Crash: func(t *testing.T, s storetest.Store) storetest.Store {
			s.(*Store).lock.release()
			t.Cleanup(func() { _ = s.Close() })
			return openTest(t, s.(*Store).tree, testOptions())
		},
		Second: func(_ *testing.T, s storetest.Store) error {
			_, err := Open(s.(*Store).tree, Folder, testOptions())
			return err
		},
		Buffer: testBuffer,
		Limits: storetest.Limits{Nested: "a file cannot be a folder as well"},
	}
}

func TestStore(t *testing.T) { storetest.Run(t, harness()) }

func TestStoreUnderFaults(t *testing.T) { storetest.Run(t, storetest.UnderFaults(harness(), 8)) }
