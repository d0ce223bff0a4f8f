package contextsvc

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/safetext"
	"github.com/idea-ide/ideai/provider"
)

// Form says how much of a note is given.
type Form uint8

// The forms.
const (
	Full Form = iota + 1
	Excerpt
	Pointer
)

// Note is a recalled note.
type Note struct {
	ID          string
	Description string
	Form        Form
	Text        string // the whole note or an excerpt; "" for a pointer
}

// Inputs are what a context is composed of beside the project's files.
type Inputs struct {
	Agent   string
	Profile string
	// Person is how the person is called in the text; "" = a neutral word.
	Person string
	// Language holds where the settings name none.
	Language string
	// Trusted tells that the person has trusted the project.
	Trusted bool
	// Notes in order of weight; none = no memory section.
	Notes             []Note
	NotesTotal        int
	MemoryUnavailable bool
	State             string // Markdown lines; "" = no state section
	Handoff           string // Markdown; "" = no handoff section
	// Tools are the names of those the agent is given; their order is nothing.
	Tools []string
}

// Compose composes an effective context, and tells what was left out of
// sections that got no text. It fails with OVER_BUDGET, PROFILE_NOT_FOUND, and
// with the faults of rules and of a persona that are there and cannot be used.
func (s *Service) Compose(ctx context.Context, at Place, in Inputs) (EffectiveContext, []LeftOut, error) {
	profile, err := s.deps.Catalogue.Profile(in.Profile)
	if err != nil {
		return EffectiveContext{}, nil, err
	}
	settings, err := s.Settings(ctx, at)
	if err != nil {
		return EffectiveContext{}, nil, err
	}
	c := &composition{
		Service: s, ctx: ctx, at: at, in: in, profile: profile,
		language: s.language(settings, in.Language),
		budgets:  settings.Budgets.or(s.config.Budgets),
	}
	c.texts = languages[c.language]
	person := safetext.Line(in.Person)
	if person == "" {
		person = c.texts.nobody
	}
	c.names = strings.NewReplacer("{agent}", in.Agent, "{project}", at.Project, "{person}", person)
	wait := c.readAhead()
	defer wait()
	for _, step := range []func() error{c.foreignProfiles, c.rulesSection, c.personaSection, c.capabilities, c.fixed, c.memory, c.state, c.handoff} {
		if err := step(); err != nil {
			return EffectiveContext{}, nil, err
		}
	}
	return c.result(), bounded(c.left), nil
}

// composition is one context on its way.
type composition struct {
	*Service
	ctx      context.Context
	at       Place
	in       Inputs
	profile  *provider.Profile
	language string
	budgets  Budgets
	texts    *texts
	names    *strings.Replacer

	// Every persona and skill, as they become known.
	personaFiles func() ([]personaFile, error)
	skillFiles   func() ([]skillFile, error)

	sections []Section
	left     []LeftOut // of sections without text
}

// readAhead begins to read personas and skills, which takes most of the time;
// wait returns when all reading has ended.
func (c *composition) readAhead() (wait func()) {
	var reading sync.WaitGroup
	c.personaFiles = ahead(&reading, func() ([]personaFile, error) { return c.personas(c.ctx, c.at) })
	c.skillFiles = ahead(&reading, func() ([]skillFile, error) { return c.skills(c.ctx, c.at) })
	return reading.Wait
}

// ahead runs f at once and returns what waits for its result. Should f panic,
// the one who waits does.
func ahead[T any](wg *sync.WaitGroup, f func() (T, error)) func() (T, error) {
	once := sync.OnceValues(f)
	wg.Go(func() {
		defer func() { _ = recover() }()
		_, _ = once()
	})
	return once
}

func (c *composition) result() EffectiveContext {
	out := EffectiveContext{Sections: c.sections, Language: c.language}
	for _, s := range c.sections {
		out.Tokens += s.Tokens
	}
	out.Digest = digest(out.Text())
	out.StableDigest = digest(join(c.sections, true))
	return out
}

// keep ends a section. One that is nothing but its heading is dropped, and
// what was left out of it reported apart.
func (c *composition) keep(d *draft, hasText bool) error {
	if !hasText {
		c.left = append(c.left, d.section.LeftOut...)
		return nil
	}
	section, err := d.done()
	if err == nil {
		c.sections = append(c.sections, section)
	}
	return err
}

// foreignProfiles reports the profiles a project brings along: only the person's
// own configuration may say what is executed.
func (c *composition) foreignProfiles() error {
	for doc, err := range c.list(c.ctx, c.at, "profiles") {
		if err != nil {
			return err
		}
		c.left = append(c.left, LeftOut{Name: folder + doc.Key, Why: Unusable})
	}
	return nil
}

func (c *composition) rulesSection() error {
	texts, left, err := c.rules(c.ctx, c.at, c.profile, c.in.Trusted)
	if err != nil {
		return err
	}
	d := c.draft(RulesSection, c.texts.rules)
	d.section.LeftOut = left
	for _, f := range texts {
		d.add(f.name, f.text)
	}
	return c.keep(d, len(texts) > 0)
}

func (c *composition) personaSection() error {
	files, err := c.personaFiles()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(files, func(f personaFile) bool { return f.Agent == c.in.Agent })
	if i < 0 {
		return nil
	}
	file := files[i]
	name := folder + personaKey(c.in.Agent)
	if !c.in.Trusted {
		c.left = append(c.left, LeftOut{Name: name, Why: Untrusted, Tokens: c.count(file.Body)})
		return nil
	}
	if file.err != nil {
		return file.err
	}
	text := strings.TrimSpace(file.Body)
	if text == "" {
		text = file.Description
	}
	title := file.Name
	if title == "" {
		title = file.Agent
	}
	d := c.draft(PersonaSection, strings.ReplaceAll(c.texts.persona, "{name}", title))
	d.add(name, text)
	return c.keep(d, text != "")
}

func (c *composition) capabilities() error {
	t := c.texts
	d := c.draft(CapabilitiesSection, t.capabilities)
	intro := c.names.Replace(t.who)
	others, err := c.others(d)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		intro += " " + t.others + " " + strings.Join(others, ", ") + "."
	}
	advice := t.paragraphs(c.in.Tools)
	if len(advice) > 0 {
		intro += "\n" + t.tools
	}
	d.add("", intro)
	if len(advice) > 0 {
		d.add("", strings.Join(advice, "\n"))
	}
	if err := c.skillList(d); err != nil {
		return err
	}
	orders := t.orders
	if !c.in.Trusted {
		orders = t.alone
	}
	d.add("", c.names.Replace(t.data+" "+orders))
	return c.keep(d, true)
}

// others lists the other agents that have a persona.
func (c *composition) others(d *draft) ([]string, error) {
	files, err := c.personaFiles()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range files {
		name := folder + personaKey(f.Agent)
		switch {
		case f.Agent == c.in.Agent:
		case !c.in.Trusted:
			d.leave(name, Untrusted, 0)
		case f.err != nil:
			d.leaveBroken(name, f.err)
		default:
			item := "`" + f.Agent + "`"
			if about := safetext.Line(f.Description); about != "" {
				item += " (" + strings.TrimSuffix(about, ".") + ")"
			}
			d.section.Sources = append(d.section.Sources, Source{name, c.count(item)})
			out = append(out, item)
		}
	}
	return out, nil
}

// skillList names the skills; their text is for the agent to read when needed.
func (c *composition) skillList(d *draft) error {
	files, err := c.skillFiles()
	if err != nil {
		return err
	}
	lines := []string{c.texts.skills}
	for _, f := range files {
		switch {
		case !c.in.Trusted:
			d.leave(f.Path, Untrusted, 0)
		case f.err != nil:
			d.leaveBroken(f.Path, f.err)
		default:
			line := skillLine(f.Skill)
			d.section.Sources = append(d.section.Sources, Source{f.Path, c.count(line)})
			lines = append(lines, line)
		}
	}
	if len(lines) > 1 {
		d.add("", strings.Join(lines, "\n"))
	}
	return nil
}

func skillLine(f Skill) string {
	line := "- `" + f.ID + "`"
	if name := safetext.Line(f.Name); name != "" && name != f.ID {
		line += " (" + name + ")"
	}
	if about := safetext.Line(f.Description); about != "" {
		line += " — " + about
	}
	return line + " → `" + f.Path + "`"
}

// fixed holds the sections that are never cut to their common budget.
func (c *composition) fixed() error {
	total, largest := 0, Section{}
	var parts []string
	for _, s := range c.sections {
		total += s.Tokens
		parts = append(parts, s.Kind.String()+" "+strconv.Itoa(s.Tokens))
		if s.Tokens > largest.Tokens {
			largest = s
		}
	}
	if total <= c.budgets.Fixed {
		return nil
	}
	return fault.New(fault.OverBudget,
		fault.Meta{"section": largest.Kind.String(), "tokens": strconv.Itoa(total), "budget": strconv.Itoa(c.budgets.Fixed)},
		"rules, persona and capabilities take %d tokens (%s) and are never cut, their budget is %d; shorten the %s, or raise budgets.fixed_tokens in %s%s",
		total, strings.Join(parts, ", "), c.budgets.Fixed, largest.Kind, folder, settingsKey)
}
