package frontmatter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Set gives the key at a path a value: a string, a bool, an int or a []string.
// A key that is there keeps its place and the comment behind it, a value equal
// to the old one changes nothing; a new key comes last, with the mappings it
// needs. It fails, and changes nothing, when a key on the way is not a mapping,
// or the file is written in a way that cannot be edited line by line.
func (d *Doc) Set(value any, path ...string) error {
	if len(path) == 0 {
		return errors.New("frontmatter: no key")
	}
	if d.has(value, path) {
		return nil
	}
	meta, err := d.replaced(value, path)
	if err != nil {
		return err
	}
	return d.apply(meta, path)
}

// has reports whether the value at a path is this one already, of this type.
func (d *Doc) has(value any, path []string) bool {
	old, isScalar := d.String(path...)
	switch v := value.(type) {
	case []string:
		list, ok := d.Strings(path...)
		_, isList := d.node(path).(*ast.SequenceNode)
		return ok && isList && slices.Equal(list, v)
	case string:
		switch d.node(path).(type) {
		case *ast.StringNode, *ast.LiteralNode:
			return old == v
		}
	case bool:
		_, isBool := d.node(path).(*ast.BoolNode)
		return isBool && old == strconv.FormatBool(v)
	case int:
		return isScalar && old == strconv.Itoa(v)
	}
	return false
}

// Remove drops the key at a path, and each mapping that is empty without it.
// An absent key is no error.
func (d *Doc) Remove(path ...string) error {
	pair, m := d.find(path)
	if pair == nil {
		return nil
	}
	if len(path) > 1 && len(m.Values) == 1 {
		return d.Remove(path[:len(path)-1]...)
	}
	if m.IsFlowStyle {
		meta, err := d.flowReplaced(m, "", path)
		if err != nil {
			return err
		}
		return d.apply(meta, path)
	}
	lines := splitLines(d.meta)
	from, to := d.extent(lines, path)
	return d.apply(strings.Join(slices.Delete(lines, from, to), ""), path)
}

// apply takes new YAML text, after checking that nothing but the path changed.
func (d *Doc) apply(meta string, path []string) error {
	next := *d
	if !next.bare && next.open == "" {
		next.open, next.shut, next.shift = "---"+d.eol, "---"+d.eol, 1
		if next.gap == "" && (next.body != "" || d.root == nil) {
			next.gap = d.eol
		}
	}
	root, err := next.read(meta)
	if err != nil || !onlyDiffersAt(d.root, root, path) || len(meta) > MaxMeta {
		return notEditable(path)
	}
	next.meta, next.root = meta, root
	*d = next
	return nil
}

func notEditable(path []string) error {
	return fmt.Errorf("frontmatter: %s cannot be edited where it stands; change the file by hand", strings.Join(path, "."))
}

func onlyDiffersAt(before, after *ast.MappingNode, path []string) bool {
	if before == nil {
		before = &ast.MappingNode{}
	}
	at := "\x00" + strings.Join(path, "\x00")
	within := func(p, _ string) bool {
		return p == at || strings.HasPrefix(p, at+"\x00") || strings.HasPrefix(at, p+"\x00")
	}
	a, b := summary(before), summary(after)
	maps.DeleteFunc(a, within)
	maps.DeleteFunc(b, within)
	return maps.Equal(a, b)
}

// replaced returns the YAML text with the value at a path replaced or added.
func (d *Doc) replaced(value any, path []string) (string, error) {
	pair, m := d.deepest(path)
	if m != nil && m.IsFlowStyle {
		text, err := render(value, true)
		if err != nil {
			return "", err
		}
		return d.flowReplaced(m, text, path)
	}
	text, err := render(value, false)
	if err != nil {
		return "", err
	}
	if old, _ := d.find(path); old == nil {
		return d.added(pair, m, text, path), nil
	}
	lines := splitLines(d.meta)
	from, to := d.extent(lines, path)
	pair, _ = d.find(path)
	indent := strings.Repeat(" ", columnOf(pair)-1)
	entry := d.entry(indent, lineKey(lines[from], pair), text, trailing(pair))
	if !strings.HasSuffix(lines[to-1], "\n") {
		entry = strings.TrimSuffix(entry, d.eol)
	}
	return strings.Join(slices.Replace(lines, from, to, entry), ""), nil
}

// deepest returns the last pair on the way to a path that is there, nil for
// the top, and the mapping that has or takes the next key; nil when that is
// still to be made.
func (d *Doc) deepest(path []string) (*ast.MappingValueNode, *ast.MappingNode) {
	for n := len(path) - 1; n > 0; n-- {
		if pair, _ := d.find(path[:n]); pair != nil {
			m, _ := plain(pair.Value).(*ast.MappingNode)
			return pair, m
		}
	}
	return nil, d.root
}

// added puts a new key at the end of the deepest mapping that is there.
func (d *Doc) added(parent *ast.MappingValueNode, m *ast.MappingNode, text string, path []string) string {
	lines := splitLines(d.meta)
	at, indent, depth := len(lines), "", 0
	if parent != nil {
		for depth = len(path) - 1; depth > 1; depth-- {
			if pair, _ := d.find(path[:depth]); pair == parent {
				break
			}
		}
		_, at = d.extent(lines, path[:depth])
		indent = strings.Repeat(" ", columnOf(parent)+1)
	}
	if parent != nil && m != nil && len(m.Values) > 0 {
		indent = strings.Repeat(" ", columnOf(m.Values[0])-1)
	}
	ending := d.eol
	if at > 0 && !strings.HasSuffix(lines[at-1], "\n") {
		lines[at-1] += d.eol
		ending = ""
	}
	var entry strings.Builder
	for ; depth < len(path)-1; depth++ {
		entry.WriteString(indent + quoteKey(path[depth]) + ":" + d.eol)
		indent += "  "
	}
	entry.WriteString(d.entry(indent, quoteKey(path[depth]), text, ""))
	return strings.Join(slices.Insert(lines, at, strings.TrimSuffix(entry.String(), d.eol)+ending), "")
}

// entry renders one key with its value. A text that begins a line of its own
// (a list) is indented below the key.
func (d *Doc) entry(indent, key, text, comment string) string {
	first, rest, isList := strings.Cut(text, "\n")
	line := indent + key + ":"
	if first != "" {
		line += " " + first
	}
	if comment != "" {
		line += " " + comment
	}
	line += d.eol
	if isList {
		for item := range strings.SplitSeq(rest, "\n") {
			line += indent + "  " + item + d.eol
		}
	}
	return line
}

// extent returns the lines of the entry at a path: from its key up to the next
// one, without the blank lines and comments that lead to that.
func (d *Doc) extent(lines []string, path []string) (from, to int) {
	pair, m := d.find(path)
	from, to = min(lineOf(pair.Key)-1, len(lines)-1), len(lines)
	if len(path) > 1 {
		_, to = d.extent(lines, path[:len(path)-1])
	}
	for i, v := range m.Values {
		if v == pair && i+1 < len(m.Values) {
			to = min(to, lineOf(m.Values[i+1].Key)-1)
		}
	}
	if to <= from {
		return from, from + 1
	}
	column := columnOf(pair)
	for to > from+1 {
		line := strings.TrimRight(lines[to-1], " \t\r\n")
		text := strings.TrimLeft(line, " ")
		if text != "" && (text[0] != '#' || len(line)-len(text) >= column) {
			break
		}
		to--
	}
	return from, to
}

// flowReplaced rewrites a mapping in braces that stands whole on one line. An
// empty text removes the key.
func (d *Doc) flowReplaced(m *ast.MappingNode, text string, path []string) (string, error) {
	key := path[len(path)-1]
	old := lookup(m, key)
	var parts []string
	for _, v := range m.Values {
		switch {
		case v != old:
			parts = append(parts, v.Key.String()+": "+v.Value.String())
		case text != "":
			parts = append(parts, v.Key.String()+": "+text)
		}
	}
	if old == nil {
		parts = append(parts, quoteKey(key)+": "+text)
	}
	lines := splitLines(d.meta)
	row := lineOf(m) - 1
	if m.Start == nil || m.End == nil || m.End.Position.Line != row+1 || row >= len(lines) {
		return "", notEditable(path)
	}
	line := []rune(lines[row])
	open, end := m.Start.Position.Column-1, m.End.Position.Column-1
	if open < 0 || end < open || end >= len(line) || line[open] != '{' || line[end] != '}' {
		return "", notEditable(path)
	}
	lines[row] = string(line[:open]) + "{" + strings.Join(parts, ", ") + "}" + string(line[end+1:])
	return strings.Join(lines, ""), nil
}

// lineKey returns the key of a pair as it is written.
func lineKey(line string, pair *ast.MappingValueNode) string {
	if t := pair.Key.GetToken(); t != nil {
		written := strings.TrimSpace(t.Origin)
		if written != "" && strings.HasPrefix(strings.TrimLeft(line, " "), written) {
			return written
		}
	}
	return quoteKey(keyOf(pair))
}

// trailing returns the comment behind a value on the key's line.
func trailing(pair *ast.MappingValueNode) string {
	for _, n := range []ast.Node{pair.Value, pair.Key} {
		c := n.GetComment()
		if c == nil || len(c.Comments) != 1 || c.Comments[0].Token == nil {
			continue
		}
		if c.Comments[0].Token.Position.Line == lineOf(pair.Key) {
			return "#" + c.Comments[0].Token.Value
		}
	}
	return ""
}

func columnOf(pair *ast.MappingValueNode) int {
	if t := pair.Key.GetToken(); t != nil && t.Position != nil {
		return max(1, t.Position.Column)
	}
	return 1
}

func splitLines(s string) []string { return slices.Collect(strings.Lines(s)) }
