package memorysvc

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/tokens"
)

// Config is what the user writes. The zero value means the defaults.
type Config struct {
	MaxNotes     int // found notes a recall returns when it does not say; 0 = 5
	BudgetTokens int // tokens of a recall that does not say; 0 = 2,000
}

// Deps is what the programmer passes.
type Deps struct {
	Stores store.Opener
	Log    *slog.Logger          // nil discards
	Traces trace.TracerProvider  // nil records nothing
	Tokens func(text string) int // counts the tokens of a text; nil uses internal/tokens
}

// Service keeps and recalls notes. All methods may be called from several
// goroutines at once. Notes of a worktree are loaded at its first use and kept
// current until Run ends.
type Service struct {
	config Config
	stores store.Opener
	log    *slog.Logger
	tracer trace.Tracer
	count  func(string) int

	base context.Context
	stop context.CancelCauseFunc
	work sync.WaitGroup

	mu      sync.Mutex
	stopped bool
	shelves map[Place]*shelf
}

// New makes a service. It starts nothing.
func New(c Config, d Deps) (*Service, error) {
	if d.Stores == nil {
		return nil, errors.New("memory: no stores were given")
	}
	if c.MaxNotes < 0 || c.MaxNotes > maxFound || c.BudgetTokens < 0 || c.BudgetTokens > maxBudget {
		return nil, errors.New("memory: max notes must be 0 to 32 and budget tokens 0 to 100000")
	}
	if c.MaxNotes == 0 {
		c.MaxNotes = 5
	}
	if c.BudgetTokens == 0 {
		c.BudgetTokens = 2000
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Traces == nil {
		d.Traces = noop.NewTracerProvider()
	}
	if d.Tokens == nil {
		d.Tokens = tokens.NewCounter().Count
	}
	s := &Service{
		config: c, stores: d.Stores, log: d.Log, count: d.Tokens,
		tracer:  d.Traces.Tracer("github.com/idea-ide/ideai/services/memory"),
		shelves: map[Place]*shelf{},
	}
	s.base, s.stop = context.WithCancelCause(context.Background())
	return s, nil
}

// idleAfter is how long the notes of a worktree stay loaded when nobody asks
// for them or watches them.
const idleAfter = 30 * time.Minute

// Run forgets worktrees that nobody uses until ctx ends, then ends all watches
// and returns when nothing of the service runs any more. Calls made after that
// fail with DRAINING.
func (s *Service) Run(ctx context.Context) error {
	look := time.NewTicker(idleAfter / 6)
	defer look.Stop()
	for {
		select {
		case now := <-look.C:
			s.closeIdle(now)
			continue
		case <-ctx.Done():
		}
		s.mu.Lock()
		s.stopped = true
		s.mu.Unlock()
		s.stop(draining())
		s.work.Wait()
		return nil
	}
}

func (s *Service) closeIdle(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, sh := range s.shelves {
		if sh.idleSince(now) >= idleAfter {
			sh.stop()
			delete(s.shelves, at)
		}
	}
}

func draining() *fault.Error {
	return fault.New(fault.Draining, nil, "the server is going down; try again")
}

// shelf returns the loaded notes of a place.
func (s *Service) shelf(ctx context.Context, at Place) (*shelf, error) {
	for range 2 { // a shelf whose store was closed is opened again once
		sh, err := s.open(ctx, at)
		if err != nil {
			return nil, err
		}
		select {
		case <-sh.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if sh.failed != nil {
			s.forget(sh)
			return nil, placeFault(sh.failed)
		}
		select {
		case <-sh.closed:
			s.forget(sh)
		default:
			return sh, nil
		}
	}
	return nil, draining()
}

// recheck is how long a place is taken to be where it was: a project may be
// removed, a worktree made anew.
const recheck = time.Second

// open returns the shelf of a place, new and still loading when there was none.
func (s *Service) open(ctx context.Context, at Place) (*shelf, error) {
	now := time.Now()
	s.mu.Lock()
	sh, stopped := s.shelves[at], s.stopped
	s.mu.Unlock()
	switch {
	case stopped:
		return nil, draining()
	case sh != nil && now.Sub(time.Unix(0, sh.checked.Load())) < recheck:
		sh.used.Store(now.UnixNano())
		return sh, nil
	}
	docs, err := s.stores.Versioned(ctx, at.Project, at.Worktree)
	if err != nil {
		return nil, placeFault(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, draining()
	}
	old := s.shelves[at]
	if sh = s.shelfOf(docs, old); sh == nil {
		sh = newShelf(docs)
		following, stop := context.WithCancel(s.base)
		sh.stop = stop
		s.work.Go(func() { sh.follow(following, s.log.With("project", at.Project, "worktree", at.Worktree)) })
	}
	sh.checked.Store(now.UnixNano())
	sh.used.Store(now.UnixNano())
	s.shelves[at] = sh
	if old != nil && old != sh {
		s.closeUnnamed(old)
	}
	return sh, nil
}

// shelfOf finds the shelf of a store, which may have been opened under another
// name: the main checkout has two. A store that cannot be compared is the one
// its place had before.
func (s *Service) shelfOf(docs store.Docs, before *shelf) *shelf {
	if !reflect.TypeOf(docs).Comparable() {
		return before
	}
	for _, sh := range s.shelves {
		if sh.docs == docs {
			return sh
		}
	}
	return nil
}

// closeUnnamed closes a shelf that no place has any more.
func (s *Service) closeUnnamed(old *shelf) {
	for _, sh := range s.shelves {
		if sh == old {
			return
		}
	}
	old.stop()
}

func (s *Service) forget(old *shelf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, sh := range s.shelves {
		if sh == old {
			delete(s.shelves, at)
		}
	}
}

func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "«" + n + "»"
	}
	return strings.Join(quoted, ", ")
}
