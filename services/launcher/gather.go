package launchersvc

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/project"
	"github.com/idea-ide/ideai/provider"
)

// implicitAgent is the agent of a project that names no default.
const implicitAgent = "dev"

const (
	defaultIndexTokens = 600
	maxHint            = 512
)

// ask says for whom an effective context is composed.
type ask struct {
	project  project.Project
	worktree project.Worktree
	agent    string // "" = the project's default
	profile  string // "" = the persona's
	task     string
	locale   string
	// openFolder is what the host says of the folders above a launch's own.
	openFolder string
}

// gathered is an effective context with what it was composed from.
type gathered struct {
	agent    string
	profile  *provider.Profile
	language string
	context  *contextv1.EffectiveContext
	warnings []*launcherv1.Warning
	memory   error    // why there are no notes
	tools    []string // what the agent is given
}

// gather composes the effective context of an ask. It needs the context
// service; without the memory service the result says so and goes without
// notes.
func (s *Service) gather(ctx context.Context, a ask) (gathered, error) {
	var in inputs
	var err error
	if in.settings, in.persona, in.trusted, err = s.basics(ctx, &a); err != nil {
		return gathered{}, err
	}
	profileID := a.profile
	if profileID == "" && in.trusted {
		profileID = in.persona.GetProfileId()
	}
	if profileID == "" {
		return gathered{}, invalid("profile_id", "no profile is named and the agent %s has none; name one, such as %s", a.agent, s.deps.Catalogue.Profiles()[0].ID)
	}
	out := gathered{agent: a.agent}
	if out.profile, err = s.deps.Catalogue.Profile(profileID); err != nil {
		return gathered{}, err
	}
	if why := out.profile.WithoutTools(a.openFolder); why != "" {
		out.warnings = append(out.warnings, noTools(profileID, why))
	} else {
		out.tools = s.deps.Tools
	}
	notes, err := s.recall(ctx, a, in)
	if err != nil {
		out.memory = err
		out.warnings = append(out.warnings, memoryDown(err))
	}
	if n := notes.GetProblemNotes(); n > 0 {
		out.warnings = append(out.warnings, brokenNotes(n))
	}
	composed, err := s.deps.Context.ComposeContext(ctx, &contextv1.ComposeContextRequest{
		ProjectId:         a.project.ID,
		WorktreeId:        wire(a.worktree.ID),
		AgentId:           a.agent,
		ProfileId:         profileID,
		PersonName:        s.config.PersonName,
		Language:          languageOf(a.locale),
		Trusted:           in.trusted,
		Notes:             noteInputs(notes),
		NotesTotal:        notes.GetTotalNotes(),
		MemoryUnavailable: err != nil,
		Tools:             out.tools,
	})
	if err != nil {
		return gathered{}, serviceFault(err, contextService)
	}
	out.context = composed.GetContext()
	out.language = out.context.GetLanguage()
	if in.persona == nil && a.agent != implicitAgent {
		out.warnings = append(out.warnings, noPersona(a.agent))
	}
	out.warnings = append(out.warnings, leftOut(a.project.ID, composed)...)
	return out, nil
}

// inputs are what the project and the person say of an agent.
type inputs struct {
	settings *contextv1.Settings
	persona  *contextv1.Persona // nil = none
	trusted  bool
}

// basics asks for settings, trust and persona, at once when the agent is known,
// and fills in the agent otherwise.
func (s *Service) basics(ctx context.Context, a *ask) (settings *contextv1.Settings, persona *contextv1.Persona, trusted bool, err error) {
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		resp, err := s.deps.Context.GetSettings(groupCtx, &contextv1.GetSettingsRequest{ProjectId: a.project.ID, WorktreeId: wire(a.worktree.ID)})
		settings = resp.GetSettings()
		return serviceFault(err, contextService)
	})
	group.Go(func() error {
		t, err := s.readTrust(groupCtx, a.project)
		trusted = t.Trusted
		return err
	})
	named := a.agent
	if named != "" {
		group.Go(func() (err error) {
			persona, err = s.persona(groupCtx, *a)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, false, err
	}
	if named == "" {
		if a.agent = settings.GetDefaultAgent(); a.agent == "" {
			a.agent = implicitAgent
		}
		persona, err = s.persona(ctx, *a)
	}
	return settings, persona, trusted, err
}

// persona returns the agent's persona, nil when it has none.
func (s *Service) persona(ctx context.Context, a ask) (*contextv1.Persona, error) {
	resp, err := s.deps.Context.GetPersona(ctx, &contextv1.GetPersonaRequest{ProjectId: a.project.ID, WorktreeId: wire(a.worktree.ID), AgentId: a.agent})
	err = serviceFault(err, contextService)
	if fault.ReasonOf(err) == fault.PersonaNotFound {
		return nil, nil
	}
	return resp.GetPersona(), err
}

// recall chooses notes for the ask. What a persona adds counts once its
// project is trusted.
func (s *Service) recall(ctx context.Context, a ask, in inputs) (*memoryv1.RecallNotesResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.MemoryWait)
	defer cancel()
	budgets := in.settings.GetBudgets()
	req := &memoryv1.RecallNotesRequest{
		ProjectId:         a.project.ID,
		WorktreeId:        wire(a.worktree.ID),
		Query:             a.task,
		BudgetTokens:      budgets.GetMemoryTokens(),
		IndexBudgetTokens: budgets.GetMemoryIndexTokens(),
	}
	if req.IndexBudgetTokens == 0 {
		req.IndexBudgetTokens = defaultIndexTokens
	}
	req.BudgetTokens = min(req.BudgetTokens, 100_000)
	req.IndexBudgetTokens = min(req.IndexBudgetTokens, 20_000)
	if in.trusted {
		req.Hints = slices.Clone(in.persona.GetRecallHints())
		req.PinnedNoteIds = in.persona.GetPinnedNotes()
	}
	if b := a.worktree.Branch; b != "" && len(b) <= maxHint {
		req.Hints = append(req.Hints, b)
	}
	resp, err := s.deps.Memory.RecallNotes(ctx, req)
	return resp, serviceFault(err, memoryService)
}

// wire is the form of a worktree's id in calls: the main checkout is empty, so
// that every service sees one name of it.
func wire(worktree string) string {
	if worktree == project.MainWorktree {
		return ""
	}
	return worktree
}

func noteInputs(notes *memoryv1.RecallNotesResponse) []*contextv1.NoteInput {
	out := make([]*contextv1.NoteInput, len(notes.GetNotes()))
	for i, n := range notes.GetNotes() {
		out[i] = &contextv1.NoteInput{NoteId: n.GetNoteId(), Description: n.GetDescription(), Form: n.GetForm(), Text: n.GetText()}
	}
	return out
}

func brokenNotes(n int32) *launcherv1.Warning {
	what := "notes are"
	if n == 1 {
		what = "note is"
	}
	return warning(launcherv1.WarningKind_WARNING_KIND_LEFT_OUT, typev1.SectionKind_SECTION_KIND_MEMORY, "memory",
		"%d %s not used: `ideai memory list --problems` tells why", n, what)
}

// languageOf returns the language of texts for a locale, "" when it says none.
func languageOf(locale string) string {
	lang, _, _ := strings.Cut(strings.ToLower(locale), "_")
	lang, _, _ = strings.Cut(lang, ".")
	switch lang {
	case "", "c", "posix":
		return ""
	case "fr":
		return "fr"
	}
	if strings.HasPrefix(lang, "fr-") {
		return "fr"
	}
	return "en"
}

// PreviewContext composes the effective context of an agent as a launch would.
func (s *Service) PreviewContext(ctx context.Context, req *launcherv1.PreviewContextRequest) (*launcherv1.PreviewContextResponse, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	p, w, err := s.worktree(req.GetProjectId(), req.GetWorktreeId())
	if err != nil {
		return nil, err
	}
	g, err := s.gather(ctx, ask{
		project: p, worktree: w, agent: req.GetAgentId(), profile: req.GetProfileId(), task: req.GetTask(), locale: req.GetLocale(),
	})
	if err != nil {
		return nil, err
	}
	return &launcherv1.PreviewContextResponse{Context: g.context, Warnings: g.warnings, ProfileId: g.profile.ID}, nil
}
