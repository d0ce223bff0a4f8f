package prove

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/idea-ide/ideai/provider"
)

// The agent of the throw-away project, and the note that only a tool call can
// show it.
const (
	agentID   = "dev"
	noteQuery = "checklist before a release"
)

// world is the throw-away project and home of one proof.
type world struct {
	dir, home, project string
	mark               string // differs between two proofs
}

func makeWorld(dir string) (*world, error) {
	random := make([]byte, 4)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	w := &world{dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "proof"), mark: hex.EncodeToString(random)}
	for _, d := range []string{w.home, w.tmp(), w.run(), filepath.Join(w.project, ".git", "objects"), filepath.Join(w.project, ".git", "refs", "heads")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	for path, text := range map[string]string{
		".git/HEAD":                   "ref: refs/heads/main\n",
		".git/config":                 "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
		".ideai/CONTEXT.md":           w.rules(),
		".ideai/memory/retry.md":      note("retry", "how upstream calls are retried", "PINNED-"+w.mark+" Back off from 200 ms, five attempts at most."),
		".ideai/memory/checklist.md":  note("checklist", "what to do before a release", w.secret()+" Run every test, write the notes, then tag the commit."),
		".ideai/skills/ship/SKILL.md": "---\nname: ship\ndescription: ships a release, SKILL-" + w.mark + "\n---\nShip it.\n",
		"README.md":                   "# A project to prove with\n",
	} {
		if err := w.write(path, text); err != nil {
			return nil, err
		}
	}
	return w, w.setPersona("first")
}

func (w *world) tmp() string { return filepath.Join(w.dir, "tmp") }
func (w *world) run() string { return filepath.Join(w.dir, "run") }

// secret is in the note that is not told at launch.
func (w *world) secret() string { return "RECALLED-" + w.mark }

// rules are longer than any limit known, and hold what CLIs expand or strip.
func (w *world) rules() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# House rules\n\nRULES-HEAD-%s\n\nSee @README.md and `code`.\n\n<!-- a comment that stays -->\n\n", w.mark)
	for i := range 700 {
		fmt.Fprintf(&b, "%d. Change number %d has a test, and a reason in its message.\n", i+1, i+1)
	}
	fmt.Fprintf(&b, "\nRULES-TAIL-%s\n", w.mark)
	return b.String()
}

// setPersona gives the agent a persona that says which one it is.
func (w *world) setPersona(which string) error {
	return w.write(".ideai/agents/"+agentID+".md", "---\nname: Dev\ndescription: writes the code\npinned: [retry]\n---\n"+
		w.persona(which)+" You keep it plain.\n")
}

func (w *world) persona(which string) string { return "PERSONA-" + which + "-" + w.mark }

func note(name, description, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\nmetadata:\n  type: project\n---\n%s\n", name, description, body)
}

func (w *world) write(path, text string) error {
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.project, filepath.FromSlash(path))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// kept are the variables that a CLI needs to run at all; of version managers'
// shims too, which find the real program by them.
var kept = []string{
	"PATH", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "COLORTERM", "USER", "LOGNAME", "SHELL",
	"VOLTA_HOME", "ASDF_*", "MISE_*", "NVM_*", "FNM_*", "NODENV_*", "NODE_VERSION", "PNPM_HOME", "BUN_INSTALL", "N_PREFIX",
	"NIX_*", "LD_LIBRARY_PATH",
}

// environment is what the CLI runs with: what it needs, the person's variables
// that the profile keeps, the throw-away folders and the way to the stand-in.
// A proxy that refuses all keeps CLIs that heed one offline.
func (w *world) environment(p *provider.Prove, person []string, endpoint string, setup provider.Piece) []string {
	var env []string
	for _, kv := range person {
		name, _, _ := strings.Cut(kv, "=")
		if matchesAny(kept, name) || p.Keeps(name) {
			env = append(env, kv)
		}
	}
	set := []string{
		"HOME=" + w.home, "TMPDIR=" + w.tmp(), "XDG_RUNTIME_DIR=" + w.run(),
		"XDG_CONFIG_HOME=" + filepath.Join(w.home, ".config"), "XDG_DATA_HOME=" + filepath.Join(w.home, ".local", "share"),
		"XDG_STATE_HOME=" + filepath.Join(w.home, ".local", "state"), "XDG_CACHE_HOME=" + filepath.Join(w.home, ".cache"),
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		set = append(set, name+"="+endpoint)
	}
	for _, e := range setup.Env {
		set = append(set, e.Name+"="+e.Value)
	}
	for _, kv := range set {
		name, _, _ := strings.Cut(kv, "=")
		env = slices.DeleteFunc(env, func(have string) bool { return strings.HasPrefix(have, name+"=") })
		env = append(env, kv)
	}
	return env
}

// matchesAny takes names, and beginnings of names that end in *.
func matchesAny(patterns []string, name string) bool {
	if runtime.GOOS == "windows" {
		return true // programs do not start there without most of it
	}
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, open := strings.CutSuffix(p, "*")
		return name == p || open && strings.HasPrefix(name, prefix)
	})
}
