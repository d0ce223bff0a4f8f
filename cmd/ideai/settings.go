package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idea-ide/ideai/internal/config"
)

// serveOnly are the settings that only a server heeds; their flags stand with
// `ideai serve` and nowhere else.
var serveOnly = []string{"log-level", "log-file", "log-format", "idle-timeout"}

// settingsFlags adds the flags of the settings: those of a server to serve,
// the others to all.
func settingsFlags(all, serve *pflag.FlagSet) {
	var flags pflag.FlagSet
	config.AddFlags(&flags)
	flags.VisitAll(func(f *pflag.Flag) {
		if slices.Contains(serveOnly, f.Name) {
			serve.AddFlag(f)
		} else {
			all.AddFlag(f)
		}
	})
}

// configure reads the settings, once the flags are parsed.
func (a *app) configure(cmd *cobra.Command) error {
	loaded, err := config.Load(config.Options{Flags: cmd.Flags()})
	if err != nil {
		return err
	}
	a.config = loaded
	a.lang = language(loaded.Language, a.getenv)
	return nil
}

// givenFlags are the settings given by flags, for a server started behind: the
// rest it reads by itself.
func (a *app) givenFlags(cmd *pflag.FlagSet) []string {
	out := []string{"--state-dir=" + a.config.StateDir, "--address=" + a.config.Address}
	if cmd == nil {
		return out
	}
	cmd.VisitAll(func(f *pflag.Flag) {
		if f.Changed && (f.Name == "config" || f.Name == "person") {
			out = append(out, "--"+f.Name+"="+f.Value.String())
		}
	})
	return out
}

// personName is how texts for agents call the person: a name somebody chose,
// never the account's.
func (a *app) personName() string {
	for _, v := range a.config.Values() {
		if v.Name == "person" && v.Origin != "default" {
			return v.Value
		}
	}
	return ""
}

func (a *app) configCommand() *cobra.Command {
	cmd := group("config", "Settings: what holds, and where it comes from")
	cmd.AddCommand(&cobra.Command{
		Use: "show", Short: "Show the settings, secrets hidden", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if !a.asJSON {
				var b strings.Builder
				if err := a.config.Show(&b); err != nil {
					return err
				}
				a.block(b.String())
				return nil
			}
			data, err := json.Marshal(map[string]any{"file": a.config.File, "settings": a.config.Values()})
			if err != nil {
				return err
			}
			return a.rawJSON(data)
		},
	})
	return cmd
}
