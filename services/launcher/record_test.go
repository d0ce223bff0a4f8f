package launchersvc

import (
	"slices"
	"strings"
	"testing"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
)

func TestRecordLeavesSecretsOut(t *testing.T) {
	const secret = "s3cr3t-token"
	r := newRecord(&launcherv1.LaunchPlan{
		Argv: []*typev1.Arg{{Value: "/bin/cli"}, {Value: "--key=" + secret, Secret: true}, {Value: strings.Repeat("é", 4000)}},
		Env:  []*typev1.EnvVar{{Name: "IDEAI_TOKEN", Value: secret, Secret: true}, {Name: "EMPTY", Secret: true}, {Name: "PLAIN", Value: "x"}},
		Files: []*typev1.File{
			{Path: "/run/l/mcp.json", Content: []byte(`{"token":"` + secret + `"}`)},
			{Path: "/run/l/CLAUDE.md", Content: []byte("hello")},
		},
	}, nil)
	if strings.Contains(r.String(), secret) {
		t.Errorf("the record holds the secret: %v", r)
	}
	if !slices.Equal(r.GetEnvNames(), []string{"IDEAI_TOKEN", "EMPTY", "PLAIN"}) {
		t.Errorf("env %v", r.GetEnvNames())
	}
	if r.GetFiles()[0].GetSha256() != "" {
		t.Error("the digest of a file that held a secret is a way to guess it")
	}
	const hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	if f := r.GetFiles()[1]; f.GetSha256() != hello || f.GetSizeBytes() != 5 {
		t.Errorf("got %v", f)
	}
	if long := r.GetArgv()[2]; len(long) > maxRecordArg || !strings.HasSuffix(long, "é…") {
		t.Errorf("a long argument is kept as %q", long)
	}
}

func TestRecordKeepsNoValueOfThePersonsArguments(t *testing.T) {
	own := []string{"-p", "the prompt", "--settings={\"key\":\"sk-live\"}", "--model", "opus"}
	plan := &launcherv1.LaunchPlan{Argv: []*typev1.Arg{{Value: "/bin/cli"}, {Value: "--mcp-config=/run/l/mcp.json"}}}
	for _, a := range own {
		plan.Argv = append(plan.Argv, &typev1.Arg{Value: a})
	}
	got := newRecord(plan, own).GetArgv()
	want := []string{"/bin/cli", "--mcp-config=/run/l/mcp.json", "-p", "(10 bytes)", "--settings=(17 bytes)", "--model", "(4 bytes)"}
	if !slices.Equal(got, want) {
		t.Errorf("the record keeps %q, want %q", got, want)
	}
}
