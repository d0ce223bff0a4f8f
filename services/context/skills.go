package contextsvc

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/page"
	"github.com/idea-ide/ideai/internal/store"
)

const (
	skillPrefix         = "skills"
	skillFileName       = "SKILL.md"
	maxSkillDescription = 1024
)

// Skill is something agents can do here, .ideai/skills/<skill>/SKILL.md.
type Skill struct {
	ID          string
	Name        string // "" = the id
	Description string // one line
	Path        string // relative to the worktree
	Body        string
	Etag        string
	// Problem says what is wrong with the file. When it cannot be used, Body
	// is the file as it is.
	Problem string
}

type skillFile struct {
	Skill
	err error
}

func skillKey(id string) string { return skillPrefix + "/" + id + "/" + skillFileName }

// skills returns every skill file by id.
func (s *Service) skills(ctx context.Context, at Place) ([]skillFile, error) {
	var out []skillFile
	for doc, err := range s.listNamed(ctx, at, skillPrefix, skillFileName) {
		if err != nil {
			return nil, err
		}
		id, ok := skillID(doc.Key)
		switch {
		case !ok: // a file beside
		case doc.Err != nil:
			out = append(out, skillFile{Skill: Skill{ID: id, Path: folder + doc.Key, Problem: message(doc.Err)}, err: doc.Err})
		default:
			out = append(out, parsed(&s.cache, at, doc, parseSkill))
		}
	}
	slices.SortFunc(out, func(a, b skillFile) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

func skillID(key string) (string, bool) {
	id, ok := strings.CutSuffix(strings.TrimPrefix(key, skillPrefix+"/"), "/"+skillFileName)
	return id, ok && !strings.Contains(id, "/")
}

func parseSkill(doc store.Doc) skillFile {
	name := folder + doc.Key
	id, _ := skillID(doc.Key)
	out := Skill{ID: id, Path: name, Etag: string(doc.Version)}
	md, problem, err := read(name, doc.Data)
	if err == nil && !validID(id) {
		err = damaged(name, 1, "the folder's name must be an id: lower-case letters, digits, '.', '_' and '-'; rename it")
	}
	if err == nil {
		f := fields{name: name, doc: md}
		out.Name = f.text(maxName, "name")
		out.Description = f.text(maxSkillDescription, "description")
		err = f.err
		out.Body, out.Problem = md.Body(), problem
	}
	if err != nil {
		out = Skill{ID: id, Path: name, Etag: out.Etag, Body: strings.ToValidUTF8(string(doc.Data), "\uFFFD"), Problem: message(err)}
	}
	return skillFile{Skill: out, err: err}
}

// Skills lists the skills by id, without their bodies.
func (s *Service) Skills(ctx context.Context, at Place, p Page) ([]Skill, string, error) {
	files, err := s.skills(ctx, at)
	if err != nil {
		return nil, "", err
	}
	cut, next, err := page.Slice(files, func(f skillFile) string { return f.ID }, p.Size, p.Token, "skills", at.Project, at.Worktree)
	out := make([]Skill, len(cut))
	for i, f := range cut {
		out[i] = f.Skill
		out[i].Body = ""
	}
	return out, next, err
}

// Skill returns one skill, or SKILL_NOT_FOUND.
func (s *Service) Skill(ctx context.Context, at Place, id string) (Skill, error) {
	doc, ok, err := s.get(ctx, at, skillKey(id))
	if err != nil {
		return Skill{}, err
	}
	if !ok {
		return Skill{}, fault.New(fault.SkillNotFound, fault.Meta{"skill": id},
			"there is no skill %s; create %s%s", id, folder, skillKey(id))
	}
	return parsed(&s.cache, at, doc, parseSkill).Skill, nil
}

// SaveSkill creates or replaces a skill's SKILL.md; other front matter stays.
func (s *Service) SaveSkill(ctx context.Context, at Place, in Skill) (Skill, error) {
	doc, err := s.save(ctx, at, skillKey(in.ID), in.Etag, func(old []byte, _ bool) ([]byte, error) {
		e := begin(folder+skillKey(in.ID), old)
		e.text(in.Name, "name")
		e.text(in.Description, "description")
		e.doc.SetBody(in.Body)
		return e.bytes()
	})
	if err != nil {
		return Skill{}, err
	}
	return parseSkill(doc).Skill, nil
}
