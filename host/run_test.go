//go:build unix

package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/host"
	"github.com/idea-ide/ideai/internal/fault"
)

func TestRunCarriesOutThePlan(t *testing.T) {
	plan, project := newPlan(t, "report", "--flag", "two words", "é\n", "")
	plan.Cwd = filepath.Join(project, "où ça")
	if err := os.Mkdir(plan.Cwd, 0o755); err != nil {
		t.Fatal(err)
	}
	plan.Env = append(plan.Env, &typev1.EnvVar{Name: "IDEAI_TOKEN", Value: "secret=1", Secret: true},
		&typev1.EnvVar{Name: "KEPT", Value: "new"})
	plan.EnvUnset = []string{"DROPPED"}
	var pid int
	code, out := run(t, plan, host.Options{
		ProjectRoot: project,
		Env:         []string{"GORACE=atexit_sleep_ms=0", "DROPPED=x", "KEPT=old", "OTHER=o"},
		OnStarted:   func(p int, _ time.Time) { pid = p },
	})
	if code != 0 || pid == 0 {
		t.Fatalf("code %d, pid %d", code, pid)
	}
	var got seen
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	want := seen{
		Args: []string{"report", "--flag", "two words", "é\n", ""}, Cwd: plan.Cwd, Group: syscall.Getpgrp(),
		Env: map[string]string{"GORACE": "atexit_sleep_ms=0", partVar: "cli", "IDEAI_TOKEN": "secret=1", "KEPT": "new", "OTHER": "o"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	gone(t, plan)
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"exit", "0"}, 0},
		{[]string{"exit", "3"}, 3},
		{[]string{"kill", "9"}, 128 + 9},
		{[]string{"kill", "15"}, 128 + 15},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			plan, project := newPlan(t, c.args...)
			if code, _ := run(t, plan, host.Options{ProjectRoot: project}); code != c.want {
				t.Errorf("code %d, want %d", code, c.want)
			}
			gone(t, plan)
		})
	}
}

func TestFilesAreWrittenAsPlanned(t *testing.T) {
	plan, project := newPlan(t)
	side := plan.GetSideDirectory()
	plan.Files = []*typev1.File{
		{Path: filepath.Join(side, "CLAUDE.md"), Content: []byte("contexte\n"), Mode: 0o600},
		{Path: filepath.Join(side, "sub", "x.json"), Content: []byte("{}"), Mode: 0o666},
	}
	plan.Argv = append(plan.Argv, &typev1.Arg{Value: "cat"}, &typev1.Arg{Value: filepath.Join(side, "CLAUDE.md")})
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	modes := map[string]os.FileMode{}
	code, out := run(t, plan, host.Options{ProjectRoot: project, OnStarted: func(int, time.Time) {
		for _, name := range []string{"", "CLAUDE.md", "sub", "sub/x.json", ".gitignore"} {
			info, err := os.Lstat(filepath.Join(side, name))
			if err != nil {
				t.Error(err)
				continue
			}
			modes[name] = info.Mode().Perm()
		}
	}})
	if code != 0 || out != "contexte\n" {
		t.Errorf("code %d, the CLI read %q", code, out)
	}
	want := map[string]os.FileMode{"": 0o700, "CLAUDE.md": 0o600, "sub": 0o700, "sub/x.json": 0o666, ".gitignore": 0o600}
	if diff := cmp.Diff(want, modes); diff != "" {
		t.Error(diff)
	}
	gone(t, plan)
}

func TestStandardInput(t *testing.T) {
	for _, c := range []struct{ name, text, person, want string }{
		{"inherited", "", "person", "person"},
		{"prefix alone", "context\n", "", "context\n"},
		{"prefix then the person's", "context\n", "person", "context\nperson"},
		{"large", strings.Repeat("c", 1<<20), strings.Repeat("p", 1<<20), strings.Repeat("c", 1<<20) + strings.Repeat("p", 1<<20)},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, project := newPlan(t, "report")
			plan.Stdin = []byte(c.text)
			r, w := pipe(t)
			go func() {
				_, _ = w.WriteString(c.person)
				_ = w.Close()
			}()
			_, out := run(t, plan, host.Options{ProjectRoot: project, Stdin: r})
			var got seen
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			if got.Stdin != c.want {
				t.Errorf("the CLI read %d bytes, want %d", len(got.Stdin), len(c.want))
			}
		})
	}
}

func TestACLIMayIgnoreItsInput(t *testing.T) {
	plan, project := newPlan(t, "ignore-stdin")
	plan.Stdin = []byte(strings.Repeat("c", 1<<20))
	if code, _ := run(t, plan, host.Options{ProjectRoot: project}); code != 0 {
		t.Errorf("code %d", code)
	}
}

func TestACanceledContextEndsTheCLI(t *testing.T) {
	plan, project := newPlan(t, "kill", "0") // signal 0 does nothing: it waits for ever
	ctx, cancel := context.WithCancel(t.Context())
	code, err := host.Run(ctx, plan, host.Options{ProjectRoot: project, Stdin: devNull(t),
		OnStarted: func(int, time.Time) { cancel() }})
	if err != nil || code != 128+15 {
		t.Errorf("code %d, %v", code, err)
	}
	gone(t, plan)
}

func TestRefusals(t *testing.T) {
	outside := t.TempDir()
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, project string) (mutate func(p *launcherv1.LaunchPlan))
		want  string
	}{
		{"side directory exists", func(t *testing.T, project string) func(*launcherv1.LaunchPlan) {
			mustMkdir(t, filepath.Join(project, ".ideai", "run", "launch-1"))
			return func(*launcherv1.LaunchPlan) {}
		}, "exists already"},
		{"side directory elsewhere", func(*testing.T, string) func(*launcherv1.LaunchPlan) {
			return func(p *launcherv1.LaunchPlan) { p.SideDirectory = filepath.Join(outside, "launch-1") }
		}, "not directly in the run root"},
		{"side directory deeper", func(*testing.T, string) func(*launcherv1.LaunchPlan) {
			return func(p *launcherv1.LaunchPlan) {
				p.SideDirectory = filepath.Join(filepath.Dir(p.SideDirectory), "a", "launch-1")
			}
		}, "not directly in the run root"},
		{"side directory of another launch", func(*testing.T, string) func(*launcherv1.LaunchPlan) {
			return func(p *launcherv1.LaunchPlan) { p.LaunchId = "launch-2" }
		}, `does not end in "launch-2"`},
		{"file elsewhere", func(*testing.T, string) func(*launcherv1.LaunchPlan) {
			return func(p *launcherv1.LaunchPlan) {
				p.Files = []*typev1.File{{Path: filepath.Join(outside, "x"), Mode: 0o600}}
			}
		}, "not inside the side directory"},
		{"file by dots", func(*testing.T, string) func(*launcherv1.LaunchPlan) {
			return func(p *launcherv1.LaunchPlan) {
				p.Files = []*typev1.File{{Path: p.SideDirectory + "/../x", Mode: 0o600}}
			}
		}, "not inside the side directory"},
		{"file over the mark", func(*testing.T, string) func(*launcherv1.LaunchPlan) {
			return func(p *launcherv1.LaunchPlan) {
				p.Files = []*typev1.File{{Path: p.SideDirectory + "/.ideai-launch.json", Mode: 0o600}}
			}
		}, "not inside the side directory"},
		{"file twice", func(*testing.T, string) func(*launcherv1.LaunchPlan) {
			return func(p *launcherv1.LaunchPlan) {
				f := &typev1.File{Path: p.SideDirectory + "/x", Mode: 0o600}
				p.Files = []*typev1.File{f, f}
			}
		}, "exists"},
		{"run root is a link out of the project", func(t *testing.T, project string) func(*launcherv1.LaunchPlan) {
			if err := os.Symlink(outside, filepath.Join(project, ".ideai")); err != nil {
				t.Fatal(err)
			}
			return func(*launcherv1.LaunchPlan) {}
		}, "escapes"},
		{"relative program", func(*testing.T, string) func(*launcherv1.LaunchPlan) {
			return func(p *launcherv1.LaunchPlan) { p.Argv[0].Value = "claude" }
		}, "not an absolute path"},
		{"program missing", func(*testing.T, string) func(*launcherv1.LaunchPlan) {
			return func(p *launcherv1.LaunchPlan) { p.Argv[0].Value = filepath.Join(outside, "absent") }
		}, "no such file"},
		{"working directory missing", func(*testing.T, string) func(*launcherv1.LaunchPlan) {
			return func(p *launcherv1.LaunchPlan) { p.Cwd = filepath.Join(outside, "absent") }
		}, "no such file"},
		{"arguments without measure", func(*testing.T, string) func(*launcherv1.LaunchPlan) {
			return func(p *launcherv1.LaunchPlan) {
				p.Argv = append(p.Argv, &typev1.Arg{Value: strings.Repeat("x", 1<<22)})
			}
		}, "longer than this machine takes"},
		{"no program", func(*testing.T, string) func(*launcherv1.LaunchPlan) {
			return func(p *launcherv1.LaunchPlan) { p.Argv = nil }
		}, "no program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, project := newPlan(t, "exit", "0")
			c.spoil(t, project)(plan)
			_, err := host.Run(t.Context(), plan, host.Options{ProjectRoot: project, Stdin: devNull(t)})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want an error with %q", err, c.want)
			}
			if entries, _ := os.ReadDir(outside); len(entries) > 0 {
				t.Errorf("written outside: %v", entries)
			}
			if c.name != "side directory exists" {
				gone(t, plan)
			}
		})
	}
}

func TestAReadOnlyProjectIsNamed(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root writes everywhere")
	}
	plan, project := newPlan(t, "exit", "0")
	if err := os.Chmod(project, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(project, 0o700) })
	_, err := host.Run(t.Context(), plan, host.Options{ProjectRoot: project, Stdin: devNull(t)})
	if fault.ReasonOf(err) != fault.StoreReadOnly {
		t.Errorf("got %v", err)
	}
}

func mustMkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}
