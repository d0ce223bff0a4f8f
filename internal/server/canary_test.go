package server_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/server"
	"github.com/idea-ide/ideai/internal/server/servertest"
	"github.com/idea-ide/ideai/services/launcher/launchertest"
)

// What must not cross, each planted where it could be taken from by mistake.
var canaries = map[string]string{
	"another project's note":     "canary-ortolan-note",
	"another project's rules":    "canary-ortolan-rules",
	"another project's persona":  "canary-ortolan-persona",
	"the text of a skill":        "canary-skill-text",
	"a secret in the settings":   "canary-settings-secret",
	"a secret beside the code":   "canary-dotenv-secret",
	"a conversation's log":       "canary-log-turn",
	"the lives of other agents":  "canary-live-state",
	"a proposal not yet read":    "canary-proposal",
	"an untracked note's backup": "canary-backup",
	"the server's environment":   "canary-environment",
}

// TestNothingCrossesTheFrontier plants unique strings and asks for everything
// an agent can be given. The strings that must arrive prove that it looks.
func TestNothingCrossesTheFrontier(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", canaries["the server's environment"])
	var logs logBuffer
	s := servertest.Start(t, func(c *server.Config) {
		c.Log = slog.New(slog.NewJSONHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	s.Project("bank", map[string]string{
		".ideai/CONTEXT.md":        canaries["another project's rules"],
		".ideai/agents/dev.md":     "---\ndescription: Dev\n---\n" + canaries["another project's persona"],
		".ideai/memory/invoice.md": "---\ndescription: How invoices are rounded\n---\n" + canaries["another project's note"],
	})
	root := s.Project("shop", map[string]string{
		".ideai/CONTEXT.md":                    "must-arrive-rules",
		".ideai/agents/dev.md":                 "---\ndescription: Dev\npinned: [vat]\n---\nmust-arrive-persona",
		".ideai/agents/tester.md":              "---\ndescription: must-arrive-colleague\n---\nTests.",
		".ideai/skills/deploy/SKILL.md":        "---\nname: deploy\ndescription: must-arrive-skill\n---\n" + canaries["the text of a skill"],
		".ideai/memory/invoice.md":             "---\ndescription: How invoices are rounded\n---\nmust-arrive-note, half to even",
		".ideai/memory/vat.md":                 "---\ndescription: Rates of VAT\n---\nmust-arrive-pinned",
		".ideai/memory/.invoice.md.bak":        canaries["an untracked note's backup"],
		".ideai/project.yaml":                  "language: en\n# token: " + canaries["a secret in the settings"] + "\nvendor_key: " + canaries["a secret in the settings"] + "\n",
		".env":                                 "KEY=" + canaries["a secret beside the code"],
		".ideai/conversations/c1/log.jsonl":    `{"text":"` + canaries["a conversation's log"] + `"}`,
		".ideai/live-state.json":               `{"intent":"` + canaries["the lives of other agents"] + `"}`,
		".ideai/proposals/p-1.md":              canaries["a proposal not yet read"],
		".ideai/conversations/c1/handoff.json": canaries["a conversation's log"],
	})
	owner := s.Owner()
	if _, err := owner.Launcher.SetTrust(t.Context(), &launcherv1.SetTrustRequest{ProjectId: "shop", Trusted: true}); err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(server.KeyPath(s.StateDir))
	if err != nil {
		t.Fatal(err)
	}
	keyLine := strings.Split(string(key), "\n")[1]

	given := map[string]proto.Message{}
	token := ""
	for _, profile := range []string{"claude", "codex"} {
		for _, kind := range []typev1.LaunchKind{typev1.LaunchKind_LAUNCH_KIND_FRESH, typev1.LaunchKind_LAUNCH_KIND_NATIVE_RESUME, typev1.LaunchKind_LAUNCH_KIND_HEADLESS} {
			req := launchertest.Request("shop", fmt.Sprintf("l-%s-%d", profile, kind), root)
			req.ProfileId, req.Kind, req.AgentId, req.Task = profile, kind, "dev", "how do we round invoices"
			r, err := owner.Launcher.PrepareLaunch(t.Context(), req)
			if err != nil {
				t.Fatalf("%s %s: %v", profile, kind, err)
			}
			given["plan "+profile+" "+kind.String()] = r
			token = launchertest.Env(r.GetPlan(), "IDEAI_TOKEN")
			checkToken(t, r.GetPlan(), token)
		}
	}
	if token == "" {
		t.Fatal("no plan has a token")
	}
	agent := s.Bearer(token)
	for i, q := range []string{"how do we round invoices", strings.Join(mapValues(canaries), " "), "ortolan canary"} {
		r, err := agent.Memory.RecallNotes(t.Context(), &memoryv1.RecallNotesRequest{ProjectId: "shop", Query: q, MaxNotes: 32, BudgetTokens: 50000, IndexBudgetTokens: 20000})
		if err != nil {
			t.Fatal(err)
		}
		// What the agent itself asked for comes back as the words of the query.
		for _, n := range r.GetNotes() {
			n.Why = nil
		}
		given[fmt.Sprintf("recall %d", i)] = r
	}
	for _, id := range []string{"invoice", "vat"} {
		r, err := agent.Memory.ReadNote(t.Context(), &memoryv1.ReadNoteRequest{ProjectId: "shop", NoteId: id})
		if err != nil {
			t.Fatal(err)
		}
		given["read "+id] = r
	}
	for _, id := range []string{"../project", "..", ".invoice.md.bak", "../../bank/.ideai/memory/invoice", filepath.Join(root, ".env")} {
		if r, err := agent.Memory.ReadNote(t.Context(), &memoryv1.ReadNoteRequest{ProjectId: "shop", NoteId: id}); err == nil {
			t.Errorf("an agent reads %q: %v", id, r)
		}
	}
	preview, err := owner.Launcher.PreviewContext(t.Context(), &launcherv1.PreviewContextRequest{ProjectId: "shop", AgentId: "dev", ProfileId: "claude", Task: "round invoices"})
	if err != nil {
		t.Fatal(err)
	}
	given["preview"] = preview
	if err := os.WriteFile(filepath.Join(root, ".ideai/CONTEXT.md"), []byte("must-arrive-rules, revised"), 0o644); err != nil {
		t.Fatal(err)
	}
	refreshed, err := owner.Launcher.RefreshContext(t.Context(), &launcherv1.RefreshContextRequest{ProjectId: "shop", LaunchId: fmt.Sprintf("l-codex-%d", typev1.LaunchKind_LAUNCH_KIND_HEADLESS)})
	if err != nil || len(refreshed.GetFiles()) == 0 || !strings.Contains(string(refreshed.GetFiles()[0].GetContent()), "revised") {
		t.Fatalf("refresh: %v, %v", refreshed, err)
	}
	given["refresh"] = refreshed
	renewed, err := agent.Launcher.RenewToken(t.Context(), &launcherv1.RenewTokenRequest{})
	if err != nil {
		t.Fatal(err)
	}
	given["renewed token"] = renewed

	all := ""
	for name, m := range given {
		text := readable(t, m)
		all += text
		for what, canary := range canaries {
			if strings.Contains(text, canary) {
				t.Errorf("%s holds %s", name, what)
			}
		}
		if strings.Contains(text, keyLine) {
			t.Errorf("%s holds the server's key", name)
		}
	}
	// The log tells what was done, never with what words or by which token.
	said := logs.String()
	if !strings.Contains(said, "launch prepared") {
		t.Error("the log tells of no launch: the test does not look where it should")
	}
	for _, secret := range []string{token, renewed.GetToken(), keyLine, "canary-", "must-arrive-"} {
		if strings.Contains(said, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	for _, want := range []string{"rules", "persona", "colleague", "skill", "note", "pinned"} {
		if !strings.Contains(all, "must-arrive-"+want) {
			t.Errorf("the project's own %s did not arrive: the test does not look where it should", want)
		}
	}
}

// logBuffer collects a log.
type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// checkToken makes sure that a launch's token is where only its CLI's own MCP
// server reads it: never in an argv, a file others can read, or the context.
func checkToken(t *testing.T, plan *launcherv1.LaunchPlan, token string) {
	t.Helper()
	for _, a := range plan.GetArgv() {
		if strings.Contains(a.GetValue(), token) {
			t.Errorf("the token stands in the argument %q", a.GetValue())
		}
	}
	for _, f := range plan.GetFiles() {
		if strings.Contains(string(f.GetContent()), token) {
			t.Errorf("the token stands in the file %s", f.GetPath())
		}
	}
	for _, e := range plan.GetEnv() {
		if strings.Contains(e.GetValue(), token) && !e.GetSecret() {
			t.Errorf("the token stands in %s, which is not marked secret", e.GetName())
		}
	}
}

// readable is a message as text, with the bytes fields as they are.
func readable(t *testing.T, m proto.Message) string {
	t.Helper()
	data, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + string(raw)
}

func mapValues(m map[string]string) []string {
	var out []string
	for _, v := range m {
		out = append(out, v)
	}
	return out
}
