package prove

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/provider"
)

// saved is a state folder with what a proof of claude's side directory showed.
func saved(t *testing.T, version string, env []string, problems ...Problem) string {
	t.Helper()
	dir := t.TempDir()
	results := []Result{
		{Cell: Cell{Carrier: "side_directory", Workspace: provider.Project, carrier: door(t, claude(t), "side_directory")}},
		{Cell: Cell{Carrier: "side_directory", Workspace: provider.Project, Resumed: true, Terminal: true, carrier: door(t, claude(t), "side_directory")}, Problems: problems},
	}
	if err := Save(dir, claude(t), version, env, results, time.Unix(1000, 0)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func door(t *testing.T, p *provider.Profile, name string) *provider.Carrier {
	t.Helper()
	for i := range p.Carriers {
		if p.Carriers[i].Name == name {
			return &p.Carriers[i]
		}
	}
	t.Fatalf("%s has no carrier %s", p.ID, name)
	return nil
}

func TestAProofHoldsForItsVersionAndEnvironmentOnly(t *testing.T) {
	plain := []string{"PATH=/bin", "HOME=/home/a"}
	dir := saved(t, "9.9.9", plain)
	for _, c := range []struct {
		name, version string
		env           []string
		want          int
	}{
		{"the same", "9.9.9", plain, 2},
		{"another environment that changes nothing", "9.9.9", []string{"PATH=/usr/bin", "HOME=/home/b", "CLAUDE_CODE_OAUTH_TOKEN=x"}, 2},
		{"a later version", "9.9.10", plain, 0},
		{"no known version", "", plain, 0},
		{"a variable that switches the files off", "9.9.9", append(plain, "CLAUDE_CODE_DISABLE_CLAUDE_MDS=1"), 0},
	} {
		if got := len(Known(dir, claude(t), c.version, c.env)); got != c.want {
			t.Errorf("%s: %d records, want %d", c.name, got, c.want)
		}
	}
	// A proof of what an earlier ideai gave the CLI says nothing of this one.
	changed := *claude(t)
	changed.Permissions = provider.Template{}
	if got := len(Known(dir, &changed, "9.9.9", plain)); got != 0 {
		t.Errorf("%d records hold for another hand-over", got)
	}
}

func TestFactsNameEveryKindOfLaunchThatWasProved(t *testing.T) {
	dir := saved(t, "9.9.9", nil, Problem{Kind: SectionCut, Subject: "rules"})
	facts := Facts(dir, claude(t), "9.9.9", nil)
	find := func(kind typev1.LaunchKind, terminal bool) *launcherv1.Proof {
		for _, f := range facts {
			if f.GetKind() == kind && f.GetTerminal() == terminal && f.GetCarrier() == "side_directory" &&
				f.GetWorkspace() == typev1.Workspace_WORKSPACE_PROJECT {
				return f
			}
		}
		return nil
	}
	for _, kind := range []typev1.LaunchKind{
		typev1.LaunchKind_LAUNCH_KIND_FRESH, typev1.LaunchKind_LAUNCH_KIND_HEADLESS, typev1.LaunchKind_LAUNCH_KIND_CONTINUE,
		typev1.LaunchKind_LAUNCH_KIND_SWAP, typev1.LaunchKind_LAUNCH_KIND_ROTATION,
	} {
		if f := find(kind, false); !f.GetArrived() || !f.GetProveTime().AsTime().Equal(time.Unix(1000, 0)) {
			t.Errorf("%s: %v", kind, f)
		}
		if f := find(kind, true); f != nil {
			t.Errorf("%s in a terminal was not proved, and is told as %v", kind, f)
		}
	}
	if f := find(typev1.LaunchKind_LAUNCH_KIND_NATIVE_RESUME, true); f == nil || f.GetArrived() {
		t.Errorf("what did not arrive is told as %v", f)
	}
	if f := find(typev1.LaunchKind_LAUNCH_KIND_NATIVE_RESUME, false); f != nil {
		t.Errorf("a resume by printing was not proved, and is told as %v", f)
	}
}

func TestALaterProofReplacesTheEarlier(t *testing.T) {
	dir := saved(t, "9.9.9", nil, Problem{Kind: SectionMissing, Subject: "rules"})
	again := []Result{{Cell: Cell{Carrier: "side_directory", Workspace: provider.Project, Resumed: true, Terminal: true, carrier: door(t, claude(t), "side_directory")}}}
	if err := Save(dir, claude(t), "9.9.9", nil, again, time.Unix(2000, 0)); err != nil {
		t.Fatal(err)
	}
	records := Known(dir, claude(t), "9.9.9", nil)
	if len(records) != 2 || !records[0].Arrived || !records[0].Terminal || !records[0].Time.Equal(time.Unix(2000, 0)) {
		t.Errorf("records %+v", records)
	}
}

func TestARunThatCameToNothingLeavesNoRecord(t *testing.T) {
	dir := saved(t, "9.9.9", nil)
	again := []Result{{Cell: Cell{Carrier: "side_directory", Workspace: provider.Project, carrier: door(t, claude(t), "side_directory")}, Problems: []Problem{{TimedOut, "1m"}}}}
	if err := Save(dir, claude(t), "9.9.9", nil, again, time.Unix(2000, 0)); err != nil {
		t.Fatal(err)
	}
	if records := Known(dir, claude(t), "9.9.9", nil); len(records) != 1 || !records[0].Resumed {
		t.Errorf("records %+v", records)
	}
}

func TestDamagedProofsCountAsNone(t *testing.T) {
	dir := saved(t, "9.9.9", nil)
	if err := os.WriteFile(filepath.Join(dir, "proofs", "claude.json"), []byte(`[{"version":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Known(dir, claude(t), "9.9.9", nil); len(got) != 0 {
		t.Errorf("records %+v", got)
	}
	if err := Save(dir, claude(t), "9.9.9", nil, nil, time.Unix(1, 0)); err != nil {
		t.Errorf("a damaged file is in the way: %v", err)
	}
}

func TestTheEnvironmentOfAProofIsNotThePersons(t *testing.T) {
	w := &world{dir: "/t", home: "/t/home", project: "/t/proof"}
	person := []string{"HOME=/home/ann", "PATH=/bin", "ANTHROPIC_API_KEY=secret", "CLAUDE_CODE_OAUTH_TOKEN=secret", "AWS_SECRET_ACCESS_KEY=secret",
		"CLAUDE_CONFIG_DIR=/home/ann/work", "CLAUDE_CODE_USE_BEDROCK=1", "HTTPS_PROXY=http://proxy", "CLAUDE_CODE_DISABLE_CLAUDE_MDS=1", "IDEAI_TOKEN=secret"}
	spec := claude(t).Prove
	env := w.environment(spec, person, "http://127.0.0.1:9", spec.Setup(provider.Values{Home: w.home, Project: w.project, Endpoint: "http://127.0.0.1:9"}))
	got := map[string]string{}
	for _, kv := range env {
		for i := range kv {
			if kv[i] == '=' {
				if _, twice := got[kv[:i]]; twice {
					t.Errorf("%s is set twice", kv[:i])
				}
				got[kv[:i]] = kv[i+1:]
				break
			}
		}
	}
	for name, want := range map[string]string{
		"HOME": "/t/home", "PATH": "/bin", "ANTHROPIC_API_KEY": "offline", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
		"HTTPS_PROXY": "http://127.0.0.1:9", "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	for _, name := range []string{"CLAUDE_CODE_OAUTH_TOKEN", "AWS_SECRET_ACCESS_KEY", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_BEDROCK", "IDEAI_TOKEN"} {
		if _, ok := got[name]; ok {
			t.Errorf("%s of the person is in the proof", name)
		}
	}
}
