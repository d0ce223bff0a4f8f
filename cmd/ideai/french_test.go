package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idea-ide/ideai/internal/config"
	"github.com/idea-ide/ideai/internal/fault"
)

// spoken collects the texts that people read: what is said, asked or tabled,
// the texts of errors made here, the help, and the words of package-level maps.
func spoken(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") || e.Name() == "french.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				out = append(out, ofCall(n)...)
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "Short" || key.Name == "Long") {
					out = append(out, literal(n.Value)...)
				}
				if _, ok := n.Key.(*ast.SelectorExpr); ok { // a map from an enum to its word
					out = append(out, literal(n.Value)...)
				}
			case *ast.CompositeLit:
				if id, ok := n.Type.(*ast.Ident); ok && id.Name == "refusedError" {
					out = append(out, literal(n.Elts[0])...)
				}
			}
			return true
		})
	}
	for _, k := range config.Keys() {
		out = append(out, k.Usage)
	}
	out = append(out, "file of settings (default: $XDG_CONFIG_HOME/ideai/config.yaml)")
	slices.Sort(out)
	return slices.Compact(out)
}

// ofCall returns the texts among a call's arguments.
func ofCall(n *ast.CallExpr) []string {
	if len(n.Args) < 1 {
		return nil
	}
	name := ""
	switch f := n.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	switch name {
	case "say", "remark", "ask", "tr", "usage":
		return literal(n.Args[0])
	case "group":
		return literal(n.Args[1])
	case "table":
		if list, ok := n.Args[0].(*ast.CompositeLit); ok {
			var out []string
			for _, e := range list.Elts {
				out = append(out, literal(e)...)
			}
			return out
		}
	case "BoolVar", "StringVar", "Int32Var", "StringSliceVar", "IntVar", "DurationVar", "Bool", "String", "Duration":
		if len(n.Args) >= 3 { // flags; a document's String has the key alone
			return literal(n.Args[len(n.Args)-1])
		}
	}
	return nil
}

func literal(e ast.Expr) []string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return nil
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil || !regexp.MustCompile(`\pL`).MatchString(verb.ReplaceAllString(s, "")) {
		return nil // nothing to say in any language
	}
	return []string{s}
}

var verb = regexp.MustCompile(`%[0-9.]*[a-zA-Z]`)

func TestEverythingSpokenIsFrenchToo(t *testing.T) {
	texts := spoken(t)
	if len(texts) < 100 {
		t.Fatalf("found only %d texts: the search does not work", len(texts))
	}
	for _, s := range texts {
		if _, ok := french[s]; !ok {
			t.Errorf("no French for %q", s)
		}
	}
	for en, fr := range french {
		if !slices.Contains(texts, en) {
			t.Errorf("nobody says %q", en)
		}
		if a, b := verb.FindAllString(en, -1), verb.FindAllString(fr, -1); !slices.Equal(a, b) {
			t.Errorf("%q and %q differ in what they take: %v, %v", en, fr, a, b)
		}
	}
}

func TestEveryReasonIsFrenchToo(t *testing.T) {
	key := regexp.MustCompile(`\{(\w+)\}`)
	for _, r := range fault.Reasons() {
		s, ok := frenchReasons[r]
		if !ok {
			t.Errorf("no French for %s", r)
		}
		for _, m := range key.FindAllStringSubmatch(s, -1) {
			if m[1] != "msg" && !slices.Contains(r.MetaKeys(), m[1]) {
				t.Errorf("%s has no %s in its metadata", r, m[1])
			}
		}
	}
}

func TestLanguage(t *testing.T) {
	for _, c := range []struct{ setting, all, messages, lang, want string }{
		{"", "", "", "", "en"},
		{"", "", "", "fr_FR.UTF-8", "fr"},
		{"", "", "", "fr", "fr"},
		{"", "C", "", "fr_FR.UTF-8", "en"},
		{"", "", "fr_CA", "en_US.UTF-8", "fr"},
		{"fr", "en_US", "", "", "fr"},
		{"en", "", "", "fr_FR", "en"},
		{"", "", "", "de_DE.UTF-8", "en"},
	} {
		env := map[string]string{"LC_ALL": c.all, "LC_MESSAGES": c.messages, "LANG": c.lang}
		if got := language(c.setting, func(k string) string { return env[k] }); got != c.want {
			t.Errorf("%+v gives %s", c, got)
		}
	}
}
