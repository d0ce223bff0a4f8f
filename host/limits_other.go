//go:build !linux && !windows

package host

// argvItemLimit: only the sum is limited here, at 1 MiB on macOS with the
// environment; this leaves room for it.
const argvItemLimit = 131071
