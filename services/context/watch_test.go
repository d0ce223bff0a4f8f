package contextsvc_test

import (
	"context"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/storemem"
	contextsvc "github.com/idea-ide/ideai/services/context"
)

// lively are files of a worktree that change while they are watched.
type lively struct {
	mu    sync.Mutex
	files memFiles
}

func (l *lively) ReadFile(ctx context.Context, project, worktree, name string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.files.ReadFile(ctx, project, worktree, name)
}

func (l *lively) set(name, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text == "" {
		delete(l.files, name)
		return
	}
	l.files[name] = text
}

// watching is a watch of a project's documents, read step by step.
type watching struct {
	t     *testing.T
	docs  store.Docs
	files *lively
	next  func() (contextsvc.DocumentEvent, error, bool)
	etags map[string]string
}

func watch(t *testing.T, documents map[string]string, files memFiles) *watching {
	t.Helper()
	stores := storemem.Opener()
	docs, err := stores.Versioned(t.Context(), at.Project, at.Worktree)
	if err != nil {
		t.Fatal(err)
	}
	w := &watching{t: t, docs: docs, files: &lively{files: files}, etags: map[string]string{}}
	for key, text := range documents {
		w.put(key, text)
	}
	next, stop := iter.Pull2(newService(t, stores, w.files).WatchDocuments(t.Context(), at))
	t.Cleanup(stop)
	w.next = next
	return w
}

func (w *watching) put(key, text string) {
	w.t.Helper()
	if _, err := w.docs.Put(w.t.Context(), key, []byte(text), store.Any); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watching) event() string {
	w.t.Helper()
	ev, err, ok := w.next()
	switch {
	case !ok:
		return "end"
	case err != nil:
		return "error " + string(fault.ReasonOf(err))
	case ev.Synced:
		return "synced"
	case ev.Deleted != "":
		return "deleted " + ev.Deleted
	}
	if before, told := w.etags[ev.Document.Path]; ev.Document.Etag == "" || told && before == ev.Document.Etag {
		w.t.Errorf("%s: the etag %q says nothing new", ev.Document.Path, ev.Document.Etag)
	}
	w.etags[ev.Document.Path] = ev.Document.Etag
	return ev.Document.Path + " " + ev.Document.Section.String()
}

// until reads events until synced and returns those before, in any order of
// the folders.
func (w *watching) until(want ...string) {
	w.t.Helper()
	open := map[string]bool{}
	for _, e := range want {
		open[e] = true
	}
	for len(open) > 0 {
		got := w.event()
		if !open[got] {
			w.t.Fatalf("event %q, want one of %v", got, open)
		}
		delete(open, got)
	}
}

func TestWatchDocumentsTellsWhatAContextIsMadeOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, map[string]string{
			"project.yaml":           "language: fr\n",
			"CONTEXT.md":             "---\nrules_from: [docs/style.md, docs/none.md]\n---\nRules.\n",
			"agents/dev.md":          "You write.\n",
			"agents/notes.txt":       "no persona",
			"skills/ship/SKILL.md":   "Ship.\n",
			"skills/ship/script.sh":  "no skill",
			"memory/a-note.md":       "not watched here",
			"run/launches/one.json":  "{}",
			"conversations/c1/x.log": "x",
		}, memFiles{"docs/style.md": "Short.", "CLAUDE.md": "Ours.", "README.md": "no rule"})
		w.until(".ideai/project.yaml ", ".ideai/CONTEXT.md rules", ".ideai/agents/dev.md persona", ".ideai/skills/ship/SKILL.md capabilities",
			"docs/style.md rules", "CLAUDE.md rules")
		w.until("synced")

		w.put("agents/dev.md", "You review.\n")
		w.until(".ideai/agents/dev.md persona")
		// Files outside are looked at every two seconds.
		begin := time.Now()
		w.files.set("docs/style.md", "Long.")
		w.until("docs/style.md rules")
		if waited := time.Since(begin); waited > 2*time.Second {
			t.Errorf("a changed file was told after %s", waited)
		}
		w.files.set("docs/none.md", "There now.")
		w.until("docs/none.md rules")
		w.files.set("CLAUDE.md", "")
		w.until("deleted CLAUDE.md")
		// Rules that name another file: it is looked at at once.
		begin = time.Now()
		w.files.set("docs/late.md", "Late.")
		w.put("CONTEXT.md", "---\nrules_from: [docs/late.md]\n---\nRules.\n")
		w.until(".ideai/CONTEXT.md rules")
		w.until("deleted docs/none.md")
		w.until("deleted docs/style.md")
		w.until("docs/late.md rules")
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("the files of new rules were looked at after %s", waited)
		}
		if err := w.docs.Delete(t.Context(), "CONTEXT.md", store.Any); err != nil {
			t.Fatal(err)
		}
		w.until("deleted .ideai/CONTEXT.md")
		w.until("deleted docs/late.md")
	})
}

// Rules that cannot be read do not end a watch: it tells when they are mended.
func TestWatchDocumentsOutlivesBrokenRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, map[string]string{"CONTEXT.md": "---\nrules_from: [docs/style.md\n---\nRules.\n"}, memFiles{"docs/style.md": "Short."})
		w.until(".ideai/CONTEXT.md rules")
		w.until("synced")
		w.put("CONTEXT.md", "---\nrules_from: [docs/style.md, ../outside.md]\n---\nRules.\n")
		w.until(".ideai/CONTEXT.md rules")
		w.until("docs/style.md rules")
	})
}

func TestWatchDocumentsEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		stores := storemem.Opener()
		next, stop := iter.Pull2(newService(t, stores, memFiles{}).WatchDocuments(ctx, at))
		defer stop()
		if ev, err, ok := next(); !ok || err != nil || !ev.Synced {
			t.Fatalf("got %v %v", ev, err)
		}
		cancel()
		if _, err, ok := next(); !ok || err == nil {
			t.Errorf("got %v %v, want an error", err, ok)
		}
		if _, _, ok := next(); ok {
			t.Error("something after the error")
		}
	})
}
