package main

import "github.com/spf13/cobra"

func (a *app) configCommand() *cobra.Command { return group("config", "x") }
func (a *app) mcpCommand() *cobra.Command    { return group("mcp", "x") }
