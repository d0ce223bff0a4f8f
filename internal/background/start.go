package background

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/idea-ide/ideai/internal/fault"
)

// readyFD is the descriptor on which a started server says that it listens.
const readyFD = 3

// ReadyFlag is the flag by which Ensure tells the server it starts to report
// on a descriptor; the server passes its value to Ready.
const ReadyFlag = "ready-fd"

const readyWord = "ready\n"

// Ready tells the command that started this server that it listens.
func Ready(fd int) error {
	f := os.NewFile(uintptr(fd), "ready")
	if f == nil {
		return fmt.Errorf("descriptor %d is not open", fd)
	}
	_, err := io.WriteString(f, readyWord)
	return errors.Join(err, f.Close())
}

// start runs the server and returns once it listens. The pipe tells both ends:
// a word means ready, its end without one means that the server died.
func (o Options) start(ctx context.Context) error {
	logPath := o.LogPath()
	log, err := OpenLog(logPath, LogLimit)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()

	//nolint:gosec // the program is this executable
	cmd := exec.Command(o.Exe, append(o.Args, fmt.Sprintf("--%s=%d", ReadyFlag, readyFD))...)
	cmd.Dir = "/"
	cmd.Env = Environment(os.Environ())
	cmd.Stdout, cmd.Stderr = log.file, log.file
	cmd.ExtraFiles = []*os.File{w}
	ownSession(cmd)
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return notStarted("it could not be started: "+err.Error(), "", logPath)
	}
	// The server outlives this process; nobody waits for it but a goroutine
	// that keeps it from staying a zombie while this process lives.
	go func() { _ = cmd.Wait() }()

	said := make(chan error, 1)
	go func() {
		word, err := io.ReadAll(io.LimitReader(r, int64(len(readyWord))))
		if err == nil && string(word) != readyWord {
			err = io.ErrUnexpectedEOF
		}
		said <- err
	}()
	select {
	case err := <-said:
		if err == nil {
			return nil
		}
		return notStarted("it ended before it was ready", lastLines(logPath, log.size, 8), logPath)
	case <-ctx.Done():
		return notStarted("it was not ready in time", lastLines(logPath, log.size, 8), logPath)
	}
}

// LogPath is the server's log file.
func (o Options) LogPath() string { return filepath.Join(o.StateDir, "log", "server.log") }

func notStarted(why, lines, logPath string) error {
	msg := fmt.Sprintf("the background server did not start: %s; see %s", why, logPath)
	if lines != "" {
		msg += "\n" + lines
	}
	return fault.New(fault.ServiceUnavailable, fault.Meta{"service": "server"}, "%s", msg)
}

// Environment keeps of an environment what a server may know of the terminal
// that starts it: where things are, the language, its own settings and the
// telemetry's; never a token and nothing else.
func Environment(env []string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case name == "IDEAI_TOKEN", name == "IDEAI_ADDRESS":
		case allowed[name], strings.HasPrefix(name, "IDEAI_"), strings.HasPrefix(name, "XDG_"),
			strings.HasPrefix(name, "LC_"), strings.HasPrefix(name, "OTEL_"):
			out = append(out, kv)
		}
	}
	return out
}

var allowed = map[string]bool{
	"HOME": true, "USER": true, "LOGNAME": true, "PATH": true, "SHELL": true, "LANG": true, "TZ": true, "TMPDIR": true,
	"SSL_CERT_FILE": true, "SSL_CERT_DIR": true, "GOCOVERDIR": true, "SYSTEMROOT": true,
}
