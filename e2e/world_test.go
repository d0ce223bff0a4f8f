package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idea-ide/ideai/e2e/stubmodel"
)

// world is a fresh machine for one test: its own HOME with the person's own
// settings, a project in a folder with spaces and accents, the real CLIs on
// PATH and a stub model that they are configured to use, as a person would
// configure them: by files and variables, never by arguments of ours.
type world struct {
	t       *testing.T
	home    string
	project string
	model   *stubmodel.Server
	env     []string
}

var (
	ideaiBin = os.Getenv("IDEAI_E2E_BIN")
	clisDir  = os.Getenv("IDEAI_E2E_CLIS")
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "own-mcp-server" {
		runOwnMCPServer()
		return
	}
	os.Exit(m.Run())
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if ideaiBin == "" || clisDir == "" {
		t.Skip("needs the binary and the CLIs: make e2e")
	}
	// Not t.TempDir: its path grows with the test's name and unix sockets have
	// a length limit that a person's paths do not meet.
	base, err := os.MkdirTemp("", "ide") //nolint:usetesting // sockets need a short path
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(base)) })
	w := &world{t: t, home: filepath.Join(base, "home"), project: filepath.Join(base, "mes projets", "atelier été"), model: stubmodel.Start(t)}
	for _, dir := range []string{w.home, w.project, filepath.Join(base, "run"), filepath.Join(base, "tmp")} {
		must(t, os.MkdirAll(dir, 0o700))
	}
	path := []string{filepath.Dir(ideaiBin)}
	for _, cli := range []string{"node-22.23.3", "claude-2.1.332", "codex-0.171.0", "gemini-0.61.0", "opencode-1.18.33", "qwen-0.24.4", "copilot-1.0.102", "pi-0.73.1"} {
		path = append(path, filepath.Join(clisDir, cli, "node_modules", ".bin"))
	}
	w.env = []string{
		"HOME=" + w.home, "PATH=" + strings.Join(append(path, os.Getenv("PATH")), ":"),
		"XDG_RUNTIME_DIR=" + filepath.Join(base, "run"), "TMPDIR=" + filepath.Join(base, "tmp"),
		"TERM=xterm-256color", "LANG=C.UTF-8", "IDEAI_IDLE_TIMEOUT=60s",
		"ANTHROPIC_BASE_URL=" + w.model.URL, "ANTHROPIC_API_KEY=dummy",
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "STUB_KEY=dummy",
	}
	w.write(filepath.Join(w.home, ".codex/config.toml"), `
model = "stub-model"
model_provider = "stub"
sandbox_mode = "danger-full-access"
[model_providers.stub]
name = "stub"
base_url = "`+w.model.URL+`/v1"
env_key = "STUB_KEY"
wire_api = "responses"
`)
	w.run("git", "init", "-q", w.project)
	t.Cleanup(w.stopServer)
	return w
}

// stopServer ends the background server, so that nothing outlives the test.
func (w *world) stopServer() {
	if out, err := w.try(30*time.Second, w.home, "", "ideai", "serve", "--stop"); err != nil {
		w.t.Logf("stopping the server: %v\n%s", err, out.all())
	}
}

// result is what a command said.
type result struct {
	stdout, stderr string
	code           int
}

func (r result) all() string { return r.stdout + r.stderr }

// try runs a command in dir with stdin and returns what it said; the error is
// set when it could not run or its exit code is not 0.
func (w *world) try(limit time.Duration, dir, stdin string, name string, args ...string) (result, error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.lookPath(name), args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, w.env, strings.NewReader(stdin)
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	r := result{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
	if ctx.Err() != nil {
		err = errors.Join(err, ctx.Err())
	}
	return r, err
}

// run runs a command in the project and fails the test when it fails.
func (w *world) run(name string, args ...string) result {
	w.t.Helper()
	return w.runIn(w.project, "", name, args...)
}

func (w *world) runIn(dir, stdin string, name string, args ...string) result {
	w.t.Helper()
	r, err := w.try(2*time.Minute, dir, stdin, name, args...)
	if err != nil {
		w.t.Fatalf("%s %s: %v\n--- stdout\n%s\n--- stderr\n%s", name, strings.Join(args, " "), err, r.stdout, r.stderr)
	}
	return r
}

func (w *world) lookPath(name string) string {
	w.t.Helper()
	for _, kv := range w.env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			for _, dir := range filepath.SplitList(path) {
				if p := filepath.Join(dir, name); isExecutable(p) {
					return p
				}
			}
		}
	}
	w.t.Fatalf("%s is not on PATH", name)
	return ""
}

func isExecutable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}

// write writes a file with its folders; relative paths are in the project.
func (w *world) write(path, text string) {
	w.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.project, path)
	}
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(w.t, os.WriteFile(path, []byte(text), 0o644))
}

func (w *world) read(path string) string {
	w.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.project, path)
	}
	b, err := os.ReadFile(path)
	must(w.t, err)
	return string(b)
}

// project texts: each carries a marker that a test looks for in requests.
const (
	rulesHead = "RULES-HEAD-7c1f"
	rulesTail = "RULES-TAIL-90aa"
	persona   = "PERSONA-51d2"
	noteText  = "NOTE-3b77"
)

// setUpProject writes rules of about 60 KB, a persona and two notes, and trusts
// the project.
func (w *world) setUpProject() {
	w.t.Helper()
	filler := strings.Repeat("Every change has a test and a reason in its message.\n", 1100)
	w.write(".ideai/CONTEXT.md", "# House rules\n\n"+rulesHead+"\n\n"+filler+"\n"+rulesTail+"\n")
	w.write(".ideai/agents/dev.md", "---\nname: Dev\ndescription: writes the code\npinned: [retry-policy]\n---\n"+persona+" You write Go and keep it plain.\n")
	w.write(".ideai/memory/retry-policy.md", "---\nname: retry-policy\ndescription: how upstream calls are retried\nmetadata:\n  type: project\n---\n"+noteText+" Exponential backoff from 200 ms, at most five attempts.\n")
	w.write(".ideai/memory/decoupe-des-factures.md", "---\nname: decoupe-des-factures\ndescription: arrondi des montants de facture\nmetadata:\n  type: project\n---\nARRONDI-44e0 Les montants sont des entiers en centimes, arrondis au pair.\n")
	w.run("ideai", "init", "--yes")
}

// effectiveContext returns the sections' texts as ideai composes them now.
func (w *world) effectiveContext(profile string) []string {
	w.t.Helper()
	out := w.run("ideai", "context", "show", "--profile", profile, "--json").stdout
	var r struct {
		Context struct {
			Sections []struct{ Text string } `json:"sections"`
		} `json:"context"`
	}
	must(w.t, json.Unmarshal([]byte(out), &r))
	var texts []string
	for _, s := range r.Context.Sections {
		texts = append(texts, s.Text)
	}
	if len(texts) < 4 {
		w.t.Fatalf("want rules, persona, capabilities and memory, got %d sections:\n%s", len(texts), out)
	}
	return texts
}

// lastTurn returns the last request that was a turn of the conversation.
func (w *world) lastTurn() stubmodel.Request {
	w.t.Helper()
	reqs := w.model.Requests()
	for i := len(reqs) - 1; i >= 0; i-- {
		if reqs[i].MainTurn() {
			return reqs[i]
		}
	}
	w.t.Fatalf("no turn among %d model requests", len(reqs))
	return stubmodel.Request{}
}

// mustHoldWhole fails unless the request holds every section verbatim, once.
func (w *world) mustHoldWhole(r stubmodel.Request, sections []string) {
	w.t.Helper()
	text := r.Text()
	for _, s := range sections {
		if n := strings.Count(text, strings.TrimSpace(s)); n != 1 {
			w.t.Errorf("section %.60q… is in the model request %d times, want once", s, n)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
