//go:build unix && !linux

package host

import "syscall"

func childAttr() *syscall.SysProcAttr { return nil }
