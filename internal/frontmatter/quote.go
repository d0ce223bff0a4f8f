package frontmatter

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// bareText is text that YAML reads as itself without quotes: it begins with a
// letter and has nothing that could begin a comment, a mapping or a flow.
var bareText = regexp.MustCompile(`^\p{L}[\p{L}\p{N} _./()+'’«»;!?=@%&*,-]*$`)

var bareKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// render returns a value as YAML: on one line, or for a list outside a flow as
// a newline and one line an item.
func render(value any, flow bool) (string, error) {
	switch v := value.(type) {
	case string:
		if !utf8.ValidString(v) {
			return "", fmt.Errorf("frontmatter: %q is not UTF-8", v)
		}
		return quote(v, flow), nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case []string:
		if len(v) == 0 {
			return "[]", nil
		}
		items := make([]string, len(v))
		for i, item := range v {
			if !utf8.ValidString(item) {
				return "", fmt.Errorf("frontmatter: %q is not UTF-8", item)
			}
			items[i] = quote(item, flow)
		}
		if flow {
			return "[" + strings.Join(items, ", ") + "]", nil
		}
		return "\n- " + strings.Join(items, "\n- "), nil
	}
	return "", fmt.Errorf("frontmatter: a %T cannot be a value", value)
}

func quoteKey(key string) string {
	if bareKey.MatchString(key) && !reserved(key) {
		return key
	}
	return quoted(key)
}

func quote(s string, flow bool) string {
	if bareText.MatchString(s) && !strings.HasSuffix(s, " ") && !reserved(s) && (!flow || !strings.Contains(s, ",")) {
		return s
	}
	return quoted(s)
}

// reserved reports whether YAML 1.1 or 1.2 reads the bare word as something
// else than text.
func reserved(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf", "infinity":
		return true
	}
	return false
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r == 0x7F || r > 0x7F && r < 0x10000 && !unicode.IsGraphic(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
