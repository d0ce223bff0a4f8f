package host

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// startOf returns the boot and the tick at which a process started. A process
// that has ended and waits for its parent counts as gone.
func startOf(pid int) (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The second field, the name, may hold anything; it ends at the last ")".
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return "", os.ErrProcessDone
	}
	return strings.TrimSpace(string(boot)) + ":" + fields[19], nil
}
