package prove

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/background"
	"github.com/idea-ide/ideai/internal/rpc"
	"github.com/idea-ide/ideai/internal/server"
	"github.com/idea-ide/ideai/provider"
)

// options are those of a proof of the fake CLI, with a server of its own.
func options(t *testing.T, how string) Options {
	t.Helper()
	dir := t.TempDir()
	address, remove, err := background.PrivateAddress()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	srv, err := server.New(server.Config{Address: address, StateDir: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-srv.Ready()
	conn, err := srv.Dial(rpc.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Profile:  claude(t),
		Launcher: launcherv1.NewLauncherServiceClient(conn),
		Host:     &launcherv1.Host{Os: "linux", CliPath: self, CliVersion: "9.9.9", IdeaiPath: self, ServerAddress: address, Locale: "en"},
		Env:      []string{"PATH=" + os.Getenv("PATH"), fakeEnv + "=" + how, "ANTHROPIC_AUTH_TOKEN=hers"},
		Dir:      filepath.Join(dir, "world"),
	}
}

func claude(t *testing.T) *provider.Profile {
	t.Helper()
	p, err := provider.Builtin().Profile("claude")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAGoodCLIIsProvedByEveryDoor(t *testing.T) {
	o := options(t, "good")
	told := 0
	o.Done = func(Result) { told++ }
	results, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var cells []string
	for _, r := range results {
		if !r.Arrived() || r.Tools == 0 || r.Tools != r.ToolsAll {
			t.Errorf("%+v", r)
		}
		if late := r.Terminal; r.ToolsLate != late {
			t.Errorf("%s: tools late is %v", name(r.Cell), r.ToolsLate)
		}
		if len(r.Sections) != 4 {
			t.Errorf("%s has %d sections, want rules, persona, capabilities and memory", name(r.Cell), len(r.Sections))
		}
		cells = append(cells, name(r.Cell))
	}
	want := []string{
		"side_directory print new", "side_directory print resumed", "side_directory terminal new", "side_directory terminal resumed",
		"append_system_prompt_file print new", "append_system_prompt_file print resumed",
		"append_system_prompt_file terminal new", "append_system_prompt_file terminal resumed",
		"stdin print new", "stdin print resumed",
	}
	if !slices.Equal(cells, want) || told != len(want) {
		t.Errorf("proved %q, told %d times, want %q", cells, told, want)
	}
}

func name(c Cell) string {
	words := []string{c.Carrier, "print", "new"}
	if c.Terminal {
		words[1] = "terminal"
	}
	if c.Resumed {
		words[2] = "resumed"
	}
	return strings.Join(words, " ")
}

// A CLI that does anything wrong is never called proven, and what is wrong has
// a name.
func TestWhatIsWrongIsFoundOut(t *testing.T) {
	for _, c := range []struct {
		how        string
		newSession []ProblemKind // of the first run
		resumed    []ProblemKind
	}{
		{"no-files", []ProblemKind{SectionMissing}, []ProblemKind{SectionMissing}},
		{"cuts", []ProblemKind{SectionCut, SectionMissing}, []ProblemKind{SectionCut, SectionMissing}},
		{"twice", []ProblemKind{SectionTwice}, nil},
		{"reorders", []ProblemKind{OutOfOrder}, []ProblemKind{OutOfOrder}},
		{"frozen", nil, []ProblemKind{SectionMissing}},
		{"no-tools", []ProblemKind{ToolFailed, ToolMissing}, []ProblemKind{ToolFailed, ToolMissing}},
		{"denies", []ProblemKind{ToolFailed}, []ProblemKind{ToolFailed}},
		{"silent", []ProblemKind{NoRequest}, []ProblemKind{NoSession}},
		{"fails", []ProblemKind{Failed, NoRequest}, []ProblemKind{NoSession}},
	} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			o := options(t, c.how)
			o.Carrier = "side_directory"
			o.Profile = withoutTerminal(t, o.Profile)
			results, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if len(results) != 2 {
				t.Fatalf("%d results, want a new and a resumed session", len(results))
			}
			for i, want := range [][]ProblemKind{c.newSession, c.resumed} {
				got := problemKinds(results[i])
				if !slices.Equal(got, want) || results[i].Arrived() != (len(want) == 0) {
					t.Errorf("%s: problems %v, want %v: %+v", name(results[i].Cell), got, want, results[i])
				}
			}
			if c.how == "fails" && !slices.Equal(results[0].Output, []string{"cannot load the config", "see the manual"}) {
				t.Errorf("its last lines: %q", results[0].Output)
			}
		})
	}
}

func problemKinds(r Result) []ProblemKind {
	var out []ProblemKind
	for _, p := range r.Problems {
		out = append(out, p.Kind)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// withoutTerminal is a copy of the profile that is proved by printing only.
func withoutTerminal(t *testing.T, p *provider.Profile) *provider.Profile {
	t.Helper()
	profile, spec := *p, *p.Prove
	spec.Terminal.New, spec.Terminal.Resume = nil, nil
	profile.Prove = &spec
	return &profile
}

func TestACLIThatHangsIsEnded(t *testing.T) {
	for _, how := range []string{"hangs", "stubborn"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			o := options(t, how)
			o.Carrier, o.Timeout, o.killAfter = "stdin", 300*time.Millisecond, 50*time.Millisecond
			results, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if got := problemKinds(results[0]); !slices.Equal(got, []ProblemKind{NoRequest, TimedOut}) {
				t.Errorf("problems %v", got)
			}
		})
	}
}

func TestAnInterruptedProofIsNoResult(t *testing.T) {
	o := options(t, "hangs")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	results, err := Run(ctx, o)
	if err == nil || len(results) > 0 {
		t.Errorf("results %v, error %v", results, err)
	}
}

func TestACLIThatCannotBeProvedIsSaidToBe(t *testing.T) {
	o := options(t, "good")
	profile := *o.Profile
	profile.Prove = nil
	o.Profile = &profile
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no way to prove claude") {
		t.Errorf("error %v", err)
	}
	o.Profile, o.Carrier = claude(t), "absent"
	if _, err := Run(t.Context(), o); err == nil {
		t.Error("a carrier that does not exist was proved")
	}
}

func TestEveryProtocolOfTheCatalogueIsKnown(t *testing.T) {
	for _, p := range provider.Builtin().Profiles() {
		if p.Prove != nil && !slices.Contains(Protocols(), p.Prove.Protocol) {
			t.Errorf("%s speaks %q, which is none of %v", p.ID, p.Prove.Protocol, Protocols())
		}
	}
}
