package background

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/idea-ide/ideai/internal/fault"
)

// maxSocketPath is the longest path that every system takes for a Unix socket.
const maxSocketPath = 100

// addressFile is where a server leaves its address, in its state directory.
const addressFile = "address"

// Remember leaves the address of the server of a state directory for Address.
func Remember(stateDir, address string) error {
	return os.WriteFile(filepath.Join(stateDir, addressFile), []byte(address+"\n"), 0o600)
}

// remembered is the address left by Remember, while this person's socket is
// there.
func remembered(stateDir string) (string, bool) {
	data, err := os.ReadFile(filepath.Join(stateDir, addressFile))
	if err != nil {
		return "", false
	}
	address := strings.TrimSpace(string(data))
	st, err := os.Lstat(socketPath(address))
	return address, err == nil && st.Mode().Type() == os.ModeSocket && ownedByMe(st)
}

// Address is where the background server of a state directory listens for
// this person: unix:// and an absolute path. It is the address of the server
// that was last there, so that shells with another environment (cron, su, ssh)
// find it too. Else it creates the socket's folder, which nobody else may
// enter, below $XDG_RUNTIME_DIR or, without one or when the path grows too
// long, below the temporary directory.
func Address(stateDir string) (string, error) {
	if address, ok := remembered(stateDir); ok {
		return address, nil
	}
	abs, err := filepath.Abs(stateDir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	uid := strconv.Itoa(os.Getuid())
	sum := sha256.Sum256([]byte(abs + "\x00" + uid))
	name := fmt.Sprintf("%x.sock", sum[:8])
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) {
		path := filepath.Join(runtime, "ideai", name)
		if len(path) <= maxSocketPath && privateDir(filepath.Dir(path)) == nil {
			return "unix://" + path, nil
		}
	}
	dir := filepath.Join(os.TempDir(), "ideai-"+uid)
	if len(dir) > maxSocketPath-len(name)-1 {
		dir = filepath.Join("/tmp", "ideai-"+uid)
	}
	if err := privateDir(dir); err != nil {
		return "", err
	}
	return "unix://" + filepath.Join(dir, name), nil
}

// PrivateAddress is a new address that only this process and what it starts
// know. remove deletes what belongs to it.
func PrivateAddress() (address string, remove func(), err error) {
	parent := os.TempDir()
	if len(parent) > maxSocketPath/2 {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "ideai-")
	if err != nil {
		return "", nil, unusable(parent, err)
	}
	return "unix://" + filepath.Join(dir, "s.sock"), func() { _ = os.RemoveAll(dir) }, nil
}

// privateDir creates a folder for this person alone, or makes sure that it is.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unusable(dir, err)
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return unusable(dir, err)
	}
	if !st.IsDir() || !ownedByMe(st) {
		return unusable(dir, fmt.Errorf("it belongs to someone else"))
	}
	if st.Mode().Perm() != 0o700 {
		if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder needs its x bit
			return unusable(dir, err)
		}
	}
	return nil
}

func unusable(path string, cause error) error {
	return fault.New(fault.StoreUnavailable, fault.Meta{"path": path},
		"the folder %s cannot hold the server's socket; set XDG_RUNTIME_DIR to a folder of your own", path).Wrap(cause)
}

// socketPath returns the path of a unix address, "" for another.
func socketPath(address string) string {
	path, ok := strings.CutPrefix(address, "unix://")
	if !ok {
		return ""
	}
	return path
}

// Claim makes this process the only server of an address until release is
// called. It waits up to wait for a predecessor to end; then the address counts
// as in use. It touches nothing but its own lock file: rpc.Listen decides
// whether what stands at the address is a dead server's. Addresses other than
// Unix sockets need no claim: the system refuses a second listener.
func Claim(ctx context.Context, address string, wait time.Duration) (release func(), err error) {
	path := socketPath(address)
	if path == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, unusable(filepath.Dir(path), err)
	}
	lock := flock.New(path+".held", flock.SetPermissions(0o600))
	if err := take(ctx, lock, wait); err != nil {
		return nil, err
	}
	return func() { _ = lock.Unlock() }, nil
}

// retryLock is how often a lock that another process holds is tried again.
const retryLock = 5 * time.Millisecond

// take locks within a time, or says that a server holds the address.
func take(ctx context.Context, lock *flock.Flock, wait time.Duration) error {
	ok, err := lock.TryLock()
	if err == nil && !ok && wait > 0 {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		ok, err = lock.TryLockContext(ctx, retryLock)
		if ctx.Err() != nil {
			ok, err = false, nil
		}
	}
	if err != nil {
		return unusable(filepath.Dir(lock.Path()), err)
	}
	if !ok {
		return &InUseError{Address: "unix://" + strings.TrimSuffix(lock.Path(), ".held")}
	}
	return nil
}

// InUseError says that another server has the address.
type InUseError struct{ Address string }

func (e *InUseError) Error() string {
	return "another ideai server listens at " + e.Address + "; use that one, or give this one another --address or --state-dir"
}

// listening reports whether something accepts connections at the address.
func listening(ctx context.Context, address string) bool {
	network, target := "tcp", address
	if path := socketPath(address); path != "" {
		network, target = "unix", path
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, network, target)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
