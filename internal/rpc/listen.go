package rpc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Listen listens on unix:///path or on a loopback host:port. A unix socket is
// made 0600 in a folder made 0700; what a dead server left there is removed, a
// live one is refused with ErrInUse. Closing the listener removes the socket.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	if path, ok := socketPath(addr); ok {
		return listenUnix(ctx, path)
	}
	ok, err := isLoopback(addr)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("rpc: %s can be reached from other machines and needs TLS; use a loopback address such as 127.0.0.1:0, or set certificates", addr)
	}
	return listenTCP(ctx, addr)
}

// ListenTLS listens on any host:port, for a server whose ServerConfig has TLS.
func ListenTLS(ctx context.Context, addr string) (net.Listener, error) { return listenTCP(ctx, addr) }

func listenTCP(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("rpc: listen: %w", err)
	}
	return l, nil
}

func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if err := checkSocketPath(path); err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("rpc: make the socket's folder: %w", err)
	}
	if err := checkOwned(dir); err != nil {
		return nil, err
	}
	// Two servers that start at once must not both find the socket stale.
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if ok, err := lock.TryLockContext(ctx, 5*time.Millisecond); !ok {
		return nil, fmt.Errorf("rpc: lock %s.lock: %w", path, err)
	}
	defer lock.Unlock() //nolint:errcheck // closing the file frees it in any case
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("rpc: listen: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("rpc: protect the socket: %w", err), l.Close())
	}
	return l, nil
}

// removeStale removes the socket of a server that is gone.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("rpc: look at the socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("rpc: %s is there and not a socket; choose another address or move it away", path)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		_ = conn.Close()
		return fmt.Errorf("rpc: %s: %w", path, ErrInUse)
	case !refusedDial(err):
		return fmt.Errorf("rpc: %s may belong to a live server, it cannot be asked: %w", path, err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("rpc: remove a dead server's socket: %w", err)
	}
	return nil
}
