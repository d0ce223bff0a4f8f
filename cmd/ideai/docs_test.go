package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// typed finds what the documents tell people to type.
var typed = regexp.MustCompile("(?m)(?:^|`)ideai ([^`\n#<…]+)")

// Every command and flag that the documents name is one.
func TestDocumentedCommandsExist(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range append(files, "../../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range typed.FindAllSubmatch(text, -1) {
			args := strings.Fields(string(m[1]))
			if len(args) == 0 || args[0] == "mcp)" {
				continue
			}
			found++
			var out bytes.Buffer
			a := &app{terminal: &terminal{out: &out, err: &out, lang: "en"}, getenv: os.Getenv}
			root := a.rootCommand()
			cmd, _, err := root.Find(args)
			if err != nil || cmd == root && !strings.HasPrefix(args[0], "-") {
				t.Errorf("%s: `ideai %s`: no such command", filepath.Base(name), strings.Join(args, " "))
				continue
			}
			for _, arg := range args {
				flag, isFlag := strings.CutPrefix(arg, "--")
				if flag, _, _ = strings.Cut(flag, "="); !isFlag || flag == "" || cmd.GroupID == "cli" && root.Flags().Lookup(flag) == nil {
					continue
				}
				if cmd.Flags().Lookup(flag) == nil && cmd.InheritedFlags().Lookup(flag) == nil && root.Flags().Lookup(flag) == nil {
					t.Errorf("%s: `ideai %s`: no flag --%s", filepath.Base(name), strings.Join(args, " "), flag)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("found only %d commands: the search does not work", found)
	}
}
