package contextsvc

import (
	"cmp"
	"context"
	"iter"
	"path"
	"path/filepath"
	"slices"

	"github.com/idea-ide/ideai/internal/store"
)

// RuleFile is a file whose text reaches agents as a rule once its project is
// trusted.
type RuleFile struct {
	Path    string // relative to the worktree
	Section SectionKind
	Size    int // in bytes, 0 when it is missing or cannot be read
}

// maxRuleFiles bounds what RuleFiles returns.
const maxRuleFiles = 1000

// RuleFiles returns the files of a worktree that speak to agents as rules, by
// path. What a damaged CONTEXT.md names is not among them; a launch refuses it.
func (s *Service) RuleFiles(ctx context.Context, at Place) ([]RuleFile, error) {
	out, err := s.rulesThemselves(ctx, at)
	if err != nil {
		return nil, err
	}
	for _, list := range []iter.Seq2[store.Doc, error]{
		s.list(ctx, at, personaPrefix), s.listNamed(ctx, at, skillPrefix, skillFileName),
	} {
		for doc, err := range list {
			if err != nil {
				return nil, err
			}
			section, ok := sectionOf(doc.Key)
			if ok && (section != PersonaSection || path.Dir(doc.Key) == personaPrefix) {
				out = append(out, RuleFile{folder + doc.Key, section, len(doc.Data)})
			}
		}
	}
	slices.SortFunc(out, func(a, b RuleFile) int { return cmp.Compare(a.Path, b.Path) })
	out = slices.CompactFunc(out, func(a, b RuleFile) bool { return a.Path == b.Path })
	return out[:min(len(out), maxRuleFiles)], nil
}

// rulesThemselves are CONTEXT.md and what it names, else the first rules file
// that the team has for another program.
func (s *Service) rulesThemselves(ctx context.Context, at Place) ([]RuleFile, error) {
	tree := s.tree(ctx, at)
	add := func(out []RuleFile, name string) []RuleFile {
		data, _ := tree.read(name)
		return append(out, RuleFile{name, RulesSection, len(data)})
	}
	doc, ok, err := s.get(ctx, at, rulesKey)
	if err != nil {
		return nil, err
	}
	if !ok {
		if i := slices.IndexFunc(conventional, tree.exists); i >= 0 {
			return add(nil, conventional[i]), nil
		}
		return nil, nil
	}
	out := []RuleFile{{folder + rulesKey, RulesSection, len(doc.Data)}}
	for _, from := range parsed(&s.cache, at, doc, parseRules).From {
		if filepath.IsLocal(from) {
			out = add(out, path.Clean(filepath.ToSlash(from)))
		}
	}
	return out, nil
}
