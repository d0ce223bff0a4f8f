//go:build !unix

package background

import (
	"os"
	"os/exec"
)

// ownedByMe trusts the system's access lists where there are no owner ids.
func ownedByMe(os.FileInfo) bool { return true }

// ownSession does nothing: ideai is a client only on this system.
func ownSession(*exec.Cmd) {}
