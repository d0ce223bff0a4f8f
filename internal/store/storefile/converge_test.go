package storefile

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/idea-ide/ideai/internal/store"
)

// Whatever people and we do at the same time, a watcher ends with what is there.
func TestWatchersConvergeWithOthers(t *testing.T) {
	for name, opts := range ways {
		t.Run(name, func(t *testing.T) {
			tree := t.TempDir()
			if !opts.deaf {
				opts.Rescan = 200 * time.Millisecond // also hears what it missed
			}
			s := openTest(t, tree, opts)
			defer s.Close()
			w := watchTest(t, s, "memory")
			done := make(chan struct{})
			go func() {
				others(t, s, filepath.Join(tree, Folder, "memory"))
				close(done)
				write(t, tree, "memory/end", "so that one more event comes")
			}()
			state := map[string]string{}
			for quiet := false; !quiet; {
				e := w.take()
				if e.Deleted {
					delete(state, e.Doc.Key)
				} else {
					state[e.Doc.Key] = string(e.Doc.Data)
				}
				select {
				case <-done:
					quiet = state["memory/end"] != "" && maps.Equal(state, texts(t, s))
				default:
				}
			}
		})
	}
}

func texts(t *testing.T, s *Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	for key, doc := range listed(t, s, "memory") {
		out[key] = string(doc.Data)
	}
	return out
}

// others does random things to files.
func others(t *testing.T, s *Store, dir string) {
	r := rand.New(rand.NewPCG(1, 2))
	name := func() string { return fmt.Sprintf("d%d/f%d", r.IntN(3), r.IntN(3)) }
	for i := range 300 {
		full := filepath.Join(dir, name())
		_ = os.MkdirAll(filepath.Dir(full), 0o755)
		switch r.IntN(6) {
		case 0, 1:
			_ = os.WriteFile(full, fmt.Append(nil, i), 0o644)
		case 2:
			_ = os.Rename(full, filepath.Join(dir, name()))
		case 3:
			_ = os.Remove(full)
		case 4:
			_ = os.RemoveAll(filepath.Dir(full))
		case 5:
			// Others remove the folder under us; only the watcher is of interest.
			_, _ = s.Put(t.Context(), "memory/"+name(), fmt.Append(nil, i), store.Any)
		}
	}
}
