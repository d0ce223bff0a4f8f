package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"

	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/background"
)

// fileFlag and fileEnv name the file; they are not settings themselves.
const (
	fileFlag = "config"
	fileEnv  = envPrefix + "CONFIG"
)

// otherEnv are variables of ours that are not settings: what a launch gives to
// its agent.
var otherEnv = []string{fileEnv, envPrefix + "TOKEN", envPrefix + "LAUNCH", envPrefix + "INSTRUCTIONS"}

// Options says where to read from.
type Options struct {
	// Flags are the parsed flags that AddFlags added; nil for none.
	Flags *pflag.FlagSet
	// Environ is the environment as os.Environ gives it; nil means that.
	Environ []string
	// OtherEnv names further variables IDEAI_* that are not settings.
	OtherEnv []string
}

// Loaded is settings and where each comes from.
type Loaded struct {
	Config
	// File is the file that was read, "" when there was none.
	File string

	origins map[string]string
}

// AddFlags adds a flag for each setting, and --config.
func AddFlags(flags *pflag.FlagSet) {
	flags.String(fileFlag, "", "file of settings (default: $XDG_CONFIG_HOME/ideai/config.yaml)")
	for _, k := range Keys() {
		flags.String(k.Flag(), k.get(Default()), k.Usage)
	}
}

// Load reads the settings. The file is --config, IDEAI_CONFIG or
// $XDG_CONFIG_HOME/ideai/config.yaml; only the last may be missing. Variables
// set to nothing count as not set. Errors name the flag, the variable, or the
// file with its line.
func Load(o Options) (*Loaded, error) {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	l := &Loaded{Config: Default(), origins: map[string]string{}}
	merged := koanf.New(".")
	if err := l.loadFile(merged, o); err != nil {
		return nil, err
	}
	if err := l.loadEnv(merged, o); err != nil {
		return nil, err
	}
	if o.Flags != nil {
		if err := l.loadFlags(merged, o.Flags); err != nil {
			return nil, err
		}
	}
	for _, k := range Keys() {
		if !merged.Exists(k.Name) {
			continue
		}
		if err := k.set(&l.Config, merged.String(k.Name)); err != nil {
			return nil, fmt.Errorf("config: %s: %s: %w", l.origins[k.Name], k.Name, err)
		}
	}
	return l, l.derive(o)
}

// values is settings of one source for koanf, by dotted name.
type values map[string]any

func (v values) ReadBytes() ([]byte, error)    { return nil, errors.ErrUnsupported }
func (v values) Read() (map[string]any, error) { return v, nil }
func load(ko *koanf.Koanf, p koanf.Provider) error {
	if err := ko.Load(p, nil); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return nil
}

func (l *Loaded) loadFile(ko *koanf.Koanf, o Options) error {
	path, named, err := filePath(o)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return fmt.Errorf("config: read the settings: %w", err)
	}
	l.File = path
	entries, err := parseFile(path, data)
	if err != nil {
		return err
	}
	for _, e := range entries {
		l.origins[e.name] = fmt.Sprintf("%s:%d", path, e.line)
		if err := load(ko, nested(e.name, e.value)); err != nil {
			return err
		}
	}
	return nil
}

// nested makes {log: {level: v}} of log.level.
func nested(name, value string) values {
	parts := strings.Split(name, ".")
	var v any = value
	for i := len(parts) - 1; i > 0; i-- {
		v = map[string]any{parts[i]: v}
	}
	return values{parts[0]: v}
}

func (l *Loaded) loadEnv(ko *koanf.Koanf, o Options) error {
	names := map[string]string{}
	for _, k := range Keys() {
		names[k.Env()] = k.Name
	}
	var unknown []string
	err := load(ko, env.Provider(".", env.Opt{
		Prefix:      envPrefix,
		EnvironFunc: func() []string { return o.Environ },
		TransformFunc: func(variable, value string) (string, any) {
			name, ok := names[variable]
			if !ok && !slices.Contains(otherEnv, variable) && !slices.Contains(o.OtherEnv, variable) {
				unknown = append(unknown, variable)
			}
			if !ok || value == "" {
				return "", nil
			}
			l.origins[name] = "env " + variable
			return name, value
		},
	}))
	if err != nil || len(unknown) == 0 {
		return err
	}
	known := make([]string, 0, len(names))
	for n := range names {
		known = append(known, n)
	}
	return fmt.Errorf("config: env %s: there is no such setting%s", unknown[0], suggest(unknown[0], known))
}

func (l *Loaded) loadFlags(ko *koanf.Koanf, flags *pflag.FlagSet) error {
	names := map[string]string{}
	for _, k := range Keys() {
		names[k.Flag()] = k.Name
	}
	return load(ko, posflag.ProviderWithFlag(flags, ".", ko, func(f *pflag.Flag) (string, any) {
		name, ok := names[f.Name]
		if !ok || !f.Changed {
			return "", nil
		}
		l.origins[name] = "flag --" + f.Name
		return name, f.Value.String()
	}))
}

// derive fills in what the machine decides, and makes paths absolute.
func (l *Loaded) derive(o Options) error {
	var err error
	if l.StateDir == "" {
		base, err := xdg(o.Environ, "XDG_STATE_HOME", ".local", "state")
		if err != nil {
			return err
		}
		l.StateDir = filepath.Join(base, "ideai")
	}
	if l.StateDir, err = filepath.Abs(l.StateDir); err != nil {
		return fmt.Errorf("config: state_dir: %w", err)
	}
	if l.Person == "" {
		l.Person = auth.OSUser()
	}
	if l.Address == "" {
		if l.Address, err = background.Address(l.StateDir); err != nil {
			return err
		}
	}
	return nil
}

func filePath(o Options) (path string, named bool, err error) {
	if o.Flags != nil {
		if f := o.Flags.Lookup(fileFlag); f != nil && f.Changed {
			return f.Value.String(), true, nil
		}
	}
	if v := lookup(o.Environ, fileEnv); v != "" {
		return v, true, nil
	}
	base, err := xdg(o.Environ, "XDG_CONFIG_HOME", ".config")
	return filepath.Join(base, "ideai", "config.yaml"), false, err
}

// xdg returns a base folder: the variable's when it is absolute, as the XDG
// specification asks, else the one below the home folder: never one below the
// current folder, which may be a repository of somebody else.
func xdg(environ []string, variable string, below ...string) (string, error) {
	if v := lookup(environ, variable); filepath.IsAbs(v) {
		return v, nil
	}
	home := lookup(environ, "HOME")
	if !filepath.IsAbs(home) {
		me, err := user.Current()
		if err != nil || !filepath.IsAbs(me.HomeDir) {
			return "", errors.New("config: there is no home folder; set HOME to its absolute path")
		}
		home = me.HomeDir
	}
	return filepath.Join(append([]string{home}, below...)...), nil
}

func lookup(environ []string, variable string) string {
	for _, e := range slices.Backward(environ) {
		if v, ok := strings.CutPrefix(e, variable+"="); ok {
			return v
		}
	}
	return ""
}
