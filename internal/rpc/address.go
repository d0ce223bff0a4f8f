package rpc

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
)

// ErrInUse is what Listen returns, wrapped, when a live server has the address.
var ErrInUse = errors.New("a server is already listening there")

// socketPath returns the path of a unix address, and false for others.
func socketPath(addr string) (string, bool) {
	rest, ok := strings.CutPrefix(addr, "unix:")
	if !ok {
		return "", false
	}
	if p, ok := strings.CutPrefix(rest, "//"); ok {
		rest = p
	}
	return rest, true
}

func checkSocketPath(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("rpc: the socket %q must have an absolute path; write unix:///path", path)
	}
	if len(path) > maxSocketPath {
		return fmt.Errorf("rpc: the socket path %s has %d bytes, the system takes %d; set a shorter address (IDEAI_ADDRESS)",
			path, len(path), maxSocketPath)
	}
	return nil
}

// isLoopback reports whether a host:port stays on this machine.
func isLoopback(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, fmt.Errorf("rpc: the address %q is neither unix:///path nor host:port: %w", addr, err)
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), nil
}
