package config_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/config"
)

// machine is a home folder with a file of settings in it.
type machine struct {
	home    string
	environ []string
}

func newMachine(t *testing.T, file string, environ ...string) machine {
	t.Helper()
	m := machine{home: t.TempDir()}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir()) // for the socket's folder
	m.environ = append([]string{"HOME=" + m.home}, environ...)
	if file != "" {
		if err := os.MkdirAll(filepath.Dir(m.file()), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(m.file(), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m machine) file() string { return filepath.Join(m.home, ".config", "ideai", "config.yaml") }

func (m machine) load(t *testing.T, args ...string) (*config.Loaded, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return config.Load(config.Options{Flags: flags, Environ: m.environ})
}

func (m machine) mustLoad(t *testing.T, args ...string) *config.Loaded {
	t.Helper()
	l, err := m.load(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestDefaults(t *testing.T) {
	m := newMachine(t, "")
	got := m.mustLoad(t)
	want := config.Default()
	want.StateDir = filepath.Join(m.home, ".local", "state", "ideai")
	want.Person = auth.OSUser()
	want.Address = got.Address
	if diff := cmp.Diff(want, got.Config); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(got.Address, "unix://"+os.Getenv("XDG_RUNTIME_DIR")) {
		t.Error(got.Address)
	}
	if got.File != "" {
		t.Error(got.File)
	}
	for _, v := range got.Values() {
		if v.Origin != "default" {
			t.Errorf("%s comes from %s", v.Name, v.Origin)
		}
	}
}

// The defaults that --help shows are those the library uses.
func TestFlagDefaultsEqualTheLibrarys(t *testing.T) {
	without, err := config.Load(config.Options{Environ: newMachine(t, "").environ})
	if err != nil {
		t.Fatal(err)
	}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(flags)
	for _, k := range config.Keys() {
		f := flags.Lookup(k.Flag())
		if f == nil {
			t.Errorf("%s has no flag", k.Name)
			continue
		}
		if f.DefValue == "" {
			continue // derived from the machine
		}
		for _, v := range without.Values() {
			if v.Name == k.Name && v.Value != f.DefValue {
				t.Errorf("%s: the flag says %q, the library %q", k.Name, f.DefValue, v.Value)
			}
		}
	}
	// Giving every flag its default changes nothing.
	var args []string
	for _, k := range config.Keys() {
		args = append(args, "--"+k.Flag()+"="+flags.Lookup(k.Flag()).DefValue)
	}
	m := newMachine(t, "")
	got, want := m.mustLoad(t, args...).Config, m.mustLoad(t).Config
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPrecedence(t *testing.T) {
	m := newMachine(t, `# mine
language: fr   # for me
person: file
idle_timeout: 1h
log:
  level: debug
  format: json
`, "IDEAI_PERSON=env", "IDEAI_IDLE_TIMEOUT=2h", "IDEAI_LOG_LEVEL=", "IDEAI_TOKEN=abc", "OTHER=x")
	got := m.mustLoad(t, "--idle-timeout", "3h", "--state-dir", "relative")
	if got.Language != "fr" || got.Person != "env" || got.IdleTimeout != 3*time.Hour || got.LogLevel != slog.LevelDebug || got.LogFormat != "json" {
		t.Errorf("%+v", got.Config)
	}
	if !filepath.IsAbs(got.StateDir) {
		t.Error(got.StateDir)
	}
	if got.File != m.file() {
		t.Error(got.File)
	}
	origins := map[string]string{}
	for _, v := range got.Values() {
		origins[v.Name] = v.Origin
	}
	want := map[string]string{
		"language": m.file() + ":2", "person": "env IDEAI_PERSON", "idle_timeout": "flag --idle-timeout",
		"log.level": m.file() + ":6", "log.format": m.file() + ":7", "log.file": "default",
		"state_dir": "flag --state-dir", "address": "default",
	}
	if diff := cmp.Diff(want, origins); diff != "" {
		t.Error(diff)
	}
}

func TestWhichFile(t *testing.T) {
	m := newMachine(t, "language: fr\n")
	other := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(other, []byte("language: en\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l := m.mustLoad(t, "--config", other); l.Language != "en" || l.File != other {
		t.Error(l.Language, l.File)
	}
	m.environ = append(m.environ, "IDEAI_CONFIG="+other)
	if l := m.mustLoad(t); l.Language != "en" {
		t.Error(l.Language)
	}
	if l := m.mustLoad(t, "--config", m.file()); l.Language != "fr" {
		t.Error(l.Language)
	}
	if _, err := m.load(t, "--config", other+".none"); err == nil || !strings.Contains(err.Error(), other+".none") {
		t.Error("a named file that is missing:", err)
	}
	m.environ = append(m.environ, "IDEAI_CONFIG=", "XDG_CONFIG_HOME="+filepath.Dir(other))
	if l := m.mustLoad(t); l.File != "" {
		t.Error(l.File)
	}
	m.environ = append(m.environ, "XDG_CONFIG_HOME=relative/is/ignored")
	if l := m.mustLoad(t); l.File != m.file() {
		t.Error(l.File)
	}
}

func TestBadFiles(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"unknown key":          {"language: en\nlanguag: fr\n", ":2: there is no setting languag; did you mean language?"},
		"unknown inner key":    {"log:\n  lvel: info\n", ":2: there is no setting log.lvel; did you mean log.level?"},
		"nothing like it":      {"colour: blue\n", ":1: there is no setting colour; there are address, idle_timeout,"},
		"unknown group":        {"\n\ncolour:\n  a: b\n", ":3: there is no setting colour"},
		"twice":                {"language: en\nperson: a\nlanguage: fr\n", ":3:"},
		"twice over documents": {"language: en\n---\nlanguage: fr\n", ":3: language is set twice"},
		"bad value":            {"log:\n\n  level: loud\n", ":3: log.level: \"loud\" is not one of debug, info, warn, error"},
		"bad duration":         {"idle_timeout: 30\n", ":1: idle_timeout: \"30\" is not a duration"},
		"negative duration":    {"idle_timeout: -1m\n", ":1: idle_timeout:"},
		"bad language":         {"language: de\n", "\"de\" is not one of en, fr"},
		"list":                 {"person: [a, b]\n", ":1: person takes one value"},
		"group":                {"person:\n  a: b\n", ":1: person takes one value"},
		"a list of settings":   {"- language\n", ":1: settings are written as"},
		"a text":               {"hello\n", ":1: settings are written as"},
		"value of a group":     {"log: info\n", ":1: settings are written as"},
		"broken":               {"language: en\nlog: [\n", "config.yaml:"},
		"hostile":              {"language: en\nlog: !000000 0\n", "config.yaml:2"},
		"a tag":                {"language: !!int x\n", "config.yaml:1"},
		"a strange key":        {"language: en\n? [a]\n: b\n", "config.yaml:3"},
		"tab":                  {"log:\n\tlevel: info\n", "config.yaml:2"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, c.file)
			_, err := m.load(t)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), m.file()) {
				t.Fatalf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestFilesThatSetNothing(t *testing.T) {
	for _, file := range []string{"\n", "# only a comment\n", "language:\n", "log:\n", "---\n", "language: ~\n"} {
		m := newMachine(t, file)
		got := m.mustLoad(t)
		if diff := cmp.Diff(config.Default(), got.Config, cmpopts.IgnoreFields(config.Config{}, "Address", "StateDir", "Person")); diff != "" {
			t.Errorf("%q: %s", file, diff)
		}
	}
}

func TestBadEnvAndFlags(t *testing.T) {
	for env, want := range map[string]string{
		"IDEAI_LANGUAG=fr":       "env IDEAI_LANGUAG: there is no such setting; did you mean IDEAI_LANGUAGE?",
		"IDEAI_LOG_LEVEL=loud":   "env IDEAI_LOG_LEVEL: log.level: \"loud\"",
		"IDEAI_IDLE_TIMEOUT=now": "env IDEAI_IDLE_TIMEOUT: idle_timeout: \"now\"",
	} {
		if _, err := newMachine(t, "", env).load(t); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", env, err)
		}
	}
	if _, err := newMachine(t, "").load(t, "--log-format", "xml"); err == nil || !strings.Contains(err.Error(), "flag --log-format: log.format:") {
		t.Error(err)
	}
	_, err := config.Load(config.Options{Environ: newMachine(t, "", "IDEAI_E2E=1").environ, OtherEnv: []string{"IDEAI_E2E"}})
	if err != nil {
		t.Error(err)
	}
}

// What Show writes is a file that sets the same again.
func TestShowRoundTrips(t *testing.T) {
	m := newMachine(t, "person: \"no: body # really\"\nlanguage: fr\nidle_timeout: 90m\n", "IDEAI_LOG_FORMAT=json")
	first := m.mustLoad(t, "--log-level", "warn")
	var out strings.Builder
	if err := first.Show(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# flag --log-level", "# env IDEAI_LOG_FORMAT", "# " + m.file() + ":2", "# default", "idle_timeout: 1h30m"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	again := newMachine(t, out.String()).mustLoad(t)
	if diff := cmp.Diff(first.Config, again.Config); diff != "" {
		t.Errorf("%s\n%s", diff, out.String())
	}
}

func FuzzFile(f *testing.F) {
	f.Add("language: fr\nlog: {level: info}\n")
	f.Add("a: &x [*x]\n")
	f.Add("log: {level: info}\nlog.level: warn\n")
	f.Add("? [a]: b\n")
	f.Add("<<: *a\n")
	f.Fuzz(func(t *testing.T, file string) {
		path := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := config.Load(config.Options{Environ: []string{"HOME=" + t.TempDir(), "IDEAI_ADDRESS=127.0.0.1:1", "IDEAI_CONFIG=" + path}})
		if err != nil && !strings.Contains(err.Error(), path) {
			t.Fatalf("%q: the error names no file: %v", file, err)
		}
	})
}

// Without a home folder nothing may come from the current one: it may be a
// repository with a .config/ideai of its own, and keys would land in it.
func TestWithoutHomeNothingIsBelowTheCurrentFolder(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	if err := os.MkdirAll(filepath.Join(here, ".config", "ideai"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(here, ".config", "ideai", "config.yaml"), []byte("person: mallory\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, environ := range [][]string{{}, {"HOME="}, {"HOME=.", "XDG_CONFIG_HOME=.config", "XDG_STATE_HOME=x"}} {
		l, err := config.Load(config.Options{Environ: append(environ, "IDEAI_ADDRESS=127.0.0.1:1")})
		if err != nil {
			continue // no home at all is refused
		}
		if l.Person == "mallory" || strings.HasPrefix(l.StateDir, here) {
			t.Errorf("with %q: person %s, state in %s", environ, l.Person, l.StateDir)
		}
	}
}
