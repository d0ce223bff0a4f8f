package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/mattn/go-isatty"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/provider"
)

// versionTimeout bounds asking a CLI for its version; one that takes longer
// is launched with its version unknown.
const versionTimeout = 5 * time.Second

// NotInstalledError says that a CLI is not on PATH.
type NotInstalledError struct {
	Profile string // its id
	Binary  string
	Install string // what to do, one sentence
}

func (e *NotInstalledError) Error() string {
	return fmt.Sprintf("%s is not on your PATH; %s", e.Binary, e.Install)
}

// FactsOptions say where to look. The zero value is the current process.
type FactsOptions struct {
	// IdeaiPath is the program that the CLI starts as an MCP server; "" = this
	// very program.
	IdeaiPath string
	// CacheFile keeps versions between runs, since asking for one takes longer
	// than the rest of a launch; "" = ask every time.
	CacheFile string
}

// Facts tells what a server must know of this machine to plan a launch of a
// CLI. ProjectRoot, CwdRelative, ServerAddress and OpenFolder are left to the
// caller. It fails with NotInstalledError when the CLI is not there. An unknown
// version is left empty and is no error.
func Facts(ctx context.Context, p *provider.Profile, o FactsOptions) (*launcherv1.Host, error) {
	ideai := o.IdeaiPath
	if ideai == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the path of ideai: %w", err)
		}
		ideai = self
	}
	cli, err := findCLI(p, ideai)
	if err != nil {
		return nil, err
	}
	return &launcherv1.Host{
		Os:                 runtime.GOOS,
		CliPath:            cli,
		CliVersion:         cachedVersion(ctx, p, cli, o.CacheFile),
		IdeaiPath:          ideai,
		ArgvItemLimitBytes: argvItemLimit,
		Interactive:        isatty.IsTerminal(os.Stdin.Fd()) && isatty.IsTerminal(os.Stdout.Fd()),
		Locale:             locale(),
		EnvNames:           setAmong(p.ConflictEnv()),
	}, nil
}

// findCLI looks a CLI up on PATH. A program found by a relative entry of PATH
// comes with whatever folder one stands in, so it does not count.
func findCLI(p *provider.Profile, ideai string) (string, error) {
	path, err := exec.LookPath(p.Binary)
	if err != nil || !filepath.IsAbs(path) {
		return "", &NotInstalledError{Profile: p.ID, Binary: p.Binary, Install: p.Install}
	}
	if sameFile(path, ideai) {
		return "", fmt.Errorf("%s is a link to ideai itself: ideai would start itself for ever; put the real %s first on PATH",
			path, p.Binary)
	}
	return path, nil
}

func setAmong(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return os.Getenv(name) == "" })
}

func sameFile(a, b string) bool {
	fa, errA := os.Stat(a)
	fb, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(fa, fb)
}

// askVersion runs the CLI for its version, "" when it does not tell in time.
func askVersion(ctx context.Context, p *provider.Profile, path string) string {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, p.Version.Args...)
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return ""
	}
	if version := p.Version.Parse(stdout.String()); version != "" {
		return version
	}
	return p.Version.Parse(stderr.String()) // pi tells it there
}

// locale returns the person's locale as POSIX finds it.
func locale() string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}
