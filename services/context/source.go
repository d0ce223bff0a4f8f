package contextsvc

import (
	"context"
	"strings"

	"github.com/idea-ide/ideai/internal/frontmatter"
	"github.com/idea-ide/ideai/internal/store"
)

// PersonaFile returns a persona with its file as it stands, for an editor;
// bytes that are no UTF-8 are replaced.
func (s *Service) PersonaFile(ctx context.Context, at Place, agent string) (Persona, string, error) {
	doc, ok, err := s.get(ctx, at, personaKey(agent))
	if err != nil {
		return Persona{}, "", err
	}
	if !ok {
		return Persona{}, "", personaNotFound(agent)
	}
	return parsed(&s.cache, at, doc, parsePersona).Persona, editable(doc), nil
}

// SavePersonaFile puts a text in place of a persona's whole file. A stale etag
// is STALE_ETAG; what could not be used is refused as it would be at a launch.
// Values that only lack quotes get them.
func (s *Service) SavePersonaFile(ctx context.Context, at Place, agent, etag, text string) (Persona, error) {
	doc, err := s.saveFile(ctx, at, personaKey(agent), etag, text, func(doc store.Doc) error { return parsePersona(doc).err })
	if err != nil {
		return Persona{}, err
	}
	return parsePersona(doc).Persona, nil
}

// RulesFile returns the rules with CONTEXT.md as it stands, nil when there is
// none.
func (s *Service) RulesFile(ctx context.Context, at Place) (Rules, *string, error) {
	doc, ok, err := s.get(ctx, at, rulesKey)
	if err != nil || !ok {
		return Rules{}, nil, err
	}
	file, text := parsed(&s.cache, at, doc, parseRules), editable(doc)
	return file.Rules, &text, file.err
}

// SaveRulesFile puts a text in place of CONTEXT.md, as SavePersonaFile does.
func (s *Service) SaveRulesFile(ctx context.Context, at Place, etag, text string) (Rules, error) {
	doc, err := s.saveFile(ctx, at, rulesKey, etag, text, func(doc store.Doc) error {
		file := parseRules(doc)
		if file.err != nil {
			return file.err
		}
		return checkFrom(file.From)
	})
	if err != nil {
		return Rules{}, err
	}
	file := parseRules(doc)
	return file.Rules, file.err
}

func editable(doc store.Doc) string { return strings.ToValidUTF8(string(doc.Data), "\uFFFD") }

func (s *Service) saveFile(ctx context.Context, at Place, key, etag, text string, check func(store.Doc) error) (store.Doc, error) {
	return s.save(ctx, at, key, etag, func([]byte, bool) ([]byte, error) {
		data := []byte(text)
		if doc, mended, err := frontmatter.Mend(data); err == nil && mended > 0 {
			data = doc.Bytes()
		}
		return data, check(store.Doc{Key: key, Data: data})
	})
}
