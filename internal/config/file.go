package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/idea-ide/ideai/internal/safeyaml"
)

// entry is one setting of a file.
type entry struct {
	name  string
	value string
	line  int
}

// parseFile reads a file's settings and refuses what is none, with its line.
func parseFile(path string, data []byte) ([]entry, error) {
	file, err := safeyaml.Parse(data, 0)
	if err != nil {
		return nil, syntaxError(path, err)
	}
	var entries []entry
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		found, err := walk(path, "", doc.Body)
		if err != nil {
			return nil, err
		}
		entries = append(entries, found...)
	}
	for i, e := range entries {
		if slices.ContainsFunc(entries[:i], func(o entry) bool { return o.name == e.name }) {
			return nil, fmt.Errorf("config: %s:%d: %s is set twice", path, e.line, e.name)
		}
	}
	return entries, nil
}

func syntaxError(path string, err error) error {
	var y *safeyaml.Error
	if errors.As(err, &y) {
		return fmt.Errorf("config: %s:%d: %s", path, y.Line, y.Msg)
	}
	return fmt.Errorf("config: %s: %w", path, err)
}

func walk(path, prefix string, node ast.Node) ([]entry, error) {
	line := node.GetToken().Position.Line
	switch n := node.(type) {
	case *ast.CommentGroupNode, *ast.NullNode:
		return nil, nil
	case *ast.MappingNode:
		var all []entry
		for _, v := range n.Values {
			found, err := walk(path, prefix, v)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
		return all, nil
	case *ast.MappingValueNode:
		return walkPair(path, prefix, n)
	default:
		return nil, fmt.Errorf("config: %s:%d: settings are written as \"key: value\"", path, line)
	}
}

func walkPair(path, prefix string, n *ast.MappingValueNode) ([]entry, error) {
	name := n.Key.GetToken().Value
	if prefix != "" {
		name = prefix + "." + name
	}
	line := n.Key.GetToken().Position.Line
	names := keyNames()
	if !slices.Contains(names, name) {
		if slices.ContainsFunc(names, func(k string) bool { return strings.HasPrefix(k, name+".") }) {
			return walk(path, name, n.Value)
		}
		return nil, fmt.Errorf("config: %s:%d: there is no setting %s%s", path, line, name, suggest(name, names))
	}
	switch v := n.Value.(type) {
	case *ast.NullNode:
		return nil, nil
	case *ast.LiteralNode:
		return []entry{{name, v.Value.Value, line}}, nil
	case *ast.StringNode:
		return []entry{{name, v.Value, line}}, nil
	case ast.ScalarNode:
		return []entry{{name, v.GetToken().Value, line}}, nil
	default:
		return nil, fmt.Errorf("config: %s:%d: %s takes one value", path, line, name)
	}
}

func keyNames() []string {
	var names []string
	for _, k := range Keys() {
		names = append(names, k.Name)
	}
	return names
}

// suggest names the nearest known word, or all of them.
func suggest(word string, known []string) string {
	slices.Sort(known)
	best, least := "", 1+len(word)/3
	for _, k := range known {
		if d := distance(word, k); d < least {
			best, least = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	return "; there are " + strings.Join(known, ", ")
}

// distance is the number of letters to insert, delete or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
