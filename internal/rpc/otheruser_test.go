//go:build linux

package rpc_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/rpc"
)

const otherUserSocket = "RPC_TEST_SOCKET"

// The part of TestAnotherUserIsNotTheOwner that runs as another user.
func TestCallAsAnotherUser(t *testing.T) {
	path := os.Getenv(otherUserSocket)
	if path == "" {
		t.Skip("run by TestAnotherUserIsNotTheOwner")
	}
	conn, err := rpc.Dial("unix://"+path, rpc.ClientConfig{})
	c := memoryv1.NewMemoryServiceClient(closing(t, conn, err))
	fmt.Fprintln(os.Stdout, "reason:", fault.ReasonOf(get(t.Context(), c)))
}

// Even a socket that is open to all makes nobody the owner but its owner.
func TestAnotherUserIsNotTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	path := socket(t)
	serveNotes(t, rpc.ServerConfig{Person: "ada"}, &notes{}, listen(t, "unix://"+path))
	top := filepath.Dir(filepath.Dir(path))
	program := filepath.Join(top, "rpc.test")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, self, 0o700); err != nil { //nolint:gosec // a program needs its x bit
		t.Fatal(err)
	}
	for _, p := range []string{top, filepath.Dir(path), path, program} {
		if err := os.Chmod(p, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for uid, want := range map[uint32]string{0: "reason: \n", 65534: "reason: UNAUTHENTICATED\n"} {
		cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestCallAsAnotherUser$")
		cmd.Env = []string{otherUserSocket + "=" + path}
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("user %d: %v\n%s", uid, err, out)
		}
	}
}
