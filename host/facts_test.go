//go:build unix

package host_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/host"
	"github.com/idea-ide/ideai/provider"
)

// fakeBinary puts a program on PATH that says its version and counts its runs.
func fakeBinary(t *testing.T, dir, script string) {
	t.Helper()
	mustMkdir(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
}

func claude(t *testing.T) *provider.Profile {
	t.Helper()
	p, err := provider.Builtin().Profile("claude")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFacts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bin é ; $(touch pwned)")
	runs := filepath.Join(t.TempDir(), "runs")
	fakeBinary(t, dir, fmt.Sprintf("echo x >>'%s'\necho '2.1.332 (Claude Code)'\n", runs))
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	t.Setenv("LC_ALL", "fr_FR.UTF-8")
	cache := filepath.Join(t.TempDir(), "cache", "versions.json")
	for range 3 {
		h, err := host.Facts(t.Context(), claude(t), host.FactsOptions{IdeaiPath: "/opt/ideai", CacheFile: cache})
		if err != nil {
			t.Fatal(err)
		}
		if h.GetCliPath() != filepath.Join(dir, "claude") || h.GetCliVersion() != "2.1.332" ||
			h.GetIdeaiPath() != "/opt/ideai" || h.GetLocale() != "fr_FR.UTF-8" || h.GetArgvItemLimitBytes() == 0 {
			t.Errorf("facts %v", h)
		}
	}
	if n := asked(t, runs); n != 1 {
		t.Errorf("asked %d times for the version, want once", n)
	}
	// A new program of the same name is asked again.
	fakeBinary(t, dir, fmt.Sprintf("echo x >>'%s'\necho '2.2.0 (Claude Code)'\n", runs))
	h, err := host.Facts(t.Context(), claude(t), host.FactsOptions{CacheFile: cache})
	if err != nil || h.GetCliVersion() != "2.2.0" {
		t.Errorf("version %q after an update, %v", h.GetCliVersion(), err)
	}
}

func asked(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), "x")
}

func TestFactsWithoutAVersion(t *testing.T) {
	for name, script := range map[string]string{"failing": "exit 3\n", "silent": "exit 0\n", "odd": "echo hello\n"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fakeBinary(t, dir, script)
			t.Setenv("PATH", dir+":/usr/bin:/bin")
			h, err := host.Facts(t.Context(), claude(t), host.FactsOptions{})
			if err != nil || h.GetCliVersion() != "" {
				t.Errorf("version %q, %v", h.GetCliVersion(), err)
			}
		})
	}
}

// pi tells its version on standard error.
func TestAVersionOnStandardErrorCounts(t *testing.T) {
	dir := t.TempDir()
	fakeBinary(t, dir, "echo 'no update'\necho '2.1.332 (Claude Code)' >&2\n")
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	h, err := host.Facts(t.Context(), claude(t), host.FactsOptions{})
	if err != nil || h.GetCliVersion() != "2.1.332" {
		t.Errorf("version %q, %v", h.GetCliVersion(), err)
	}
}

// The names of the person's variables that stand in a carrier's way are told,
// never their values.
func TestFactsNameTheVariablesThatMatter(t *testing.T) {
	dir := t.TempDir()
	fakeBinary(t, dir, "")
	if err := os.Rename(filepath.Join(dir, "claude"), filepath.Join(dir, "opencode")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	p, err := provider.Builtin().Profile("opencode")
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{"": "", "{}": "OPENCODE_CONFIG_CONTENT"} {
		t.Setenv("OPENCODE_CONFIG_CONTENT", value)
		h, err := host.Facts(t.Context(), p, host.FactsOptions{})
		if err != nil || strings.Join(h.GetEnvNames(), " ") != want {
			t.Errorf("with value %q: %q, %v", value, h.GetEnvNames(), err)
		}
	}
}

func TestACLIThatIsNotInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := host.Facts(t.Context(), claude(t), host.FactsOptions{})
	var missing *host.NotInstalledError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "npm install -g @anthropic-ai/claude-code") {
		t.Errorf("got %v", err)
	}
}

func TestACLIInTheFolderOneStandsIn(t *testing.T) {
	dir := t.TempDir()
	fakeBinary(t, dir, "echo '2.1.332 (Claude Code)'\n")
	t.Chdir(dir)
	t.Setenv("PATH", ".")
	_, err := host.Facts(t.Context(), claude(t), host.FactsOptions{})
	var missing *host.NotInstalledError
	if !errors.As(err, &missing) {
		t.Errorf("a program of the current folder was accepted: %v", err)
	}
}

func TestPassAddsNothing(t *testing.T) {
	dir := t.TempDir()
	fakeBinary(t, dir, `echo "$#:$1:$2:$IDEAI_TOKEN"; exit 4`+"\n")
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	r, w := pipe(t)
	code, err := host.Pass(t.Context(), claude(t), []string{"mcp", "list all"}, host.Options{Stdin: devNull(t), Stdout: w})
	if err != nil || code != 4 {
		t.Errorf("code %d, %v", code, err)
	}
	_ = w.Close()
	if out, _ := io.ReadAll(r); string(out) != "2:mcp:list all:\n" {
		t.Errorf("the CLI saw %q", out)
	}
	t.Setenv("PATH", t.TempDir())
	var missing *host.NotInstalledError
	if _, err := host.Pass(t.Context(), claude(t), nil, host.Options{}); !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
}

func TestACLIThatIsIdeaiItself(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "claude")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if _, err := host.Facts(t.Context(), claude(t), host.FactsOptions{}); err == nil || !strings.Contains(err.Error(), "link to ideai itself") {
		t.Errorf("got %v", err)
	}
}
