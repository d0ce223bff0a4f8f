package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// translate puts the help of a command tree into the person's language.
func (a *app) translate(root *cobra.Command) {
	if a.lang != "fr" {
		return
	}
	template := root.UsageTemplate()
	for _, words := range usageWords {
		template = strings.ReplaceAll(template, words[0], words[1])
	}
	root.SetUsageTemplate(template)
	a.translateHelp(root)
}

func (a *app) translateHelp(cmd *cobra.Command) {
	cmd.Short, cmd.Long = a.tr(cmd.Short), a.tr(cmd.Long)
	for _, set := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		set.VisitAll(func(f *pflag.Flag) { f.Usage = a.tr(f.Usage) })
	}
	for _, c := range cmd.Commands() {
		a.translateHelp(c)
	}
}
