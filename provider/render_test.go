package provider

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/idea-ide/ideai/internal/fault"
)

func handOver(t *testing.T, id string) Piece {
	t.Helper()
	return profile(t, id).HandOver(Values{
		Side: "/p/.ideai/run/l1", Project: "/p", Ideai: "/usr/bin/ideai", Address: "unix:///run/i.sock",
		Token: "s3cret", Language: "fr", Tools: []string{"idea_memory_recall", "idea_memory_read"},
	})
}

func TestClaudeIsHandedTheServer(t *testing.T) {
	got := handOver(t, "claude")
	want := Piece{
		Files: []File{{
			Path: "/p/.ideai/run/l1/mcp.json", Mode: 0o600,
			Content: []byte(`{"mcpServers":{"ideai":{"type":"stdio","command":"/usr/bin/ideai","args":["mcp","--language=fr"],"alwaysLoad":true}}}` + "\n"),
		}},
		Args: []Arg{
			{Value: "--mcp-config=/p/.ideai/run/l1/mcp.json"},
			{Value: "--allowedTools=mcp__ideai__idea_memory_recall,mcp__ideai__idea_memory_read"},
			{Value: "--disallowedTools=Edit(//**/.ideai/memory/**),Edit(//**/.ideai/conversations/**),Edit(//**/.ideai/run/**)," +
				"Edit(//**/.ideai/proposals/**),Edit(//**/.ideai/rotation/**),Edit(//**/.ideai/*.json),Read(//**/.ideai/conversations/**)"},
		},
		Env:      []EnvVar{{Name: "IDEAI_ADDRESS", Value: "unix:///run/i.sock"}, {Name: "IDEAI_TOKEN", Value: "s3cret", Secret: true}},
		EnvUnset: []string{"IDEAI_INSTRUCTIONS"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCodexIsHandedTheServer(t *testing.T) {
	p := profile(t, "codex")
	carrier, err := p.Choose(Want{Kind: Fresh})
	if err != nil {
		t.Fatal(err)
	}
	context, err := p.Inject(carrier, Fresh, Values{Side: "/p/.ideai/run/l1", Context: "# Règles\n"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := Join(context, handOver(t, "codex"))
	want := Piece{
		Files: []File{{Path: "/p/.ideai/run/l1/instructions.md", Mode: 0o600, Content: []byte("# Règles\n")}},
		Args: []Arg{
			{Value: "-c"},
			{Value: `mcp_servers.ideai={"command"="/usr/bin/ideai","args"=["mcp","--language=fr"],` +
				`"env_vars"=["IDEAI_ADDRESS","IDEAI_TOKEN","IDEAI_INSTRUCTIONS"],"default_tools_approval_mode"="approve",` +
				`"required"=true,"startup_timeout_sec"=60,"enabled"=true}`},
			{Value: "-c"},
			{Value: `features.code_mode.direct_only_tool_namespaces=["mcp__ideai"]`},
		},
		Env: []EnvVar{
			{Name: "IDEAI_INSTRUCTIONS", Value: "/p/.ideai/run/l1/instructions.md"},
			{Name: "IDEAI_ADDRESS", Value: "unix:///run/i.sock"}, {Name: "IDEAI_TOKEN", Value: "s3cret", Secret: true},
		},
		EnvUnset: []string{}, // set, so not unset
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEveryCarrierTakesTheContextWhole(t *testing.T) {
	const context = "# Règles\n\n{side} {token} {{x}} \"q\" 'q' \\ $HOME `x` \x7f \u2028 <&>\n"
	for _, p := range Builtin().Profiles() {
		for i := range p.Carriers {
			c := &p.Carriers[i]
			piece, err := p.Inject(c, c.Kinds[0], Values{Side: "/side", Context: context}, 0)
			if err != nil {
				t.Errorf("%s %s: %v", p.ID, c.Name, err)
				continue
			}
			if n := found(piece, Neutralise(context, c.Neutralise)); n != 1 {
				t.Errorf("%s %s carries the context %d times", p.ID, c.Name, n)
			}
		}
	}
}

// found counts where a piece holds a text, as it is or as a TOML or JSON string.
func found(p Piece, text string) int {
	n := strings.Count(string(p.Stdin), text)
	for _, f := range p.Files {
		n += strings.Count(string(f.Content), text)
	}
	for _, a := range p.Args {
		if _, value, ok := strings.Cut(a.Value, "="); ok {
			var s string
			if value == text || json.Unmarshal([]byte(value), &s) == nil && s == text {
				n++
			}
		}
	}
	return n
}

func TestLimits(t *testing.T) {
	codex, claude := profile(t, "codex"), profile(t, "claude")
	for _, c := range []struct {
		name    string
		profile *Profile
		want    Want
		context string
		limit   int64
		instead string // of a refusal, "" = taken
	}{
		{"fits", codex, Want{Kind: Fresh, Carrier: "developer_instructions"}, strings.Repeat("a", 131071-len(`developer_instructions=""`)), 0, ""},
		{"one byte too many", codex, Want{Kind: Fresh, Carrier: "developer_instructions"}, strings.Repeat("a", 131072-len(`developer_instructions=""`)), 0, "mcp_instructions"},
		{"escapes count", codex, Want{Kind: Fresh, Carrier: "developer_instructions"}, strings.Repeat("\n", 70000), 0, "mcp_instructions"},
		{"the host takes less", codex, Want{Kind: Fresh, Carrier: "developer_instructions"}, strings.Repeat("a", 9000), 8191, "mcp_instructions"},
		{"a file has no such limit", codex, Want{Kind: Fresh}, strings.Repeat("a", 1<<20), 8191, ""},
		{"standard input", codex, Want{Kind: Headless, Carrier: "stdin", Headless: true}, strings.Repeat("a", 900001), 0, "mcp_instructions"},
		{"claude's file", claude, Want{Kind: Fresh}, strings.Repeat("a", 1<<20), 8191, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			carrier, err := c.profile.Choose(c.want)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.profile.Inject(carrier, c.want.Kind, Values{Side: "/s", Context: c.context}, c.limit)
			f, refused := fault.As(err)
			if refused != (c.instead != "") {
				t.Fatalf("got %v", err)
			}
			if refused && (f.Reason != fault.InjectionTooLarge || f.Meta["instead"] != c.instead) {
				t.Errorf("got %s, instead %q, want %q", f.Reason, f.Meta["instead"], c.instead)
			}
		})
	}
}

// A variable that is a list cannot hold an item with its separator in it.
func TestAFolderThatNoListCanHoldIsRefused(t *testing.T) {
	p := profile(t, "copilot")
	carrier, err := p.Choose(Want{Kind: Fresh})
	if err != nil {
		t.Fatal(err)
	}
	piece, err := p.Inject(carrier, Fresh, Values{Side: "/p q/é/run", Context: "c"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []EnvVar{{Name: "COPILOT_CUSTOM_INSTRUCTIONS_DIRS", Value: "/p q/é/run", Separator: ","}}
	if diff := cmp.Diff(want, piece.Env); diff != "" {
		t.Error(diff)
	}
	_, err = p.Inject(carrier, Fresh, Values{Side: "/p,q/run", Context: "c"}, 0)
	if fault.ReasonOf(err) != fault.InjectionUnsupported || !strings.Contains(err.Error(), "/p,q/run") {
		t.Errorf("a folder with a comma: %v", err)
	}
}

// What a person has set in the environment may stand in a carrier's way.
func TestVariablesOfThePersonAreConflicts(t *testing.T) {
	src := strings.Replace(small, "carriers:", "conflicts: [{env: [X_OFF], why: y, carriers: [file]}]\ncarriers:", 1)
	p, err := Parse("x.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.ConflictEnv(); !slices.Equal(got, []string{"X_OFF"}) {
		t.Errorf("variables that matter: %v", got)
	}
	inv := p.ReadArgs(nil)
	if _, err := p.Choose(Want{Kind: Fresh, Invocation: inv}); err != nil {
		t.Errorf("without it: %v", err)
	}
	inv.Env = []string{"X_OFF"}
	if _, err := p.Choose(Want{Kind: Fresh, Invocation: inv}); fault.ReasonOf(err) != fault.ArgumentConflict {
		t.Errorf("with it: %v", err)
	}
}

func TestWithoutTools(t *testing.T) {
	for _, c := range []struct{ profile, openFolder, want string }{
		{"claude", "/tmp", ""},
		{"pi", "", "pi takes no MCP servers"},
		{"gemini", "", ""},
		{"gemini", "/srv/open", "chmod go-w '/srv/open'"},
	} {
		if got := profile(t, c.profile).WithoutTools(c.openFolder); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s below %q: %q, want %q", c.profile, c.openFolder, got, c.want)
		}
	}
}

// Values are put in as they are, once, whatever they look like.
func TestValuesAreNotExpandedAgain(t *testing.T) {
	var tmpl text
	if err := tmpl.set("{{{side}}}={context};{project}"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.SampledFrom([]string{"{side}", "{context}", "{", "}", "{{", "x", "é", "\n", `"`})
		value := func(name string) string { return strings.Join(rapid.SliceOf(any).Draw(t, name), "") }
		v := Values{Side: value("side"), Context: value("context"), Project: value("project")}
		r := renderer{values: v}
		if got, want := r.text(&tmpl), "{"+v.Side+"}="+v.Context+";"+v.Project; got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// Every string survives as JSON reads it, without what TOML refuses.
func TestStringsSurviveEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ToValidUTF8(rapid.String().Draw(t, "s"), "\uFFFD")
		encoded := string(appendString(nil, s))
		var back string
		if err := json.Unmarshal([]byte(encoded), &back); err != nil || back != s {
			t.Fatalf("%q came back as %q, %v", s, back, err)
		}
		for _, r := range encoded {
			if r < 0x20 || r == 0x7f {
				t.Fatalf("a raw control character %q in %q", r, encoded)
			}
		}
	})
}

func TestArgvKeepsThePersonsArguments(t *testing.T) {
	got := Argv("/bin/claude", []Arg{{Value: "--a"}}, []string{"-p", "two words", ""})
	want := []Arg{{Value: "/bin/claude"}, {Value: "--a"}, {Value: "-p"}, {Value: "two words"}, {Value: ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Where a flag takes every value up to the next flag, ours must not swallow the
// person's prompt: claude ends at a value written with "=", the others do not.
func TestOurArgumentsSwallowNoPrompt(t *testing.T) {
	for _, p := range Builtin().Profiles() {
		for i := range p.Carriers {
			piece, err := p.Inject(&p.Carriers[i], p.Carriers[i].Kinds[0], Values{Side: "/s", Context: "c"}, 0)
			if err != nil {
				t.Fatal(err)
			}
			args := Join(piece, p.HandOver(Values{Side: "/s"})).Args
			if len(args) == 0 {
				continue
			}
			name, _, joined := strings.Cut(args[len(args)-1].Value, "=")
			if slices.Contains(p.Arguments.Variadic, name) && (p.ID != "claude" || !joined) {
				t.Errorf("%s: our last argument %q takes the person's prompt", p.ID, name)
			}
		}
	}
}
