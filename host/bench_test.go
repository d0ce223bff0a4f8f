//go:build unix

package host_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/host"
)

// BenchmarkRun is what a launch costs beside the CLI itself: a directory with
// two files, a process that ends at once, the directory removed.
func BenchmarkRun(b *testing.B) {
	project := b.TempDir()
	for i := 0; b.Loop(); i++ {
		id := "launch-" + strconv.Itoa(i)
		side := filepath.Join(project, ".ideai", "run", id)
		code, err := host.Run(b.Context(), &launcherv1.LaunchPlan{
			LaunchId: id, SideDirectory: side, Cwd: project,
			Argv: []*typev1.Arg{{Value: "/bin/sh"}, {Value: "-c"}, {Value: ":"}},
			Files: []*typev1.File{
				{Path: filepath.Join(side, "CLAUDE.md"), Content: []byte(strings.Repeat("x", 20000)), Mode: 0o600},
				{Path: filepath.Join(side, "mcp.json"), Content: []byte("{}"), Mode: 0o600},
			},
		}, host.Options{ProjectRoot: project})
		if err != nil || code != 0 {
			b.Fatal(code, err)
		}
	}
}
