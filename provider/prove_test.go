package provider

import (
	"slices"
	"strings"
	"testing"
)

func TestKeptVariablesAreNeitherSecretsNorPlaces(t *testing.T) {
	p := &Prove{Keep: []string{"CLI_*", "EXACT"}, Drop: []string{"CLI_DROP*"}}
	for name, want := range map[string]bool{
		"CLI_DISABLE_FILES": true, "EXACT": true, "EXACTLY": false, "OTHER": false, "CLI_DROPPED": false, "CLI_MAX_TOKENS": true,
		"CLI_OAUTH_TOKEN": false, "CLI_API_KEY": false, "CLI_CONFIG_DIR": false, "CLI_BASE_URL": false, "cli_x": false,
		"CLI_ADDITIONAL_DIRECTORIES_FILES": true,
	} {
		if got := p.Keeps(name); got != want {
			t.Errorf("%s is kept: %v, want %v", name, got, want)
		}
	}
	got := p.Kept([]string{"EXACT=2", "CLI_B=1", "CLI_A_TOKEN=x", "X=y"})
	if want := []string{"CLI_B=1", "EXACT=2"}; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}

func TestALoginShowsByPresence(t *testing.T) {
	l := Login{Env: []string{"CLI_KEY"}, Files: []string{"$CLI_HOME/auth.json", "~/.cli/auth.json"}, Maybe: []string{"~/.cli/config"}, Elsewhere: []string{"darwin"}}
	for _, c := range []struct {
		name, os string
		env      map[string]string
		files    []string
		want     LoginState
		by       string
	}{
		{"a variable", "linux", map[string]string{"CLI_KEY": "k", "HOME": "/h"}, nil, LoggedIn, "$CLI_KEY"},
		{"a file", "linux", map[string]string{"HOME": "/h"}, []string{"/h/.cli/auth.json"}, LoggedIn, "/h/.cli/auth.json"},
		{"a file of another account", "linux", map[string]string{"HOME": "/h", "CLI_HOME": "/work"}, []string{"/h/.cli/auth.json"}, LoggedOut, ""},
		{"none", "linux", map[string]string{"HOME": "/h"}, nil, LoggedOut, ""},
		{"none, with a key chain", "darwin", map[string]string{"HOME": "/h"}, nil, LoginUnknown, ""},
		{"none, with settings", "linux", map[string]string{"HOME": "/h"}, []string{"/h/.cli/config"}, LoginUnknown, ""},
		{"no home", "linux", nil, nil, LoginUnknown, ""},
	} {
		got, by := l.State(c.os, func(n string) string { return c.env[n] }, func(p string) bool { return slices.Contains(c.files, p) })
		if got != c.want || by != c.by {
			t.Errorf("%s: %s by %q, want %s by %q", c.name, got, by, c.want, c.by)
		}
	}
}

func TestAFingerprintIsOfWhatGoesIntoALaunch(t *testing.T) {
	p := profile(t, "claude")
	seen := map[string]string{}
	for i := range p.Carriers {
		c := &p.Carriers[i]
		print := p.Fingerprint(c)
		key := c.Name + string(c.Strategy) + string(c.Kinds[0])
		if other, ok := seen[print]; ok {
			t.Errorf("%s and %s have one fingerprint", key, other)
		}
		seen[print] = key
		if again := p.Fingerprint(c); again != print {
			t.Errorf("%s has two fingerprints", key)
		}
	}
	changed := *p
	changed.MCP.Args = nil
	if changed.Fingerprint(&p.Carriers[0]) == p.Fingerprint(&p.Carriers[0]) {
		t.Error("another hand-over has the same fingerprint")
	}
}

func TestEveryProofOfTheCatalogueIsComplete(t *testing.T) {
	v := Values{Home: "/h", Project: "/p", Endpoint: "http://127.0.0.1:1", Prompt: "say ok", Session: "s-1"}
	for _, p := range Builtin().Profiles() {
		if p.Prove == nil {
			continue
		}
		piece := p.Prove.Setup(v)
		var all strings.Builder
		for _, f := range piece.Files {
			all.Write(f.Content)
			if !strings.HasPrefix(f.Path, "/h/") {
				t.Errorf("%s writes %s, outside the throw-away home", p.ID, f.Path)
			}
		}
		for _, e := range piece.Env {
			all.WriteString(e.Value)
		}
		if !strings.Contains(all.String(), v.Endpoint) {
			t.Errorf("%s is not pointed at the endpoint", p.ID)
		}
		newSession := v
		newSession.Session = ""
		for _, args := range [][]string{p.Prove.Args(newSession), p.Prove.TerminalArgs(v, false)} {
			if len(args) == 0 {
				continue
			}
			if inv := p.ReadArgs(args); inv.Kind == NativeResume || inv.Manage || inv.Prompt != v.Prompt {
				t.Errorf("%s %q: read as %+v", p.ID, args, inv)
			}
		}
		for _, args := range [][]string{p.Prove.Args(v), p.Prove.TerminalArgs(v, true)} {
			if inv := p.ReadArgs(args); len(args) > 0 && inv.Kind != NativeResume {
				t.Errorf("%s %q: read as %+v, no resume", p.ID, args, inv)
			}
		}
	}
}
