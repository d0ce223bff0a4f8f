package main

import "github.com/spf13/cobra"

func (a *app) launchCommand() *cobra.Command { c := group("launch", "x"); c.AddCommand(a.explainCommand()); return c }
func (a *app) configCommand() *cobra.Command { return group("config", "x") }
func (a *app) mcpCommand() *cobra.Command { return group("mcp", "x") }
func (a *app) addProfileCommands(root *cobra.Command) {}
func (a *app) installedCLIs() []string { return nil }
var french = map[string]string{}
