package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Prove tells how the CLI is run against a stand-in for the model, in a
// throw-away home: offline, without the person's login, settings or sessions.
type Prove struct {
	// Protocol is what the CLI speaks with the model.
	Protocol string `yaml:"protocol"`
	// Files are settings below {home}.
	Files []FileTemplate `yaml:"files"`
	// Env points the CLI at {endpoint}.
	Env map[string]text `yaml:"env"`
	// Keep names the person's own variables that change how a context arrives;
	// a final * stands for any ending. Drop names those that it must not match.
	Keep []string `yaml:"keep"`
	Drop []string `yaml:"drop"`
	// New are the arguments that put {prompt} to a new session and end after
	// the answer, Resume those that put it to {session}; without a terminal.
	New    []text `yaml:"new"`
	Resume []text `yaml:"resume"`
	// Terminal are the same for a terminal, in which the CLI stays; Resume
	// there goes on with the newest session.
	Terminal struct {
		New    []text `yaml:"new"`
		Resume []text `yaml:"resume"`
	} `yaml:"terminal"`
	// Session finds the new session's id in what the CLI printed, by its first
	// group.
	Session string `yaml:"session"`

	session *regexp.Regexp
}

// Names of the placeholders that only Prove may use.
var proofPlaceholders = []string{"home", "endpoint", "prompt", "session"}

// Setup renders the files and variables that point the CLI at Values.Endpoint,
// with Values.Home as its home.
func (p *Prove) Setup(v Values) Piece {
	r := renderer{values: v}
	var out Piece
	for _, f := range p.Files {
		content := []byte(r.text(&f.Text))
		if f.JSON.set {
			content = append(r.encode(nil, f.JSON, ":"), '\n')
		}
		out.Files = append(out.Files, File{Path: r.text(&f.Path), Content: content, Mode: fileMode})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		value := p.Env[name]
		out.Env = append(out.Env, EnvVar{Name: name, Value: r.text(&value)})
	}
	return out
}

// Args are the arguments that put Values.Prompt to a new session, or to
// Values.Session when that is set.
func (p *Prove) Args(v Values) []string {
	if v.Session != "" {
		return renderAll(p.Resume, v)
	}
	return renderAll(p.New, v)
}

// TerminalArgs are the arguments that put Values.Prompt to a new session in a
// terminal, or to the newest one.
func (p *Prove) TerminalArgs(v Values, resume bool) []string {
	if resume {
		return renderAll(p.Terminal.Resume, v)
	}
	return renderAll(p.Terminal.New, v)
}

// InTerminal reports whether the CLI can be proved in a terminal.
func (p *Prove) InTerminal() bool { return len(p.Terminal.New) > 0 }

// CanResume reports whether a resumed session can be proved.
func (p *Prove) CanResume(terminal bool) bool {
	if terminal {
		return len(p.Terminal.Resume) > 0
	}
	return len(p.Resume) > 0
}

func renderAll(args []text, v Values) []string {
	r := renderer{values: v}
	out := make([]string, len(args))
	for i := range args {
		out[i] = r.text(&args[i])
	}
	return out
}

// FindSession returns the session's id in what the CLI printed, "" when it is
// not there.
func (p *Prove) FindSession(output string) string {
	if p.session == nil {
		return ""
	}
	m := p.session.FindStringSubmatch(output)
	if m == nil {
		return ""
	}
	return m[1]
}

// Keeps reports whether a variable of the person's belongs to a proof. One
// whose name tells of a secret or of a place never does.
func (p *Prove) Keeps(name string) bool {
	words := strings.Split(strings.ToUpper(name), "_")
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(privateWords, w) }) {
		return false
	}
	return matches(p.Keep, name) && !matches(p.Drop, name)
}

// Kept returns those variables of an environment, NAME=value, that belong to a
// proof.
func (p *Prove) Kept(env []string) []string {
	var out []string
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); p.Keeps(name) {
			out = append(out, kv)
		}
	}
	slices.Sort(out)
	return out
}

var privateWords = []string{
	"TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "AUTH", "OAUTH", "CREDENTIAL", "CREDENTIALS", "COOKIE", "HEADERS",
	"DIR", "HOME", "URL", "SOCK", "SOCKET", "FD", "DESCRIPTOR",
}

// matches takes names, and beginnings of names that end in *.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, open := strings.CutSuffix(p, "*")
		return name == p || open && strings.HasPrefix(name, prefix)
	})
}

func (p *Prove) check() error {
	switch {
	case p.Protocol == "":
		return errors.New("protocol is missing")
	case len(p.New) == 0:
		return errors.New("new is missing")
	case len(p.Resume) > 0 && p.Session == "":
		return errors.New("resume needs session")
	}
	for _, f := range p.Files {
		if !isBelow(&f.Path, "home") {
			return errors.New("the path of a file is {home}/ and a plain name")
		}
		if f.Text.empty() == !f.JSON.set {
			return errors.New("a file has either text or json")
		}
	}
	if p.Session == "" {
		return nil
	}
	re, err := regexp.Compile(p.Session)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	if re.NumSubexp() < 1 {
		return errors.New("session needs a group for the id")
	}
	p.session = re
	return nil
}

// Fingerprint identifies what a carrier and the hand-over put into a launch:
// what a run proved of it holds for an equal fingerprint only.
func (p *Profile) Fingerprint(c *Carrier) string {
	v := Values{Side: "/side", Project: "/project", Context: "context", Ideai: "/ideai", Address: "address",
		Token: "token", Language: "en", Tools: []string{"tool"}}
	piece := Join(p.render(&c.Template, v), p.HandOver(v))
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v %q %q", piece, c.Name, c.Workspace))
	return hex.EncodeToString(sum[:8])
}
