//go:build !unix

package main

import "io"

// columns is not known on this system.
func columns(io.Writer) int { return 0 }
