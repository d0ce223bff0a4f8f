package storefile

import (
	"os"
	"slices"
	"sync"

	"github.com/idea-ide/ideai/internal/store"
)

// stream is what the store knows of one stream. It is loaded at the first use,
// and again whenever the files are not as we left them.
type stream struct {
	s    *Store
	name string

	mu     sync.Mutex
	loaded bool
	segs   []segment
	last   store.Seq
	wake   chan struct{} // closed at the next append

	queue   []*request // appends waiting for the one that is being written
	leading bool

	out *os.File // the newest segment, open for writing; the leader's
}

// stream returns the stream of a name.
func (s *Store) stream(name string) *stream {
	s.streamsMu.Lock()
	defer s.streamsMu.Unlock()
	st, ok := s.streams[name]
	if !ok {
		if s.streams == nil {
			s.streams = map[string]*stream{}
		}
		st = &stream{s: s, name: name, wake: make(chan struct{})}
		s.streams[name] = st
	}
	return st
}

// maxOpen is how many streams keep their file open for the next append.
const maxOpen = 64

// opened notes that a stream has an open file, and closes that of another one
// when there are too many. The lock of st is held.
func (s *Store) opened(st *stream) {
	s.streamsMu.Lock()
	defer s.streamsMu.Unlock()
	s.writing = append(s.writing, st)
	for range len(s.writing) - maxOpen {
		oldest := s.writing[0]
		s.writing = s.writing[1:]
		if oldest == st {
			continue // noted again behind
		}
		if !oldest.rest() {
			s.writing = append(s.writing, oldest)
		}
	}
}

// rest closes the file of a stream that nobody is appending to.
func (st *stream) rest() bool {
	if !st.mu.TryLock() {
		return false
	}
	defer st.mu.Unlock()
	if st.leading {
		return false
	}
	if st.out != nil {
		_ = st.out.Close()
		st.out = nil
	}
	return true
}

// endStreams wakes tails and closes files when the store closes.
func (s *Store) endStreams() {
	s.streamsMu.Lock()
	defer s.streamsMu.Unlock()
	for _, st := range s.streams {
		st.mu.Lock()
		st.forget()
		st.changed()
		st.mu.Unlock()
	}
}

// The methods below are called with st.mu held.

func (st *stream) changed() {
	close(st.wake)
	st.wake = make(chan struct{})
}

// forget makes the next use look at the files again.
func (st *stream) forget() {
	st.loaded, st.segs = false, nil
	if st.out != nil {
		_ = st.out.Close()
		st.out = nil
	}
}

// load looks at the files unless that was done.
func (st *stream) load() error {
	if st.loaded {
		return nil
	}
	segs, err := st.s.loadSegments(st.name)
	if err != nil {
		return err
	}
	st.segs, st.last, st.loaded = segs, 0, true
	for _, seg := range segs {
		st.last = max(st.last, seg.last)
	}
	return nil
}

// fresh is load that also notices when others changed the newest file.
func (st *stream) fresh() error {
	if st.loaded && len(st.segs) > 0 {
		newest := st.segs[len(st.segs)-1]
		info, err := st.s.root.Stat(newest.file)
		if err != nil || !os.SameFile(info, newest.info) || info.Size() != newest.size+newest.torn {
			st.forget()
		}
	} else {
		st.forget()
	}
	return st.load()
}

// view is what a reader works on.
type view struct {
	segs []segment
	last store.Seq
	wake <-chan struct{}
}

// view returns the stream as it is now. A stream that is being written to is
// seen as it was before.
func (st *stream) view() (view, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	var err error
	if st.leading {
		err = st.load()
	} else {
		err = st.fresh()
	}
	return view{segs: slices.Clone(st.segs), last: st.last, wake: st.wake}, err
}
