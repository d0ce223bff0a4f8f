package launchertest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"

	"google.golang.org/grpc"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/provider"
)

// Context is a context service that composes a few lines from what a test
// gives it. It renders injections by the built-in catalogue. Change it by Set.
type Context struct {
	contextv1.UnimplementedContextServiceServer

	mu   sync.Mutex
	docs ContextDocs
	last *contextv1.ComposeContextRequest

	changes changes
}

// ContextDocs is what a Context holds, the same for all projects.
type ContextDocs struct {
	Settings *contextv1.Settings
	Rules    *contextv1.Rules
	Personas map[string]*contextv1.Persona
	Skills   []*contextv1.Skill
	Files    []*contextv1.RuleFile
	State    string            // a volatile section
	LeftOut  []*typev1.LeftOut // added to every composed context
	Err      error             // of every call
}

// Set changes what the service holds.
func (c *Context) Set(change func(*ContextDocs)) {
	defer c.changes.tell()
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.docs)
}

// WatchDocuments implements the service: after the snapshot every Set is a
// change.
func (c *Context) WatchDocuments(_ *contextv1.WatchDocumentsRequest, out grpc.ServerStreamingServer[contextv1.WatchDocumentsResponse]) error {
	ev := &contextv1.WatchDocumentsResponse{Event: &contextv1.WatchDocumentsResponse_Synced{Synced: &contextv1.DocumentsSynced{}}}
	return c.changes.follow(out.Context(), func() error {
		if err := out.Send(ev); err != nil {
			return err
		}
		ev = &contextv1.WatchDocumentsResponse{Event: &contextv1.WatchDocumentsResponse_Document{Document: &contextv1.Document{Path: "x"}}}
		return nil
	})
}

// LastCompose returns the last ComposeContext request.
func (c *Context) LastCompose() *contextv1.ComposeContextRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *Context) now() (ContextDocs, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.docs, c.docs.Err
}

// GetSettings implements the service.
func (c *Context) GetSettings(context.Context, *contextv1.GetSettingsRequest) (*contextv1.GetSettingsResponse, error) {
	d, err := c.now()
	return &contextv1.GetSettingsResponse{Settings: d.Settings}, err
}

// GetRules implements the service.
func (c *Context) GetRules(context.Context, *contextv1.GetRulesRequest) (*contextv1.GetRulesResponse, error) {
	d, err := c.now()
	return &contextv1.GetRulesResponse{Rules: d.Rules}, err
}

// GetPersona implements the service.
func (c *Context) GetPersona(_ context.Context, req *contextv1.GetPersonaRequest) (*contextv1.GetPersonaResponse, error) {
	d, err := c.now()
	if err != nil {
		return nil, err
	}
	p := d.Personas[req.GetAgentId()]
	if p == nil {
		return nil, fault.New(fault.PersonaNotFound, fault.Meta{"agent": req.GetAgentId()}, "no persona %s", req.GetAgentId())
	}
	return &contextv1.GetPersonaResponse{Persona: p}, nil
}

// ListRuleFiles implements the service.
func (c *Context) ListRuleFiles(context.Context, *contextv1.ListRuleFilesRequest) (*contextv1.ListRuleFilesResponse, error) {
	d, err := c.now()
	return &contextv1.ListRuleFilesResponse{Files: d.Files}, err
}

// ListPersonas implements the service.
func (c *Context) ListPersonas(context.Context, *contextv1.ListPersonasRequest) (*contextv1.ListPersonasResponse, error) {
	d, err := c.now()
	resp := &contextv1.ListPersonasResponse{}
	for _, p := range d.Personas {
		resp.Personas = append(resp.Personas, p)
	}
	return resp, err
}

// ListSkills implements the service.
func (c *Context) ListSkills(context.Context, *contextv1.ListSkillsRequest) (*contextv1.ListSkillsResponse, error) {
	d, err := c.now()
	return &contextv1.ListSkillsResponse{Skills: d.Skills}, err
}

// ComposeContext implements the service.
func (c *Context) ComposeContext(_ context.Context, req *contextv1.ComposeContextRequest) (*contextv1.ComposeContextResponse, error) {
	d, err := c.now()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.last = req
	c.mu.Unlock()
	resp := &contextv1.ComposeContextResponse{LeftOut: d.LeftOut}
	out := &contextv1.EffectiveContext{Language: "en"}
	if req.GetLanguage() != "" {
		out.Language = req.GetLanguage()
	}
	add := func(kind typev1.SectionKind, source, text string) {
		out.Sections = append(out.Sections, &contextv1.Section{Text: text, Report: &typev1.SectionReport{
			Kind: kind, Tokens: 1, Stable: true, Sources: []*typev1.Source{{Name: source, Tokens: 1}},
		}})
	}
	spoken := func(kind typev1.SectionKind, source, text string) {
		switch {
		case text == "":
		case req.GetTrusted():
			add(kind, source, text)
		default:
			resp.LeftOut = append(resp.LeftOut, &typev1.LeftOut{Name: source, Reason: typev1.LeftOutReason_LEFT_OUT_REASON_UNTRUSTED})
		}
	}
	spoken(typev1.SectionKind_SECTION_KIND_RULES, ".ideai/CONTEXT.md", d.Rules.GetBody())
	spoken(typev1.SectionKind_SECTION_KIND_PERSONA, ".ideai/agents/"+req.GetAgentId()+".md", d.Personas[req.GetAgentId()].GetBody())
	add(typev1.SectionKind_SECTION_KIND_CAPABILITIES, "ideai", "# Tools\n"+strings.Join(req.GetTools(), "\n"))
	var notes strings.Builder
	for _, n := range req.GetNotes() {
		notes.WriteString(n.GetNoteId() + ": " + n.GetDescription() + "\n" + n.GetText() + "\n")
	}
	if notes.Len() > 0 {
		add(typev1.SectionKind_SECTION_KIND_MEMORY, "memory", notes.String())
	}
	out.StableDigest = digest(Text(out))
	if d.State != "" {
		add(typev1.SectionKind_SECTION_KIND_STATE, "state", d.State)
		out.Sections[len(out.Sections)-1].Report.Stable = false
	}
	out.Digest, out.Tokens = digest(Text(out)), int32(len(out.Sections))
	resp.Context = out
	return resp, nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Text is the text of an effective context.
func Text(c *contextv1.EffectiveContext) string {
	var texts []string
	for _, s := range c.GetSections() {
		texts = append(texts, s.GetText())
	}
	return strings.Join(texts, "\n\n") + "\n"
}

// RenderInjection implements the service.
func (c *Context) RenderInjection(_ context.Context, req *contextv1.RenderInjectionRequest) (*contextv1.RenderInjectionResponse, error) {
	if _, err := c.now(); err != nil {
		return nil, err
	}
	profile, err := provider.Builtin().Profile(req.GetProfileId())
	if err != nil {
		return nil, err
	}
	for i := range profile.Carriers {
		carrier := &profile.Carriers[i]
		kind := provider.Kind(strings.ToLower(strings.TrimPrefix(req.GetKind().String(), "LAUNCH_KIND_")))
		workspace := provider.Workspace(strings.ToLower(strings.TrimPrefix(req.GetWorkspace().String(), "WORKSPACE_")))
		if carrier.Name != req.GetCarrier() || !carrier.Serves(kind, workspace, req.GetHeadless()) {
			continue
		}
		piece, err := profile.Inject(carrier, kind, provider.Values{
			Side: req.GetSideDirectory(), Project: req.GetProjectRoot(), Context: Text(req.GetContext()),
		}, req.GetArgvItemLimitBytes())
		if err != nil {
			return nil, err
		}
		out := &typev1.Injection{
			Strategy: req.GetStrategy(), Carrier: carrier.Name, Stdin: piece.Stdin, VerifiedVersion: carrier.VerifiedVersion,
			Verification: verifications[carrier.Verification(req.GetCliVersion())], FrozenOnResume: carrier.FrozenOnResume,
		}
		for _, f := range piece.Files {
			out.Files = append(out.Files, &typev1.File{Path: f.Path, Content: f.Content, Mode: f.Mode})
		}
		for _, a := range piece.Args {
			out.Args = append(out.Args, &typev1.Arg{Value: a.Value, Secret: a.Secret})
		}
		for _, e := range piece.Env {
			out.Env = append(out.Env, &typev1.EnvVar{Name: e.Name, Value: e.Value, Secret: e.Secret})
		}
		return &contextv1.RenderInjectionResponse{Injection: out}, nil
	}
	return nil, fault.New(fault.InjectionUnsupported, fault.Meta{"profile": profile.ID, "strategy": "", "kind": "", "workspace": ""}, "no such carrier")
}

var verifications = map[provider.Verification]typev1.Verification{
	provider.Verified:     typev1.Verification_VERIFICATION_VERIFIED,
	provider.OtherVersion: typev1.Verification_VERIFICATION_OTHER_VERSION,
	provider.Unverified:   typev1.Verification_VERIFICATION_UNVERIFIED,
}

// Memory is a memory service that recalls what a test gives it.
type Memory struct {
	memoryv1.UnimplementedMemoryServiceServer

	mu     sync.Mutex
	notes  []*memoryv1.RecalledNote
	err    error
	silent bool
	last   *memoryv1.RecallNotesRequest

	changes changes
}

// Set makes every recall answer with notes, or with err.
func (m *Memory) Set(err error, notes ...*memoryv1.RecalledNote) {
	defer m.changes.tell()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notes, m.err = notes, err
}

// WatchNotes implements the service: after the snapshot every Set is a change.
func (m *Memory) WatchNotes(_ *memoryv1.WatchNotesRequest, out grpc.ServerStreamingServer[memoryv1.WatchNotesResponse]) error {
	ev := &memoryv1.WatchNotesResponse{Event: &memoryv1.WatchNotesResponse_Synced{Synced: &memoryv1.Synced{}}}
	return m.changes.follow(out.Context(), func() error {
		if err := out.Send(ev); err != nil {
			return err
		}
		ev = &memoryv1.WatchNotesResponse{Event: &memoryv1.WatchNotesResponse_DeletedNoteId{DeletedNoteId: "x"}}
		return nil
	})
}

// Silence makes every recall wait until its caller gives up.
func (m *Memory) Silence() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.silent = true
}

// LastRecall returns the last RecallNotes request.
func (m *Memory) LastRecall() *memoryv1.RecallNotesRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// RecallNotes implements the service.
func (m *Memory) RecallNotes(ctx context.Context, req *memoryv1.RecallNotesRequest) (*memoryv1.RecallNotesResponse, error) {
	m.mu.Lock()
	m.last = req
	notes, err, silent := m.notes, m.err, m.silent
	m.mu.Unlock()
	if silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return &memoryv1.RecallNotesResponse{Notes: notes, TotalNotes: int32(len(notes))}, nil
}
