package contextsvc

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/frontmatter"
	"github.com/idea-ide/ideai/internal/store"
)

const settingsKey = "project.yaml"

// Settings are a project's own settings, .ideai/project.yaml.
type Settings struct {
	Language     string // en, fr or "" for the host's locale
	DefaultAgent string // "" = dev
	Budgets      Budgets
	Etag         string // "" = there is no file
}

// Budgets bound the sections, in tokens; 0 = default. The proto tells what
// each bounds.
type Budgets struct{ Fixed, Memory, MemoryIndex, State, Handoff int }

// DefaultBudgets holds where nothing else is said.
var DefaultBudgets = Budgets{Fixed: 16_000, Memory: 2_000, MemoryIndex: 600, State: 400, Handoff: 2_000}

const maxBudget = 1_000_000

// keys pairs each budget with its key in the file.
func (b *Budgets) keys() []struct {
	key   string
	value *int
} {
	return []struct {
		key   string
		value *int
	}{
		{"fixed_tokens", &b.Fixed}, {"memory_tokens", &b.Memory}, {"memory_index_tokens", &b.MemoryIndex},
		{"state_tokens", &b.State}, {"handoff_tokens", &b.Handoff},
	}
}

// or fills what b leaves at zero from other.
func (b Budgets) or(other Budgets) Budgets {
	rest := other.keys()
	for i, k := range b.keys() {
		if *k.value == 0 {
			*k.value = *rest[i].value
		}
	}
	return b
}

func (b Budgets) check() error {
	for _, k := range b.keys() {
		if *k.value < 0 || *k.value > maxBudget {
			return errors.New("contextsvc: a budget is not between 0 and 1,000,000 tokens")
		}
	}
	return nil
}

type settingsFile struct {
	Settings
	err error
}

// Settings returns the project's settings; none when there is no file. It
// fails with DAMAGED when the file cannot be read as settings. Keys that are
// not ours are other programs' business.
func (s *Service) Settings(ctx context.Context, at Place) (Settings, error) {
	doc, ok, err := s.get(ctx, at, settingsKey)
	if err != nil || !ok {
		return Settings{}, err
	}
	file := parsed(&s.cache, at, doc, parseSettings)
	return file.Settings, file.err
}

var idPattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$`)

// validID is the id rule of the protos.
func validID(s string) bool { return idPattern.MatchString(s) && !strings.Contains(s, "..") }

func parseSettings(doc store.Doc) settingsFile {
	name := folder + settingsKey
	if err := usable(name, doc.Data); err != nil {
		return settingsFile{err: err}
	}
	yaml, err := frontmatter.ParseYAML(doc.Data)
	if err != nil {
		return settingsFile{err: yamlFault(name, err)}
	}
	f := fields{name: name, doc: yaml}
	f.text(maxText, "id")
	f.list(maxText, maxText, "aliases")
	out := Settings{Language: f.text(maxText, "language"), DefaultAgent: f.text(maxText, "agent"), Etag: string(doc.Version)}
	if out.Language != "" && !slices.Contains([]string{english, french}, out.Language) {
		f.fail("must be en or fr", []string{"language"})
	}
	if out.DefaultAgent != "" && !validID(out.DefaultAgent) {
		f.fail("must be the id of an agent", []string{"agent"})
	}
	if _, isScalar := yaml.String("budgets"); isScalar && yaml.Line("budgets") > 0 {
		if text, _ := yaml.String("budgets"); text != "" {
			f.fail("must be a mapping", []string{"budgets"})
		}
	}
	if _, isList := yaml.Strings("budgets"); isList && yaml.Line("budgets") > 0 {
		if items, _ := yaml.Strings("budgets"); len(items) > 0 {
			f.fail("must be a mapping", []string{"budgets"})
		}
	}
	for _, k := range out.Budgets.keys() {
		*k.value = f.number(maxBudget, "budgets", k.key)
	}
	return settingsFile{Settings: out, err: f.err}
}

// SaveSettings saves the settings; what else is in the file stays.
func (s *Service) SaveSettings(ctx context.Context, at Place, in Settings) (Settings, error) {
	doc, err := s.save(ctx, at, settingsKey, in.Etag, func(old []byte, _ bool) ([]byte, error) {
		yaml, err := frontmatter.ParseYAML(old)
		if err != nil {
			return nil, yamlFault(folder+settingsKey, err)
		}
		e := &edit{name: folder + settingsKey, doc: yaml}
		e.text(in.Language, "language")
		e.text(in.DefaultAgent, "agent")
		for _, k := range in.Budgets.keys() {
			e.number(*k.value, "budgets", k.key)
		}
		return e.bytes()
	})
	if err != nil {
		return Settings{}, err
	}
	file := parseSettings(doc)
	return file.Settings, file.err
}

// language returns the language of a project's texts.
func (s *Service) language(settings Settings, host string) string {
	for _, l := range []string{settings.Language, host, s.config.Language} {
		if _, ok := languages[l]; ok {
			return l
		}
	}
	return english
}

func invalid(field, why string) error {
	return fault.New(fault.InvalidField, nil, "%s %s", field, why).WithFields(fault.Field{Path: field, Message: why})
}
