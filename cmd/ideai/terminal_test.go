package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/background"
	"github.com/idea-ide/ideai/internal/fault"
)

func testTerminal() (*terminal, *bytes.Buffer, *bytes.Buffer) {
	var out, errOut bytes.Buffer
	return &terminal{out: &out, err: &errOut, questions: &errOut, lang: "en"}, &out, &errOut
}

func TestExitCodes(t *testing.T) {
	meta := fault.Meta{}
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("anything"), 1},
		{usage("wrong"), 2},
		{fault.New(fault.InvalidField, meta, "x"), 2},
		{fault.New(fault.NoteNotFound, meta, "x"), 3},
		{fmt.Errorf("wrapped: %w", fault.New(fault.ProjectNotFound, meta, "x")), 3},
		{fault.New(fault.StaleEtag, meta, "x"), 4},
		{fault.New(fault.HiddenText, meta, "x"), 4},
		{fault.New(fault.CallerNotAllowed, meta, "x"), 4},
		{fault.New(fault.StoreLocked, meta, "x"), 4},
		{&refusedError{"no"}, 4},
		{&background.InUseError{}, 4},
		{&keptError{fault.New(fault.StaleEtag, meta, "x"), "f"}, 4},
		{fault.New(fault.ServiceUnavailable, meta, "x"), 5},
		{fault.New(fault.Draining, meta, "x"), 5},
		{context.Canceled, 130},
		{&codeError{42}, 42},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v gives %d, want %d", c.err, got, c.want)
		}
	}
}

func TestForeignTextIsShownEscaped(t *testing.T) {
	term, out, errOut := testTerminal()
	evil := "a\u202Eb\x1b[31mc\u200Bd"
	term.say("%s", evil)
	term.remark("%s", errors.New(evil))
	term.block(evil)
	term.table([]string{"note"}, [][]any{{evil}})
	term.fail(fault.New(fault.NoteNotFound, fault.Meta{"note": evil}, "no note %s", evil))
	both := out.String() + errOut.String()
	for _, hidden := range []string{"\u202E", "\x1b", "\u200B"} {
		if strings.Contains(both, hidden) {
			t.Errorf("%q reached the terminal: %q", hidden, both)
		}
	}
	if n := strings.Count(both, `a\u{202E}b`); n != 5 {
		t.Errorf("the text is shown escaped %d times, want 5: %q", n, both)
	}
}

func TestJSONIsStable(t *testing.T) {
	want := ""
	for range 20 {
		term, out, _ := testTerminal()
		term.asJSON = true
		m := &launcherv1.GetServerInfoResponse{BuildId: "b", Features: []string{"x", "y"}, Pid: 1}
		if err := term.show(m, func() { t.Error("people were addressed") }); err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = out.String()
		}
		if out.String() != want {
			t.Fatalf("got %q, before %q", out, want)
		}
	}
	if !strings.Contains(want, `"buildId": "b"`) || !strings.Contains(want, `"draining": false`) {
		t.Errorf("got %s", want)
	}
}

func TestNobodyToAskIsANo(t *testing.T) {
	term, _, errOut := testTerminal()
	term.in = strings.NewReader("y\n")
	if term.ask("sure?") || errOut.Len() > 0 {
		t.Error("a question was put to nobody")
	}
	for answer, want := range map[string]bool{"y\n": true, "Yes\n": true, "oui\n": true, "n\n": false, "\n": false, "": false, "yep\n": false} {
		term.people, term.in = true, strings.NewReader(answer)
		if got := term.ask("sure?"); got != want {
			t.Errorf("%q means %v", answer, got)
		}
	}
}

func TestAnInterruptedQuestionIsANo(t *testing.T) {
	term, _, _ := testTerminal()
	in, typing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = typing.Close() })
	done := make(chan struct{})
	close(done)
	term.people, term.in, term.interrupted = true, in, done
	if term.ask("sure?") {
		t.Error("an interrupted question is a yes")
	}
}

func TestAgentsTokenIsRead(t *testing.T) {
	key, err := auth.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := key.Issuer().Issue(auth.Claims{
		Surfaces: []optionsv1.Surface{optionsv1.Surface_SURFACE_AGENT}, Person: "ada", Project: "shop", Worktree: "fix", Agent: "dev",
	}, 1e9)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readToken(raw)
	if err != nil || got.project != "shop" || got.worktree != "fix" || got.name != "dev" || got.raw != raw {
		t.Errorf("got %+v, %v", got, err)
	}
	if !got.agentic {
		t.Error("an agent's token does not count as one")
	}
	raw, err = key.Issuer().Issue(auth.Owner("ada"), 1e9)
	if err != nil {
		t.Fatal(err)
	}
	if person, err := readToken(raw); err != nil || person.agentic {
		t.Errorf("a person's token counts as an agent's: %+v, %v", person, err)
	}
	for _, bad := range []string{"x", "a.b.c", "a.!.c"} {
		if _, err := readToken(bad); err == nil {
			t.Errorf("%q counts as a token", bad)
		}
	}
}

func TestPlansAreShownWithoutSecrets(t *testing.T) {
	plan := &launcherv1.LaunchPlan{
		Argv:  []*typev1.Arg{{Value: "claude"}, {Value: "--key=s3cret", Secret: true}},
		Env:   []*typev1.EnvVar{{Name: "IDEAI_TOKEN", Value: "t0ken", Secret: true}, {Name: "A", Value: "b"}},
		Files: []*typev1.File{{Path: "/x", Content: []byte(`{"env":{"IDEAI_TOKEN":"t0ken"}}`), Mode: 0o600}},
	}
	shown := fmt.Sprint(withoutSecrets(plan))
	if strings.Contains(shown, "s3cret") || strings.Contains(shown, "t0ken") {
		t.Errorf("shown: %s", shown)
	}
	if plan.GetEnv()[0].GetValue() != "t0ken" {
		t.Error("the plan itself was changed")
	}
}

func TestCommandLine(t *testing.T) {
	args := []*typev1.Arg{{Value: "claude"}, {Value: "-p"}, {Value: "it's a test"}, {Value: ""}, {Value: strings.Repeat("é", 200)}}
	got := commandLine(args)
	if !strings.HasPrefix(got, `claude -p 'it'\''s a test' '' '`) || !strings.Contains(got, "(+200 bytes)") {
		t.Errorf("got %s", got)
	}
}
