package background

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/idea-ide/ideai/internal/fault"
)

// LogLimit is the size in bytes at which a log file is set aside; one older
// file is kept beside it, so that the two together stay below twice of it.
const LogLimit = 4 << 20

// Log is a file of bounded size. It is safe for concurrent use.
type Log struct {
	mu    sync.Mutex
	path  string
	limit int64
	file  *os.File
	size  int64
}

// OpenLog opens a log to append to, mode 0600, creating its folder.
func OpenLog(path string, limit int64) (*Log, error) {
	l := &Log{path: path, limit: limit}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, unwritable(filepath.Dir(path), err)
	}
	return l, l.open()
}

func (l *Log) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return unwritable(l.path, err)
	}
	st, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return unwritable(l.path, err)
	}
	l.file, l.size = f, st.Size()
	return nil
}

func unwritable(path string, cause error) error {
	return fault.New(fault.StoreReadOnly, fault.Meta{"path": path},
		"%s cannot be written; give yourself write permission there, or set another state_dir", path).Wrap(cause)
}

// Write appends whole records; a record larger than the limit is written alone.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(p)) > l.limit {
		if err := os.Rename(l.path, l.path+".1"); err == nil {
			_ = l.file.Close()
			if err := l.open(); err != nil {
				return 0, err
			}
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}

// lastLines returns the last lines of a file from an offset on.
func lastLines(path string, offset int64, n int) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if st, err := f.Stat(); err == nil && st.Size()-offset > 64<<10 {
		offset = st.Size() - 64<<10
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return ""
	}
	data, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return ""
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return string(bytes.Join(lines, []byte("\n")))
}
