package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/idea-ide/ideai/internal/fault"
)

// TestAForbiddenFolderIsNamed calls every method for a project whose .ideai the
// server may not read, or not write. Root may do everything, so that the test
// runs itself as nobody then.
func TestAForbiddenFolderIsNamed(t *testing.T) {
	if os.Geteuid() == 0 {
		asNobody(t, "^TestAForbiddenFolderIsNamed$")
		return
	}
	mode := func(name string, mode os.FileMode) func(t *testing.T, root string) {
		return func(t *testing.T, root string) {
			path := filepath.Join(root, name)
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
		}
	}
	for name, c := range map[string]spoiled{
		"no rights":            {mode(".ideai", 0), ".ideai", true, []fault.Reason{fault.StoreUnavailable, fault.StoreReadOnly}},
		"no right to write":    {mode(".ideai", 0o555), ".ideai", false, []fault.Reason{fault.StoreReadOnly}},
		"no rights on notes":   {mode(".ideai/memory", 0), ".ideai/memory", false, []fault.Reason{fault.StoreUnavailable, fault.StoreReadOnly, fault.ServiceUnavailable}},
		"no rights on rules":   {mode(".ideai/CONTEXT.md", 0), ".ideai/CONTEXT.md", false, []fault.Reason{fault.StoreUnavailable, fault.StoreReadOnly}},
		"no rights on a role":  {mode(".ideai/agents/dev.md", 0), ".ideai/agents/dev.md", false, []fault.Reason{fault.StoreUnavailable, fault.StoreReadOnly}},
		"no rights on project": {mode(".", 0), "", true, []fault.Reason{fault.StoreUnavailable, fault.StoreReadOnly, fault.ProjectNotFound}},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); c.check(t, false) })
	}
}

// asNobody runs a test of this program as a user without rights.
func asNobody(t *testing.T, pattern string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "nobody") //nolint:usetesting // nobody cannot enter a test's own folder
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "server.test")
	if err := os.WriteFile(program, self, 0o755); err != nil { //nolint:gosec // a program needs its x bit
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // nobody's own files go here
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run="+pattern)
	cmd.Env, cmd.Dir = []string{"TMPDIR=" + dir, "HOME=" + dir, "PATH=" + os.Getenv("PATH")}, dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}
