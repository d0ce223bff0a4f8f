//go:build !unix

package storefile

import "testing"

func pipe(t *testing.T, _ string) {
	t.Helper()
	t.Skip("there are no pipes in the file system here")
}
