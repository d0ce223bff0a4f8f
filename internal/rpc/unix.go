//go:build !windows

package rpc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxSocketPath leaves room for the final zero byte.
const maxSocketPath = len(unix.RawSockaddrUnix{}.Path) - 1

func refusedDial(err error) bool { return errors.Is(err, unix.ECONNREFUSED) }

// checkOwned refuses a folder in which others could replace the socket.
func checkOwned(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("rpc: look at the socket's folder: %w", err)
	}
	uid := -1
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		uid = int(st.Uid)
	}
	if info.Mode().Perm()&0o022 != 0 || uid != os.Geteuid() {
		return fmt.Errorf("rpc: the socket's folder %s (%v, owner %d) must be yours and closed to others; use another folder or run: chmod 700 %s",
			dir, info.Mode(), uid, dir)
	}
	return nil
}

// checkServer refuses to talk to a socket someone else put there.
func checkServer(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && os.Geteuid() != 0 && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("rpc: the socket %s belongs to user %d, not to you", path, st.Uid)
	}
	return nil
}

// peerIsUs reports whether the process at the other end runs as our user.
func peerIsUs(c *net.UnixConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	uid, uidErr := uint32(0), error(nil)
	if err := raw.Control(func(fd uintptr) { uid, uidErr = peerUID(int(fd)) }); err != nil || uidErr != nil {
		return false
	}
	return int64(uid) == int64(os.Geteuid())
}
