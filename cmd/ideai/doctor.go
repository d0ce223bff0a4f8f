package main

import (
	"github.com/spf13/cobra"

	"github.com/idea-ide/ideai/provider"
)

func (a *app) doctorCommand() *cobra.Command {
	var prove []string
	var carrier string
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong on this machine", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.proveCLIs(cmd.Context(), prove, carrier)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&prove, "prove", nil, "prove offline that the context reaches the model of this CLI, such as claude")
	f.StringVar(&carrier, "carrier", "", "with --prove, only this carrier")
	_ = cmd.RegisterFlagCompletionFunc("prove", cobra.FixedCompletions(profileIDs(), cobra.ShellCompDirectiveNoFileComp))
	_ = provider.Builtin
	return cmd
}
