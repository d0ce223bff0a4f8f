package contextsvc

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/page"
	"github.com/idea-ide/ideai/internal/store"
)

const personaPrefix = "agents"

// Persona is a named role, .ideai/agents/<agent>.md.
type Persona struct {
	Agent       string
	Name        string // for people; "" = the id
	Description string // one line
	Profile     string
	Recall      []string // words that steer memory recall
	Pinned      []string // notes it always gets
	Body        string
	Etag        string
	Updated     time.Time
	// Problem says what is wrong with the file. When it cannot be used, Body
	// is the file as it is.
	Problem string
}

// Page is one page of a list.
type Page struct {
	Size  int32
	Token string
}

// Limits of what front matter may hold, those of the proto.
const (
	maxName        = 128
	maxDescription = 512
	maxHints       = 32
	maxHint        = 128
	maxNoteID      = 120
	maxProfileID   = 63
)

type personaFile struct {
	Persona
	err error
}

func personaKey(agent string) string { return personaPrefix + "/" + agent + ".md" }

// personas returns every persona file by agent id. A file that cannot be read
// or whose name is no id has its error set.
func (s *Service) personas(ctx context.Context, at Place) ([]personaFile, error) {
	var out []personaFile
	for doc, err := range s.list(ctx, at, personaPrefix) {
		if err != nil {
			return nil, err
		}
		stem, isMarkdown := strings.CutSuffix(strings.TrimPrefix(doc.Key, personaPrefix+"/"), ".md")
		if !isMarkdown || strings.Contains(stem, "/") {
			continue
		}
		if doc.Err != nil {
			out = append(out, personaFile{Persona: Persona{Agent: stem, Problem: message(doc.Err)}, err: doc.Err})
			continue
		}
		out = append(out, parsed(&s.cache, at, doc, parsePersona))
	}
	slices.SortFunc(out, func(a, b personaFile) int { return cmp.Compare(a.Agent, b.Agent) })
	return out, nil
}

func parsePersona(doc store.Doc) personaFile {
	name := folder + doc.Key
	out := Persona{
		Agent: strings.TrimSuffix(strings.TrimPrefix(doc.Key, personaPrefix+"/"), ".md"),
		Etag:  string(doc.Version), Updated: doc.ModTime,
	}
	md, problem, err := read(name, doc.Data)
	if err == nil && !validID(out.Agent) {
		err = damaged(name, 1, "the file's name must be an id: lower-case letters, digits, '.', '_' and '-'; rename it")
	}
	if err == nil {
		f := fields{name: name, doc: md}
		out.Name = f.text(maxName, "name")
		out.Description = f.text(maxDescription, "description")
		out.Profile = f.text(maxProfileID, "profile")
		out.Recall = f.list(maxHints, maxHint, "recall")
		out.Pinned = f.list(maxHints, maxNoteID, "pinned")
		if out.Profile != "" && !validID(out.Profile) {
			f.fail("must be the id of a profile", []string{"profile"})
		}
		err = f.err
		out.Body, out.Problem = md.Body(), problem
	}
	if err != nil {
		out = Persona{Agent: out.Agent, Etag: out.Etag, Updated: out.Updated, Body: strings.ToValidUTF8(string(doc.Data), "\uFFFD"), Problem: message(err)}
	}
	return personaFile{Persona: out, err: err}
}

// Personas lists the personas by agent id, without their bodies.
func (s *Service) Personas(ctx context.Context, at Place, p Page) ([]Persona, string, error) {
	files, err := s.personas(ctx, at)
	if err != nil {
		return nil, "", err
	}
	cut, next, err := page.Slice(files, func(f personaFile) string { return f.Agent }, p.Size, p.Token, "personas", at.Project, at.Worktree)
	out := make([]Persona, len(cut))
	for i, f := range cut {
		out[i] = f.Persona
		out[i].Body = ""
	}
	return out, next, err
}

// Persona returns one persona, or PERSONA_NOT_FOUND.
func (s *Service) Persona(ctx context.Context, at Place, agent string) (Persona, error) {
	doc, ok, err := s.get(ctx, at, personaKey(agent))
	if err != nil {
		return Persona{}, err
	}
	if !ok {
		return Persona{}, personaNotFound(agent)
	}
	return parsed(&s.cache, at, doc, parsePersona).Persona, nil
}

// SavePersona creates or replaces a persona; other front matter stays.
func (s *Service) SavePersona(ctx context.Context, at Place, in Persona) (Persona, error) {
	doc, err := s.save(ctx, at, personaKey(in.Agent), in.Etag, func(old []byte, _ bool) ([]byte, error) {
		e := begin(folder+personaKey(in.Agent), old)
		e.text(in.Name, "name")
		e.text(in.Description, "description")
		e.text(in.Profile, "profile")
		e.list(in.Recall, "recall")
		e.list(in.Pinned, "pinned")
		e.doc.SetBody(in.Body)
		return e.bytes()
	})
	if err != nil {
		return Persona{}, err
	}
	return parsePersona(doc).Persona, nil
}

// DeletePersona deletes a persona. An empty etag deletes whatever is there.
func (s *Service) DeletePersona(ctx context.Context, at Place, agent, etag string, allowMissing bool) error {
	docs, err := s.deps.Stores.Versioned(ctx, at.Project, at.Worktree)
	if err != nil {
		return err
	}
	key, expect := personaKey(agent), store.Any
	if etag != "" {
		now, exists, err := s.get(ctx, at, key)
		if err != nil {
			return err
		}
		if expect = store.Version(etag); exists && now.Version != expect {
			return stale(key, now.Version)
		}
	}
	err = docs.Delete(ctx, key, expect)
	switch {
	case errors.Is(err, store.ErrNotFound):
		if allowMissing {
			return nil
		}
		return personaNotFound(agent)
	case errors.Is(err, store.ErrConflict):
		now, _, _ := s.get(ctx, at, key)
		return stale(key, now.Version)
	}
	return storeFault(err, key)
}

func personaNotFound(agent string) error {
	return fault.New(fault.PersonaNotFound, fault.Meta{"agent": agent},
		"there is no persona of agent %s; create %s%s", agent, folder, personaKey(agent))
}
