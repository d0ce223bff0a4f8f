//go:build !windows && !linux && !darwin

package rpc

import "errors"

func peerUID(int) (uint32, error) { return 0, errors.ErrUnsupported }
