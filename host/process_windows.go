package host

import (
	"os"
	"strconv"

	"golang.org/x/sys/windows"
)

// startOf returns the time at which a process was created.
func startOf(pid int) (string, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return "", err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return "", err
	}
	if exited.Nanoseconds() > created.Nanoseconds() {
		return "", os.ErrProcessDone
	}
	return strconv.FormatInt(created.Nanoseconds(), 10), nil
}
