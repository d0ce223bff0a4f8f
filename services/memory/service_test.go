package memorysvc_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/storemem"
	memorysvc "github.com/idea-ide/ideai/services/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var here = memorysvc.Place{Project: "atelier"}

// start runs a service until the test ends.
func start(t testing.TB, stores store.Opener) *memorysvc.Service {
	t.Helper()
	s, err := memorysvc.New(memorysvc.Config{}, memorysvc.Deps{Stores: stores})
	if err != nil {
		t.Fatal(err)
	}
	runUntilEnd(t, s)
	return s
}

func runUntilEnd(t testing.TB, s *memorysvc.Service) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// fixture is a service and the store below it, through which a person edits.
type fixture struct {
	*memorysvc.Service
	t    testing.TB
	docs store.Docs
}

func open(t testing.TB, files map[string]string) *fixture {
	t.Helper()
	stores := storemem.Opener()
	docs, err := stores.Versioned(t.Context(), here.Project, here.Worktree)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, docs: docs}
	for name, text := range files {
		f.write(name, text)
	}
	f.Service = start(t, stores)
	return f
}

// write is what an editor does.
func (f *fixture) write(name, text string) {
	f.t.Helper()
	if _, err := f.docs.Put(f.t.Context(), "memory/"+name, []byte(text), store.Any); err != nil {
		f.t.Fatal(err)
	}
}

// expire lets the time pass that damaged notes are recalled as they last were.
// It needs a synctest bubble.
func (f *fixture) expire() { <-time.After(2 * memorysvc.Settle) }

func (f *fixture) read(name string) string {
	f.t.Helper()
	doc, err := f.docs.Get(f.t.Context(), "memory/"+name)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(doc.Data)
}

func (f *fixture) get(id string) *memorysvc.Note {
	f.t.Helper()
	n, err := f.GetNote(f.t.Context(), here, id)
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

func (f *fixture) save(d memorysvc.Draft) *memorysvc.Note {
	f.t.Helper()
	n, err := f.SaveNote(f.t.Context(), here, d)
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

func (f *fixture) list() map[string]*memorysvc.Note {
	f.t.Helper()
	list, err := f.ListNotes(f.t.Context(), here, false, 1000, "")
	if err != nil {
		f.t.Fatal(err)
	}
	out := map[string]*memorysvc.Note{}
	for _, n := range list.Notes {
		out[n.ID] = n
	}
	return out
}

func (f *fixture) recall(query string) []memorysvc.Recalled {
	f.t.Helper()
	answer, err := f.RecallNotes(f.t.Context(), here, memorysvc.Question{Query: query})
	if err != nil {
		f.t.Fatal(err)
	}
	return answer.Notes
}
