package memorysvc

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// Stale is the detail of a STALE_ETAG fault: the versions that a three-way
// merge needs, for NoteAt.
type Stale struct {
	Current string // etag of the note as it is now; empty when it is gone
	Base    string // the etag given; empty when that version is not known any more
}

// SaveNote creates or replaces a note and returns it as saved. It is durable
// and searchable then. A stale etag is a STALE_ETAG fault with a Stale detail;
// saving again what is already there is none. A file of the id keeps its own
// name, whatever its letter case.
func (s *Service) SaveNote(ctx context.Context, at Place, d Draft) (*Note, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	sh, err := s.shelf(ctx, at)
	if err != nil {
		return nil, err
	}
	defer sh.lock(d.ID)()
	key, err := sh.fileOf(d.ID)
	if err != nil {
		return nil, err
	}
	current, err := sh.docs.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		if d.Etag != "" {
			return nil, sh.stale(d.ID, d.Etag, nil)
		}
		return sh.write(ctx, d, store.Doc{Key: key, Version: store.Absent})
	}
	if err != nil {
		return nil, noteFault(d.ID, err)
	}
	return sh.write(ctx, d, current)
}

// write puts a draft into the file as it is now. The caller holds the stripe.
func (s *shelf) write(ctx context.Context, d Draft, current store.Doc) (*Note, error) {
	exists := current.Version != store.Absent
	if exists {
		if n := parseNote(current); !savable(n) {
			p := n.blocker()
			return nil, damaged(n.ID, p.Line, p.Message)
		}
	}
	data, err := compose(current.Data, d)
	if exists && string(current.Version) != d.Etag && (err != nil || !bytes.Equal(data, current.Data)) {
		return nil, s.stale(d.ID, d.Etag, parseNote(current))
	}
	if err != nil {
		return nil, err
	}
	if exists && bytes.Equal(data, current.Data) {
		return s.put(current).with(data), nil
	}
	version, err := s.docs.Put(ctx, current.Key, data, current.Version)
	if errors.Is(err, store.ErrConflict) {
		return nil, s.conflict(ctx, d.ID, d.Etag, current.Key)
	}
	if err != nil {
		return nil, noteFault(d.ID, err)
	}
	s.wrote(current.Key, version)
	return s.put(store.Doc{Key: current.Key, Data: data, Version: version, ModTime: time.Now().UTC()}).with(data), nil
}

// savable reports whether a save may replace a file: one that is no text is
// not shown whole to anybody, so nobody can mean to replace it.
func savable(n *Note) bool {
	p := n.blocker()
	return p == nil || p.Kind != ProblemBinary && p.Kind != ProblemTooLarge
}

// DeleteNote deletes a note. An empty etag deletes whatever version is there;
// with missingOK an absent note is no error.
func (s *Service) DeleteNote(ctx context.Context, at Place, id, etag string, missingOK bool) error {
	id, err := canonical(id)
	if err != nil {
		return err
	}
	sh, err := s.shelf(ctx, at)
	if err != nil {
		return err
	}
	defer sh.lock(id)()
	key, err := sh.fileOf(id)
	if err != nil {
		if etag == "" {
			return err
		}
		key = sh.keyAt(id, etag, key)
	}
	expect := store.Any
	if etag != "" {
		expect = store.Version(etag)
	}
	switch err := sh.docs.Delete(ctx, key, expect); {
	case errors.Is(err, store.ErrNotFound):
		if !missingOK {
			return notFound(id)
		}
	case errors.Is(err, store.ErrConflict):
		return sh.conflict(ctx, id, etag, key)
	case err != nil:
		return noteFault(id, err)
	default:
		sh.wrote(key, gone)
		sh.remove(key)
	}
	return nil
}

// fileOf returns the key of an id's file, that of a new one when there is
// none, and DAMAGED when several files have the id.
func (s *shelf) fileOf(id string) (string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys := s.keys[id]
	switch len(keys) {
	case 0:
		return keyFor(id), nil
	case 1:
		return keys[0], nil
	}
	p := s.notes[id].blocker()
	return keys[0], damaged(id, p.Line, p.Message)
}

// keyAt returns which of the files of one id has an etag.
func (s *shelf) keyAt(id, etag, otherwise string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, key := range s.keys[id] {
		if s.files[key].Etag == etag {
			return key
		}
	}
	return otherwise
}

// wrote notes an own write, so that older events do not undo it.
func (s *shelf) wrote(key string, v store.Version) {
	s.mu.Lock()
	s.written[key] = write{v, time.Now()}
	s.mu.Unlock()
	s.wake()
}

// conflict is the fault of a write that came too late.
func (s *shelf) conflict(ctx context.Context, id, etag, key string) error {
	doc, err := s.docs.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return s.stale(id, etag, nil)
	}
	if err != nil {
		return noteFault(id, err)
	}
	return s.stale(id, etag, parseNote(doc))
}

func (s *shelf) stale(id, etag string, current *Note) error {
	detail := &Stale{}
	if s.at(id, etag) != nil {
		detail.Base = etag
	}
	if current == nil {
		return fault.New(fault.StaleEtag, fault.Meta{"current_etag": ""},
			"note %q is gone since it was read; save it without an etag to create it again", id).WithDetail(detail)
	}
	detail.Current = current.Etag
	return fault.New(fault.StaleEtag, fault.Meta{"current_etag": current.Etag},
		"note %q was changed since it was read; read it again and merge", id).WithDetail(detail)
}

// at returns a note as it was at an etag, nil when that is not known any more.
func (s *shelf) at(id, etag string) *Note {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, key := range s.keys[id] {
		if n := s.files[key]; etag != "" && n.Etag == etag {
			return n
		}
	}
	return s.recent.get(id, etag)
}
