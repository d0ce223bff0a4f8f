package contextsvc

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// SectionKind names a section; sections come in this order.
type SectionKind uint8

// The sections.
const (
	RulesSection SectionKind = iota + 1
	PersonaSection
	CapabilitiesSection
	MemorySection
	StateSection
	HandoffSection
)

func (k SectionKind) String() string {
	return [...]string{"", "rules", "persona", "capabilities", "memory", "state", "handoff"}[k]
}

// Why says why something was left out.
type Why uint8

// The reasons; idea.type.v1.LeftOutReason tells what each means.
const (
	OverItsBudget Why = iota + 1
	ReadByCLI
	Untrusted
	Unusable
	Missing
	Shortened
	Unavailable
	OverItsIndex
)

// Source is one thing a section was made from.
type Source struct {
	Name   string // a path relative to the project, note:<id>, state or handoff
	Tokens int
}

// LeftOut is one thing that did not enter a section, or not whole.
type LeftOut struct {
	Name   string
	Why    Why
	Tokens int    // what it would have taken more
	Detail string // what is wrong with an unusable file, for people
	Count  int    // how many notes it stands for; 0 = one thing
	Limit  int    // the tokens that were spent, where not the section's budget
}

// Section is one part of an effective context.
type Section struct {
	Kind    SectionKind
	Text    string // Markdown with its heading, without final newline
	Tokens  int
	Budget  int // 0 = never cut
	Sources []Source
	LeftOut []LeftOut
	Stable  bool
}

// EffectiveContext is everything ideai tells an agent at launch.
type EffectiveContext struct {
	Sections     []Section // those with text, in order
	Digest       string    // sha256 of Text, hex
	StableDigest string    // sha256 of the stable sections' text, hex
	Tokens       int
	Language     string
}

// Text is what the agent gets: the sections joined by one blank line, with a
// final newline; "" when there is none.
func (e *EffectiveContext) Text() string { return join(e.Sections, false) }

func join(sections []Section, stableOnly bool) string {
	var b strings.Builder
	size := 0
	for _, s := range sections {
		size += len(s.Text) + len("\n\n")
	}
	b.Grow(size)
	for _, s := range sections {
		if stableOnly && !s.Stable {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(s.Text)
		b.WriteString("\n")
	}
	return b.String()
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

const (
	maxSection = 1 << 20 // bytes of a section's text
	maxReport  = 256     // sources, and things left out, of a section
)

// draft is a section being written. Its fragments are counted one by one and
// summed, since counts are remembered by content.
type draft struct {
	count   func(string) int
	text    strings.Builder
	section Section
}

func (s *Service) draft(kind SectionKind, heading string) *draft {
	d := &draft{count: s.count, section: Section{Kind: kind, Stable: kind < StateSection}}
	d.add("", heading)
	return d
}

func (s *Service) count(text string) int { return s.deps.Tokens.Count(text) }

// add appends a paragraph, and its source when it has one.
func (d *draft) add(source, text string) {
	if d.text.Len() > 0 {
		d.text.WriteString("\n\n")
	}
	d.text.WriteString(text)
	n := d.cost(text)
	d.section.Tokens += n
	if source != "" {
		d.section.Sources = append(d.section.Sources, Source{source, n})
	}
}

// blank is what a paragraph costs beside its own tokens: the blank line.
const blank = 1

func (d *draft) cost(text string) int { return d.count(text) + blank }

func (d *draft) leave(name string, why Why, tokens int) {
	d.section.LeftOut = append(d.section.LeftOut, LeftOut{Name: name, Why: why, Tokens: tokens})
}

// leaveBroken reports a file that cannot be used, and why.
func (d *draft) leaveBroken(name string, err error) {
	d.section.LeftOut = append(d.section.LeftOut, LeftOut{Name: name, Why: Unusable, Detail: message(err)})
}

// done returns the section.
func (d *draft) done() (Section, error) {
	d.section.Text = d.text.String()
	if n := len(d.section.Text); n > maxSection {
		return Section{}, tooLarge("section "+d.section.Kind.String(), n, maxSection)
	}
	d.section.LeftOut = bounded(d.section.LeftOut)
	if n := len(d.section.Sources); n > maxReport {
		rest := Source{Name: fmt.Sprintf("and %d more", n-maxReport+1)}
		for _, s := range d.section.Sources[maxReport-1:] {
			rest.Tokens += s.Tokens
		}
		d.section.Sources = append(d.section.Sources[:maxReport-1], rest)
	}
	return d.section, nil
}

// bounded keeps a report within what a message holds; the last entry then
// stands for the rest.
func bounded(left []LeftOut) []LeftOut {
	if len(left) <= maxReport {
		return left
	}
	rest := LeftOut{Name: fmt.Sprintf("and %d more", len(left)-maxReport+1), Why: left[maxReport-1].Why}
	for _, l := range left[maxReport-1:] {
		rest.Tokens += l.Tokens
	}
	return append(left[:maxReport-1:maxReport-1], rest)
}
