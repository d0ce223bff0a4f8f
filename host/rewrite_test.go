//go:build unix

package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/host"
	"github.com/idea-ide/ideai/internal/fault"
)

// while runs a plan and calls fn when its CLI runs.
func while(t *testing.T, plan *launcherv1.LaunchPlan, project string, fn func()) {
	t.Helper()
	called := false
	run(t, plan, host.Options{ProjectRoot: project, OnStarted: func(int, time.Time) {
		called = true
		fn()
	}})
	if !called {
		t.Error("the CLI was not started")
	}
}

func TestRewriteReplacesFilesOfARunningLaunch(t *testing.T) {
	plan, project := newPlan(t, "exit", "0")
	side := plan.GetSideDirectory()
	plan.Files = []*typev1.File{{Path: side + "/CLAUDE.md", Content: []byte("old"), Mode: 0o600}, {Path: side + "/mcp.json", Content: []byte("{}"), Mode: 0o600}}
	while(t, plan, project, func() {
		open, err := os.Open(side + "/CLAUDE.md")
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = open.Close() }()
		err = host.Rewrite(&launcherv1.RefreshContextResponse{LaunchId: "launch-1", SideDirectory: side, Files: []*typev1.File{
			{Path: side + "/CLAUDE.md", Content: []byte("new text"), Mode: 0o600},
			{Path: side + "/rules/more.md", Content: []byte("more"), Mode: 0o640},
		}}, host.Options{ProjectRoot: project})
		if err != nil {
			t.Error(err)
		}
		for name, want := range map[string]string{"CLAUDE.md": "new text", "rules/more.md": "more", "mcp.json": "{}"} {
			if got, err := os.ReadFile(filepath.Join(side, name)); string(got) != want {
				t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
			}
		}
		// It was replaced, not written over: who had it open has the old one.
		was := make([]byte, 8)
		if n, _ := open.Read(was); string(was[:n]) != "old" {
			t.Errorf("the old file holds %q", was[:n])
		}
		if info, err := os.Stat(side + "/rules/more.md"); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("mode: %v %v", info.Mode(), err)
		}
		if left, _ := filepath.Glob(side + "/*.new"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	gone(t, plan)
}

func TestRewriteRefuses(t *testing.T) {
	outside := t.TempDir()
	file := func(path string) func(*launcherv1.RefreshContextResponse) {
		return func(r *launcherv1.RefreshContextResponse) {
			r.Files = append(r.Files, &typev1.File{Path: path, Content: []byte("x"), Mode: 0o600})
		}
	}
	plan, project := newPlan(t, "exit", "0")
	side := plan.GetSideDirectory()
	plan.Files = []*typev1.File{{Path: side + "/CLAUDE.md", Content: []byte("old"), Mode: 0o600}}
	while(t, plan, project, func() {
		if err := os.Symlink(outside, filepath.Join(side, "link")); err != nil {
			t.Error(err)
		}
		mustMkdir(t, filepath.Join(project, ".ideai", "run", "foreign"))
		for name, c := range map[string]struct {
			spoil  func(*launcherv1.RefreshContextResponse)
			reason fault.Reason
		}{
			"a file elsewhere":            {file(outside + "/x"), fault.OutsideProject},
			"a file by dots":              {file(side + "/../x"), fault.OutsideProject},
			"the directory itself":        {file(side), fault.OutsideProject},
			"the mark":                    {file(side + "/.ideai-launch.json"), fault.OutsideProject},
			"another launch's directory":  {func(r *launcherv1.RefreshContextResponse) { r.LaunchId = "launch-2" }, fault.LaunchNotFound},
			"a directory without a mark":  {func(r *launcherv1.RefreshContextResponse) { r.SideDirectory = filepath.Dir(side) + "/foreign" }, fault.LaunchNotFound},
			"a directory that is not":     {func(r *launcherv1.RefreshContextResponse) { r.SideDirectory = filepath.Dir(side) + "/none" }, fault.LaunchNotFound},
			"a directory elsewhere":       {func(r *launcherv1.RefreshContextResponse) { r.SideDirectory = outside }, fault.OutsideProject},
			"a directory of the project":  {func(r *launcherv1.RefreshContextResponse) { r.SideDirectory = project }, fault.OutsideProject},
			"a directory below the right": {func(r *launcherv1.RefreshContextResponse) { r.SideDirectory = side + "/rules" }, fault.OutsideProject},
		} {
			refresh := &launcherv1.RefreshContextResponse{LaunchId: "launch-1", SideDirectory: side, Files: []*typev1.File{
				{Path: side + "/CLAUDE.md", Content: []byte("new"), Mode: 0o600},
			}}
			c.spoil(refresh)
			err := host.Rewrite(refresh, host.Options{ProjectRoot: project})
			f := (*fault.Error)(nil)
			if !errors.As(err, &f) || f.Reason != c.reason {
				t.Errorf("%s: got %v, want %s", name, err, c.reason)
			}
			if got, _ := os.ReadFile(side + "/CLAUDE.md"); string(got) != "old" {
				t.Errorf("%s: a file was written before all were checked: %q", name, got)
			}
		}
		if err := host.Rewrite(&launcherv1.RefreshContextResponse{LaunchId: "launch-1", SideDirectory: side, Files: []*typev1.File{
			{Path: side + "/link/x", Content: []byte("x"), Mode: 0o600},
		}}, host.Options{ProjectRoot: project}); err == nil || !strings.Contains(err.Error(), "escapes") {
			t.Errorf("through a link: %v", err)
		}
	})
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("written outside: %v", entries)
	}
}

// Turns of one conversation find their files where they were.
func TestStructuredTurnsShareADirectory(t *testing.T) {
	plan, project := newPlan(t, "cat", "")
	plan.Kind = typev1.LaunchKind_LAUNCH_KIND_STRUCTURED_TURN
	plan.Identity = &launcherv1.Identity{ConversationId: "c-talk"}
	plan.SideDirectory = filepath.Join(project, ".ideai", "run", "c-talk")
	for _, turn := range []string{"launch-1", "launch-2"} {
		plan.LaunchId = turn
		plan.Files = []*typev1.File{{Path: plan.GetSideDirectory() + "/CLAUDE.md", Content: []byte(turn), Mode: 0o600}}
		plan.Argv[2].Value = plan.GetSideDirectory() + "/CLAUDE.md"
		if code, text := run(t, plan, host.Options{ProjectRoot: project}); code != 0 || text != turn {
			t.Errorf("%s: code %d, %q", turn, code, text)
		}
		gone(t, plan)
	}
	// One turn at a time, and what a killed one left is swept.
	mustMkdir(t, plan.GetSideDirectory())
	if err := os.WriteFile(plan.GetSideDirectory()+"/.ideai-launch.json", []byte(`{"launch_id":"launch-2","name":"c-talk","host":{"pid":1,"start":"another life"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := host.Run(t.Context(), plan, host.Options{ProjectRoot: project, Stdin: devNull(t)}); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("a second turn beside the first: %v", err)
	}
	swept, err := host.Sweep(project, filepath.Dir(plan.GetSideDirectory()), func(string) bool { return false })
	if err != nil || len(swept) != 1 || swept[0] != "launch-2" {
		t.Errorf("swept %v, %v", swept, err)
	}
	gone(t, plan)
}
