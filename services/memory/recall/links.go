package recall

import (
	"regexp"
	"slices"
	"strings"
)

var linkForms = regexp.MustCompile(`\[\[([^\[\]|#\n]{1,200})(?:[|#][^\[\]\n]*)?\]\]|\]\(([^()\s#]{1,200}\.md)(?:#[^()\s]*)?\)`)

// links returns the ids of the notes that n links to, ascending, each once.
func links(n Note) []string {
	if !strings.Contains(n.Body, "[[") && !strings.Contains(n.Body, "](") {
		return nil
	}
	var ids []string
	for _, m := range linkForms.FindAllStringSubmatch(n.Body, -1) {
		id := m[1] + m[2]
		if strings.Contains(id, "://") {
			continue
		}
		id = id[strings.LastIndexByte(id, '/')+1:]
		id = strings.ToLower(strings.TrimSpace(strings.TrimSuffix(id, ".md")))
		if id != "" && id != n.ID {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
