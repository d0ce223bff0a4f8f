package contextsvc

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/provider"
)

const rulesKey = "CONTEXT.md"

// Rules are the project's rules, .ideai/CONTEXT.md.
type Rules struct {
	Body    string
	From    []string // files of the worktree whose text is used too
	Etag    string   // "" = there is no file
	Updated time.Time
	Problem string // what is wrong with the file though it can be used
}

const (
	maxFrom     = 16
	maxFromPath = 512
)

type rulesFile struct {
	Rules
	err error
}

// Rules returns the project's rules, empty when there is no file. It fails
// with DAMAGED, HIDDEN_TEXT or TOO_LARGE when the file cannot be used.
func (s *Service) Rules(ctx context.Context, at Place) (Rules, error) {
	doc, ok, err := s.get(ctx, at, rulesKey)
	if err != nil || !ok {
		return Rules{}, err
	}
	file := parsed(&s.cache, at, doc, parseRules)
	return file.Rules, file.err
}

func parseRules(doc store.Doc) rulesFile {
	name := folder + rulesKey
	md, problem, err := read(name, doc.Data)
	if err != nil {
		return rulesFile{err: err}
	}
	f := fields{name: name, doc: md}
	out := Rules{Body: md.Body(), From: f.list(maxFrom, maxFromPath, "rules_from"), Etag: string(doc.Version), Updated: doc.ModTime, Problem: problem}
	return rulesFile{Rules: out, err: f.err}
}

// SaveRules saves the rules; other front matter of the file stays.
func (s *Service) SaveRules(ctx context.Context, at Place, in Rules) (Rules, error) {
	if err := checkFrom(in.From); err != nil {
		return Rules{}, err
	}
	doc, err := s.save(ctx, at, rulesKey, in.Etag, func(old []byte, _ bool) ([]byte, error) {
		e := begin(folder+rulesKey, old)
		e.list(in.From, "rules_from")
		e.doc.SetBody(in.Body)
		return e.bytes()
	})
	if err != nil {
		return Rules{}, err
	}
	file := parseRules(doc)
	return file.Rules, file.err
}

// checkFrom refuses names of files that lead out of the worktree.
func checkFrom(names []string) error {
	for _, name := range names {
		if !filepath.IsLocal(name) || strings.ContainsAny(name, `\`) {
			return outside(name, name)
		}
	}
	return nil
}

// conventional are the files teams keep their rules in when they have no
// CONTEXT.md, the preferred one first.
var conventional = []string{"AGENTS.md", "CLAUDE.md"}

// fragment is a piece of a section with its source.
type fragment struct{ name, text string }

// rules returns the texts that are the rules of an agent under a profile, and
// what was left out of them.
func (s *Service) rules(ctx context.Context, at Place, profile *provider.Profile, trusted bool) ([]fragment, []LeftOut, error) {
	tree := s.tree(ctx, at)
	doc, ok, err := s.get(ctx, at, rulesKey)
	switch {
	case err != nil:
		return nil, nil, err
	case !ok:
		return s.conventionalRules(tree, profile, trusted)
	case !trusted:
		return nil, []LeftOut{{Name: folder + rulesKey, Why: Untrusted, Tokens: s.count(string(doc.Data))}}, nil
	}
	file := parsed(&s.cache, at, doc, parseRules)
	if file.err != nil {
		return nil, nil, file.err
	}
	var texts []fragment
	var left []LeftOut
	if body := strings.TrimSpace(file.Body); body != "" {
		texts = append(texts, fragment{folder + rulesKey, body})
	}
	var seen []string
	for _, from := range file.From {
		name := path.Clean(filepath.ToSlash(from))
		if !filepath.IsLocal(from) {
			return nil, nil, outside(from, from)
		}
		if slices.Contains(seen, name) || name == folder+rulesKey {
			continue
		}
		seen = append(seen, name)
		text, err := tree.text(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			left = append(left, LeftOut{Name: name, Why: Missing})
		case err != nil:
			return nil, nil, err
		case profile.ReadsFile(name, tree.exists):
			left = append(left, LeftOut{Name: name, Why: ReadByCLI, Tokens: s.count(text)})
		default:
			texts = append(texts, fragment{name, text})
		}
	}
	return texts, left, nil
}

// conventionalRules returns the file a team has instead of a CONTEXT.md, unless
// the CLI reads one of them by itself.
func (s *Service) conventionalRules(tree *worktree, profile *provider.Profile, trusted bool) ([]fragment, []LeftOut, error) {
	for _, name := range conventional {
		if tree.exists(name) && profile.ReadsFile(name, tree.exists) {
			data, _ := tree.read(name)
			return nil, []LeftOut{{Name: name, Why: ReadByCLI, Tokens: s.count(string(data))}}, nil
		}
	}
	for _, name := range conventional {
		if !tree.exists(name) {
			continue
		}
		if !trusted {
			data, _ := tree.read(name)
			return nil, []LeftOut{{Name: name, Why: Untrusted, Tokens: s.count(string(data))}}, nil
		}
		text, err := tree.text(name)
		if err != nil {
			return nil, nil, err
		}
		return []fragment{{name, text}}, nil, nil
	}
	return nil, nil, nil
}

// worktree reads each file once.
type worktree struct {
	load func(name string) ([]byte, error)
	seen map[string]loaded
}

type loaded struct {
	data []byte
	err  error
}

func (s *Service) tree(ctx context.Context, at Place) *worktree {
	return &worktree{seen: map[string]loaded{}, load: func(name string) ([]byte, error) {
		return s.deps.Files.ReadFile(ctx, at.Project, at.Worktree, name)
	}}
}

func (w *worktree) read(name string) ([]byte, error) {
	hit, ok := w.seen[name]
	if !ok {
		hit.data, hit.err = w.load(name)
		w.seen[name] = hit
	}
	return hit.data, hit.err
}

// exists reports whether something is there, be it unusable.
func (w *worktree) exists(name string) bool {
	_, err := w.read(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// text returns a file that agents can be given.
func (w *worktree) text(name string) (string, error) {
	data, err := w.read(name)
	if err != nil {
		return "", err
	}
	if err := usable(name, data); err != nil {
		return "", err
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\uFEFF"), "\r\n", "\n")
	return strings.TrimSpace(text), nil
}
