package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idea-ide/ideai/internal/background"
)

type settings struct {
	StateDir    string
	Address     string
	Language    string
	IdleTimeout time.Duration
}

func (a *app) settingsFlags(f *pflag.FlagSet) {
	f.StringVar(&a.config.StateDir, "state-dir", "", "folder of the server's own files")
	f.StringVar(&a.config.Address, "address", "", "address of the server")
}

func (a *app) configure(cmd *cobra.Command) error {
	if a.config.StateDir == "" {
		a.config.StateDir = os.Getenv("IDEAI_STATE_DIR")
	}
	if a.config.StateDir == "" {
		home, _ := os.UserHomeDir()
		a.config.StateDir = filepath.Join(home, ".local/state/ideai")
	}
	a.config.Language = os.Getenv("IDEAI_LANGUAGE")
	a.lang = language(a.config.Language, a.getenv)
	if a.config.Address == "" {
		a.config.Address = os.Getenv("IDEAI_ADDRESS")
	}
	if a.config.Address == "" {
		addr, err := background.Address(a.config.StateDir)
		if err != nil {
			return err
		}
		a.config.Address = addr
	}
	a.config.IdleTimeout = 30 * time.Minute
	return nil
}
