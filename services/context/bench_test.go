package contextsvc_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idea-ide/ideai/internal/store/storefile"
	"github.com/idea-ide/ideai/internal/tokens"
	"github.com/idea-ide/ideai/provider"
	contextsvc "github.com/idea-ide/ideai/services/context"
)

// large is a project with rules of 8 KiB, 8 personas and 12 skills, on disk.
func large(b *testing.B) (tree func(context.Context, string, string) (string, error), in contextsvc.Inputs) {
	b.Helper()
	files := atelier(map[string]string{".ideai/CONTEXT.md": strings.Repeat("Les montants sont en centimes, jamais en flottants.\n", 160)})
	for i := range 8 {
		files[fmt.Sprintf(".ideai/agents/agent-%d.md", i)] = "---\nname: Agent\ndescription: Fait une chose\n---\n\n" + strings.Repeat("Tu fais bien.\n", 40)
	}
	for i := range 12 {
		files[fmt.Sprintf(".ideai/skills/skill-%d/SKILL.md", i)] = "---\ndescription: Une compétence\n---\n\n" + strings.Repeat("1. Fais-le.\n", 60)
	}
	dir := b.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	in = inputs()
	for i := range 6 {
		in.Notes = append(in.Notes, contextsvc.Note{ID: fmt.Sprintf("note-%d", i), Form: contextsvc.Full, Text: strings.Repeat(fmt.Sprintf("Fait %d : une phrase. ", i), 30)})
	}
	for i := range 30 {
		in.Notes = append(in.Notes, contextsvc.Note{ID: fmt.Sprintf("p-%d", i), Form: contextsvc.Pointer, Description: fmt.Sprintf("Une chose utile, la %d", i)})
	}
	return func(context.Context, string, string) (string, error) { return dir, nil }, in
}

func serviceOn(b *testing.B, tree func(context.Context, string, string) (string, error), counter contextsvc.Counter) *contextsvc.Service {
	b.Helper()
	stores := storefile.NewOpener("context", tree)
	b.Cleanup(func() { _ = stores.Close() })
	s, err := contextsvc.New(contextsvc.Config{}, contextsvc.Deps{
		Stores: stores, Files: contextsvc.NewFiles(tree), Catalogue: provider.Builtin(), Tokens: counter,
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func composeOnce(b *testing.B, s *contextsvc.Service, in contextsvc.Inputs) {
	b.Helper()
	if _, _, err := s.Compose(b.Context(), at, in); err != nil {
		b.Fatal(err)
	}
}

// Every launch but the first of a project.
func BenchmarkComposeWarm(b *testing.B) {
	tree, in := large(b)
	s := serviceOn(b, tree, counter)
	for began := time.Now(); time.Since(began) < 4*time.Second; { // the store does not trust files that are younger
		composeOnce(b, s, in)
	}
	for b.Loop() {
		composeOnce(b, s, in)
	}
}

// The first launch in a server: files are parsed, texts counted; only the
// vocabulary is loaded.
func BenchmarkComposeCold(b *testing.B) {
	tree, in := large(b)
	counter.Count("load")
	s := serviceOn(b, tree, forgetful{})
	for b.Loop() {
		composeOnce(b, s, in)
	}
}

// forgetful counts every text anew.
type forgetful struct{}

func (forgetful) Count(text string) int { return tokens.NewCounter().Count(text) }

func BenchmarkRender(b *testing.B) {
	tree, in := large(b)
	s := serviceOn(b, tree, counter)
	c, _, err := s.Compose(b.Context(), at, in)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Render(contextsvc.Injection{Context: c, Profile: "claude", Kind: provider.Fresh, SideDirectory: side, ProjectRoot: root}); err != nil {
			b.Fatal(err)
		}
	}
}
