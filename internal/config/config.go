// Package config reads what a person sets: flags over environment variables
// IDEAI_* over a file over defaults. Unknown keys are errors, so that a typo
// never passes for a setting.
package config

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Config is the settings of a process. See Keys for what each means.
type Config struct {
	Address     string
	StateDir    string
	LogLevel    slog.Level
	LogFile     string
	LogFormat   string
	IdleTimeout time.Duration
	Language    string
	Person      string
}

// Default returns the settings before anything is set. What is empty here is
// derived by Load from the machine: address, state_dir and person.
func Default() Config {
	return Config{LogLevel: slog.LevelInfo, LogFormat: "text", IdleTimeout: 30 * time.Minute}
}

// Key describes one setting.
type Key struct {
	// Name in the file, such as log.level.
	Name string
	// Usage is one line for people.
	Usage string
	// Secret values are never shown.
	Secret bool

	get func(Config) string
	set func(*Config, string) error
}

// Env returns the environment variable of the key, such as IDEAI_LOG_LEVEL.
func (k Key) Env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

// Flag returns the flag of the key without dashes, such as log-level.
func (k Key) Flag() string { return strings.NewReplacer(".", "-", "_", "-").Replace(k.Name) }

const envPrefix = "IDEAI_"

// Keys returns the settings there are, in the order in which they are shown.
func Keys() []Key {
	return []Key{
		{
			Name: "address", Usage: "address of the server: unix:///path or a loopback host:port (default: a socket of its own for each state_dir)",
			get: func(c Config) string { return c.Address },
			set: func(c *Config, v string) error { c.Address = v; return nil },
		},
		{
			Name: "state_dir", Usage: "folder of the server's own files (default: $XDG_STATE_HOME/ideai)",
			get: func(c Config) string { return c.StateDir },
			set: func(c *Config, v string) error { c.StateDir = v; return nil },
		},
		{
			Name: "log.level", Usage: "least level logged: debug, info, warn or error",
			get: func(c Config) string { return strings.ToLower(c.LogLevel.String()) },
			set: func(c *Config, v string) error {
				if err := oneOf(v, "debug", "info", "warn", "error"); err != nil {
					return err
				}
				return c.LogLevel.UnmarshalText([]byte(v))
			},
		},
		{
			Name: "log.file", Usage: "file to log to (default: standard error, below state_dir for a server in the background)",
			get: func(c Config) string { return c.LogFile },
			set: func(c *Config, v string) error { c.LogFile = v; return nil },
		},
		{
			Name: "log.format", Usage: "form of log lines: text or json",
			get: func(c Config) string { return c.LogFormat },
			set: func(c *Config, v string) error { c.LogFormat = v; return oneOf(v, "text", "json") },
		},
		{
			Name: "idle_timeout", Usage: "how long a server in the background stays without use, such as 30m; 0s for ever",
			get: func(c Config) string { return shortDuration(c.IdleTimeout) },
			set: func(c *Config, v string) (err error) { c.IdleTimeout, err = duration(v); return err },
		},
		{
			Name: "language", Usage: "language of what ideai says: en, fr, or empty for the locale's",
			get: func(c Config) string { return c.Language },
			set: func(c *Config, v string) error { c.Language = v; return oneOf(v, "", "en", "fr") },
		},
		{
			Name: "person", Usage: "who acts (default: the user of the operating system)",
			get: func(c Config) string { return c.Person },
			set: func(c *Config, v string) error { c.Person = v; return nil },
		},
	}
}

func oneOf(v string, allowed ...string) error {
	if slices.Contains(allowed, v) {
		return nil
	}
	allowed = slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" })
	return fmt.Errorf("%q is not one of %s", v, strings.Join(allowed, ", "))
}

func duration(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration; write one such as 30m or 2h", v)
	}
	return d, nil
}

// shortDuration writes 30m for time.Duration's 30m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
