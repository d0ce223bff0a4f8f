//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// person is a person's own folders, with a CLI that ends at once.
type person struct {
	b     *testing.B
	ideai string
	env   []string
	dir   string
}

func newPerson(b *testing.B) *person {
	b.Helper()
	runtime, err := os.MkdirTemp("", "ideai-run") //nolint:usetesting // a socket's path must be short
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(runtime) })
	home := b.TempDir()
	p := &person{b: b, ideai: filepath.Join(home, "bin", "ideai"), dir: filepath.Join(home, "shop")}
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			b.Fatal(err)
		}
	}
	write("bin/claude", "#!/bin/sh\n[ \"$1\" = --version ] && echo '2.1.332 (Claude Code)'\ndate +%s%N >>$HOME/started\n", 0o755)
	write("shop/.ideai/CONTEXT.md", strings.Repeat("Follow the rules of the house.\n", 50), 0o644)
	for i := range 100 {
		write(fmt.Sprintf("shop/.ideai/memory/n%d.md", i), fmt.Sprintf("---\ndescription: Note %d\n---\nText %d.\n", i, i), 0o644)
	}
	if out, err := exec.Command("go", "build", "-o", p.ideai, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	p.env = append(os.Environ(), "HOME="+home, "XDG_RUNTIME_DIR="+runtime, "IDEAI_STATE_DIR="+filepath.Join(home, "state"),
		"PATH="+filepath.Join(home, "bin")+":"+os.Getenv("PATH"))
	b.Cleanup(func() { p.run("serve", "--stop") })
	return p
}

func (p *person) run(args ...string) string {
	p.b.Helper()
	cmd := exec.Command(p.ideai, args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.Output()
	if err != nil {
		p.b.Fatalf("ideai %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// BenchmarkWarmLaunch is `ideai claude` with a server that runs: from its start
// to the start of the CLI's own process.
func BenchmarkWarmLaunch(b *testing.B) {
	p := newPerson(b)
	p.run("init", "--yes")
	p.run("claude")
	started := filepath.Join(filepath.Dir(p.dir), "started")
	var took []time.Duration
	for b.Loop() {
		_ = os.Remove(started)
		begin := time.Now()
		p.run("claude")
		data, err := os.ReadFile(started)
		if err != nil {
			b.Fatal(err)
		}
		at, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Unix(0, at).Sub(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkColdStart is the first command of a day: it starts the server.
func BenchmarkColdStart(b *testing.B) {
	p := newPerson(b)
	p.run("project", "list")
	for b.Loop() {
		p.run("serve", "--stop")
		begin := time.Now()
		p.run("project", "list")
		b.ReportMetric(float64(time.Since(begin).Microseconds())/1000, "cold-ms")
	}
	status, err := os.ReadFile("/proc/" + serverPID(p) + "/status")
	if err != nil {
		b.Skip("resident memory is read from /proc")
	}
	rss := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status)
	kib, err := strconv.Atoi(string(rss[1]))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(kib)/1024, "idle-MiB")
}

func serverPID(p *person) string {
	m := regexp.MustCompile(`process (\d+)`).FindStringSubmatch(p.run("version"))
	if m == nil {
		p.b.Fatal("no server runs")
	}
	return m[1]
}
