package contextsvc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// lookEvery is how often the files outside .ideai/ are looked at: nobody tells
// of their changes.
const lookEvery = 2 * time.Second

// Document is a file that a context is composed of, without its text.
type Document struct {
	Path    string      // relative to the worktree
	Section SectionKind // 0 for the settings, which concern all
	Etag    string
}

// DocumentEvent is one step of a watch: a document of the snapshot, or created
// or changed; the path of one that is gone; or the end of the snapshot.
type DocumentEvent struct {
	Document *Document
	Deleted  string
	Synced   bool
}

// WatchDocuments yields what a context is composed of beside notes, then Synced,
// then changes until ctx ends or the watcher falls behind (WATCH_LAGGED). The
// last element is always an error; no writer ever waits for a watcher.
func (s *Service) WatchDocuments(ctx context.Context, at Place) iter.Seq2[DocumentEvent, error] {
	return func(yield func(DocumentEvent, error) bool) {
		docs, err := s.deps.Stores.Versioned(ctx, at.Project, at.Worktree)
		if err != nil {
			yield(DocumentEvent{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		w := &documentWatch{service: s, at: at, told: map[string]string{}, yield: yield, steps: make(chan step)}
		var reading sync.WaitGroup
		defer reading.Wait()
		defer cancel()
		for _, prefix := range watched {
			reading.Go(func() { w.follow(ctx, docs, prefix) })
		}
		if err := w.run(ctx); err != nil {
			yield(DocumentEvent{}, err)
		}
	}
}

// watched are the prefixes below which the documents are.
var watched = []string{settingsKey, rulesKey, personaPrefix, skillPrefix}

// step is what a store's watch had to tell.
type step struct {
	event store.Event
	err   error
}

// documentWatch is one watch. Only run uses its fields but steps.
type documentWatch struct {
	service *Service
	at      Place
	yield   func(DocumentEvent, error) bool
	steps   chan step

	told map[string]string // path outside .ideai/ -> etag, as told
}

func (w *documentWatch) follow(ctx context.Context, docs store.Docs, prefix string) {
	for event, err := range docs.Watch(ctx, prefix) {
		select {
		case w.steps <- step{event, err}:
		case <-ctx.Done():
			return
		}
	}
}

// run tells what there is to tell; nil means that nobody listens any more.
func (w *documentWatch) run(ctx context.Context) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	open := len(watched)
	for {
		rules := false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		case s := <-w.steps:
			switch {
			case s.err != nil:
				return watchFault(s.err)
			case s.event.Synced:
				open--
			default:
				rules = s.event.Doc.Key == rulesKey
				if !w.tell(s.event) {
					return nil
				}
				if !rules {
					continue
				}
			}
		}
		if open > 0 { // the rules say which files there are to look at
			continue
		}
		if !w.look(ctx) {
			return nil
		}
		if open == 0 {
			open = -1
			if !w.yield(DocumentEvent{Synced: true}, nil) {
				return nil
			}
		}
	}
}

func (w *documentWatch) tell(event store.Event) bool {
	key := event.Doc.Key
	section, ok := sectionOf(key)
	switch {
	case !ok:
		return true
	case event.Deleted:
		return w.yield(DocumentEvent{Deleted: folder + key}, nil)
	}
	return w.yield(DocumentEvent{Document: &Document{Path: folder + key, Section: section, Etag: string(event.Doc.Version)}}, nil)
}

// sectionOf tells which section a document enters.
func sectionOf(key string) (SectionKind, bool) {
	switch {
	case key == settingsKey:
		return 0, true
	case key == rulesKey:
		return RulesSection, true
	case strings.HasPrefix(key, personaPrefix+"/"):
		return PersonaSection, path.Ext(key) == ".md"
	}
	_, ok := skillID(key)
	return CapabilitiesSection, ok
}

// look tells how the files outside .ideai/ differ from what was told.
func (w *documentWatch) look(ctx context.Context) bool {
	now := map[string]string{}
	for _, name := range w.service.outsideFiles(ctx, w.at) {
		data, err := w.service.deps.Files.ReadFile(ctx, w.at.Project, w.at.Worktree, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			now[name] = string(fault.ReasonOf(err))
		default:
			sum := sha256.Sum256(data)
			now[name] = hex.EncodeToString(sum[:])
		}
	}
	if ctx.Err() != nil {
		return true // what was read is not to be trusted
	}
	before := w.told
	w.told = now
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, still := now[name]; !still && !w.yield(DocumentEvent{Deleted: name}, nil) {
			return false
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if before[name] != now[name] && !w.yield(DocumentEvent{Document: &Document{name, RulesSection, now[name]}}, nil) {
			return false
		}
	}
	return true
}

// outsideFiles are the files that can enter the rules of an agent, and those
// whose presence decides whether its CLI reads one of them by itself.
func (s *Service) outsideFiles(ctx context.Context, at Place) []string {
	names := slices.Clone(conventional)
	rules, err := s.Rules(ctx, at)
	if err == nil {
		for _, from := range rules.From {
			if filepath.IsLocal(from) {
				names = append(names, path.Clean(filepath.ToSlash(from)))
			}
		}
	}
	for _, p := range s.deps.Catalogue.Profiles() {
		for _, c := range p.Reads {
			names = append(append(names, c.Path), c.Unless...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func watchFault(err error) error {
	if errors.Is(err, store.ErrLagged) {
		return fault.New(fault.WatchLagged, nil, "the watcher fell behind; watch again").Wrap(err)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return storeFault(err, "")
}
