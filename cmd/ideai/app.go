package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/idea-ide/ideai/internal/build"
	"github.com/idea-ide/ideai/internal/config"
	"github.com/idea-ide/ideai/internal/lifecycle"
)

// app is one run of the program.
type app struct {
	*terminal
	config *config.Loaded
	build  func(cacheDir string) build.Info
	getenv func(string) string
	cmd    *cobra.Command // the one that runs
	launch launchFlags
	flags  struct {
		project, worktree string
		inProcess         bool
	}
}

// completionTimeout bounds what a shell waits for a completion.
const completionTimeout = 2 * time.Second

// run runs the command line and returns the exit code.
func run(args []string, buildInfo func(cacheDir string) build.Info) int {
	a := &app{terminal: newTerminal(os.Stdin, os.Stdout, os.Stderr), build: buildInfo, getenv: os.Getenv}
	a.lang = language(a.getenv("IDEAI_LANGUAGE"), a.getenv) // of the help; settings are read later
	ctx, stop := lifecycle.Notify(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a.interrupted = ctx.Done()
	root := a.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var code *codeError
	if err != nil && ctx.Err() != nil && !errors.As(err, &code) {
		err = ctx.Err() // whatever failed, failed for that
	}
	a.fail(err)
	return exitCode(err)
}

func (a *app) rootCommand() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "ideai",
		Short: "The same rules and memory for every coding agent of a project",
		Long: `The same rules and memory for every coding agent of a project.

  ideai init             make the current folder a project
  ideai claude [ARGS]    start Claude Code with the project's context
  ideai codex [ARGS]     start Codex with it
  ideai context show     see what they are told

Exit codes: 0 fine, 1 error, 2 usage, 3 not found, 4 refused or conflict,
5 server not available, 130 interrupted. A launch ends with the exit code of
the program it started.`,
		SilenceErrors: true, SilenceUsage: true,
		TraverseChildren: true, // flags before the name of a CLI are ours, after it the CLI's
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := launchesOnly(cmd); err != nil {
				return err
			}
			a.cmd = cmd
			return a.configure(cmd)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("unknown command %q; `ideai --help` lists them", args[0])
			}
			if version {
				return a.versions(nil)
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	root.Flags().BoolVar(&version, "version", false, "show the version")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage("%s", err) })
	f := root.PersistentFlags()
	f.BoolVar(&a.asJSON, "json", false, "answer in JSON")
	f.StringVar(&a.flags.project, "project", "", "the project's id or an alias (default: that of the current folder)")
	f.StringVar(&a.flags.worktree, "worktree", "", "the worktree's id (default: that of the current folder)")
	f.BoolVar(&a.flags.inProcess, "in-process", false, "run without a background server")
	_ = root.RegisterFlagCompletionFunc("project", a.complete(projectIDs))

	serve := a.serveCommand()
	settingsFlags(f, serve.Flags())
	root.AddCommand(serve, a.initCommand(), a.trustCommand(), a.launchCommand(),
		a.projectCommand(), a.agentCommand(), a.contextCommand(), a.memoryCommand(), a.refreshCommand(),
		a.configCommand(), a.mcpCommand(), a.versionCommand(), a.doctorCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	a.addProfileCommands(root)
	wrongUsage(root)
	a.translate(root)
	return root
}

// group is a command that only has subcommands.
func group(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("unknown command %q; `%s --help` lists them", args[0], cmd.CommandPath())
			}
			return cmd.Help()
		},
	}
}

// wrongUsage makes every complaint about the number of arguments a usage error
// that tells the right usage.
func wrongUsage(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usage("%s; usage: %s", err, cmd.UseLine())
			}
			return nil
		}
	}
	for _, c := range cmd.Commands() {
		wrongUsage(c)
	}
}

// locale is the person's language for the server's texts: what they set, else
// their locale, empty when that says none.
func (a *app) locale() string {
	for _, v := range []string{a.config.Language, a.getenv("LC_ALL"), a.getenv("LC_MESSAGES"), a.getenv("LANG")} {
		if v != "" {
			return v
		}
	}
	return ""
}
