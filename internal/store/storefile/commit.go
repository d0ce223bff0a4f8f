package storefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/idea-ide/ideai/internal/store"
)

// request is one Append that waits for its turn.
type request struct {
	records [][]byte
	after   store.Seq
	wake    chan struct{} // holds a token when done or made the leader

	done bool
	last store.Seq
	err  error
}

// append writes records together with those of others who wait at the same
// time: the first becomes the leader, writes and syncs everything that is
// queued at once, and hands the lead to the first of those who came meanwhile.
func (st *stream) append(records [][]byte, after store.Seq) (store.Seq, error) {
	r := &request{records: records, after: after, wake: make(chan struct{}, 1)}
	st.mu.Lock()
	st.queue = append(st.queue, r)
	if st.leading {
		st.mu.Unlock()
		<-r.wake
		if r.done {
			return r.last, r.err
		}
		st.mu.Lock()
	}
	st.leading = true
	group := st.queue
	st.queue = nil
	st.mu.Unlock()

	st.commit(group)

	st.mu.Lock()
	if st.leading = len(st.queue) > 0; st.leading {
		st.queue[0].wake <- struct{}{}
	}
	st.mu.Unlock()
	for _, other := range group {
		if other != r {
			other.wake <- struct{}{}
		}
	}
	return r.last, r.err
}

// commit writes a group. It sets the results of all.
func (st *stream) commit(group []*request) {
	fail := func(err error) {
		for _, r := range group {
			if !r.done {
				r.done, r.err = true, err
			}
		}
	}
	st.mu.Lock()
	err := st.ready()
	last := st.last
	st.mu.Unlock()
	if err != nil {
		fail(err)
		return
	}
	var buf []byte
	first := last + 1
	for _, r := range group {
		if r.after != store.AnySeq && r.after != last {
			r.done = true
			r.err = fmt.Errorf("%s: %w: it ends at %d, not %d", st.name, store.ErrConflict, last, r.after)
			continue
		}
		for i, data := range r.records {
			last++
			buf = appendFrame(buf, last, len(r.records)-1-i, data)
		}
		r.last = last
	}
	if len(buf) > 0 {
		err = st.write(buf, first, last)
	}
	fail(err)
}

// ready loads the stream and opens the file that the next append goes to. It is
// called with st.mu held, by the leader.
func (st *stream) ready() error {
	if err := st.fresh(); err != nil {
		return err
	}
	if st.out != nil {
		newest := &st.segs[len(st.segs)-1]
		if newest.size < st.s.opts.SegmentBytes {
			return nil
		}
		_ = st.out.Close()
		st.out = nil
	}
	if n := len(st.segs); n > 0 && !st.segs[n-1].foreign && st.segs[n-1].size < st.s.opts.SegmentBytes {
		return st.reopen(&st.segs[n-1])
	}
	return st.begin()
}

// reopen goes on with the newest segment, without its torn tail.
func (st *stream) reopen(seg *segment) error {
	f, info, err := st.s.openSegment(seg.file, os.O_RDWR)
	if err != nil {
		return err
	}
	if seg.torn > 0 {
		err = st.s.cut(st.name, f, seg)
	} else if seg.size > 0 && newline(f, seg.size-1, seg.size) == 0 {
		err = st.s.complete(f, seg)
	}
	if err != nil {
		_ = f.Close()
		return err
	}
	seg.info = info
	st.out = f
	st.s.opened(st)
	return nil
}

// begin starts a new segment.
func (st *stream) begin() error {
	st.s.dirs.RLock()
	defer st.s.dirs.RUnlock()
	num := 1
	if n := len(st.segs); n > 0 {
		num = st.segs[n-1].num + 1
	}
	dir, base := path.Split(path.Join(st.s.sub, st.name))
	p, err := st.s.place(path.Join(dir, segmentFile(base, num)), true)
	if err != nil {
		return err
	}
	defer p.close()
	if err := st.s.step("segment"); err != nil {
		return err
	}
	f, err := p.root.OpenFile(p.base, os.O_RDWR|os.O_CREATE|os.O_EXCL, st.s.fileMode(p.path))
	if errors.Is(err, fs.ErrExist) {
		st.forget()
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = st.s.syncPlace(p)
	}
	if err != nil {
		_ = f.Close()
		_ = p.root.Remove(p.base)
		return err
	}
	st.segs = append(st.segs, segment{num: num, file: p.path, info: info})
	st.out = f
	st.s.opened(st)
	return nil
}

// write adds bytes to the newest segment, durably, or leaves it as it was.
func (st *stream) write(buf []byte, first, last store.Seq) error {
	st.mu.Lock()
	out, at := st.out, st.segs[len(st.segs)-1].size
	st.mu.Unlock()
	err := st.s.writeSynced(out, buf, at)
	st.mu.Lock()
	defer st.mu.Unlock()
	if err != nil {
		_ = out.Truncate(at)
		_ = out.Sync()
		st.forget()
		return err
	}
	seg := &st.segs[len(st.segs)-1]
	if seg.first == 0 {
		seg.first = first
	}
	seg.size += int64(len(buf))
	seg.last, st.last = last, last
	st.changed()
	return nil
}

// writeSynced writes at an offset and syncs. A test may stop it halfway.
func (s *Store) writeSynced(f *os.File, buf []byte, at int64) error {
	half := len(buf)
	if s.hook != nil {
		half /= 2
	}
	if err := s.step("log.write"); err != nil {
		return err
	}
	if _, err := f.WriteAt(buf[:half], at); err != nil {
		return err
	}
	if half < len(buf) {
		if err := s.step("log.write2"); err != nil {
			return err
		}
		if _, err := f.WriteAt(buf[half:], at+int64(half)); err != nil {
			return err
		}
	}
	if err := s.step("log.sync"); err != nil {
		return err
	}
	return syncData(f)
}
