package launchersvc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

// refresh is the context of a running launch composed anew.
type refresh struct {
	record   *launcherv1.Launch
	before   *told
	after    *told
	context  *contextv1.EffectiveContext
	warnings []*launcherv1.Warning
	files    []*typev1.File // that would change
	when     typev1.Applies // when the launch takes it
}

// RefreshContext composes the context of a running launch anew. It changes
// nothing; ReportLaunch tells that the files were rewritten.
func (s *Service) RefreshContext(ctx context.Context, projectID, launchID string) (*launcherv1.RefreshContextResponse, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	d, err := s.deskOf(ctx, projectID)
	if err != nil {
		return nil, err
	}
	r, err := s.compareLaunch(ctx, d, launchID)
	if err != nil {
		return nil, err
	}
	if r.files, err = s.refreshedFiles(ctx, r); err != nil {
		return nil, err
	}
	d.propose(launchID, r)
	now := r.launchContext()
	return &launcherv1.RefreshContextResponse{
		LaunchId: launchID, State: now.GetState(), DigestBefore: now.GetDigestBefore(), DigestAfter: now.GetDigestAfter(),
		TokensDelta: now.GetTokensDelta(), Changes: now.GetChanges(), Applies: now.GetApplies(),
		SideDirectory: r.before.Side, Files: r.files, Warnings: r.warnings[:min(len(r.warnings), maxWarnings)],
	}, nil
}

// compareLaunch composes what a living launch would be told now.
func (s *Service) compareLaunch(ctx context.Context, d *desk, launchID string) (*refresh, error) {
	record, err := d.alive(launchID, s.deps.Clock())
	if err != nil {
		return nil, err
	}
	before, err := s.toldOf(ctx, d, launchID)
	if err != nil {
		return nil, err
	}
	if before == nil {
		return nil, toldUnknown(launchID)
	}
	r := &refresh{record: record, before: before}
	return r, s.recompose(ctx, r)
}

// recompose fills in the new side of a refresh.
func (s *Service) recompose(ctx context.Context, r *refresh) error {
	req := r.before.Request
	p, w, err := s.worktree(req.GetProjectId(), req.GetWorktreeId())
	if err != nil {
		return err
	}
	g, err := s.gather(ctx, ask{
		project: p, worktree: w, agent: req.GetAgentId(), profile: req.GetProfileId(), task: req.GetTask(), locale: req.GetHost().GetLocale(), openFolder: req.GetHost().GetOpenFolder(),
	})
	if err != nil {
		return err
	}
	if g.memory != nil { // as if the notes were gone
		return fault.New(fault.ServiceUnavailable, fault.Meta{"service": memoryService},
			"the notes cannot be read now (%s), and a refresh would take them away from the agent; try again in a moment", reasonText(g.memory)).Wrap(g.memory)
	}
	r.context, r.warnings = g.context, g.warnings
	r.after = r.before.again(g.context)
	s.setMoment(r)
	return nil
}

// setMoment finds out when the launch takes the refresh: not with the next
// prompt when its CLI does not show this change there.
func (s *Service) setMoment(r *refresh) {
	r.when = r.record.GetInjection().GetApplies()
	if r.when == typev1.Applies_APPLIES_UNSPECIFIED { // a record of a server that did not know
		r.when = typev1.Applies_APPLIES_AT_RESTART
	}
	if r.when != typev1.Applies_APPLIES_NEXT_TURN || r.before.Digest == r.after.Digest {
		return
	}
	p, err := s.deps.Catalogue.Profile(r.record.GetProfileId())
	if err != nil {
		return // of a catalogue of another time: the launch's own word stands
	}
	why := ""
	switch limit, once := p.NextTurn(r.record.GetInjection().GetCarrier()); {
	case once && r.record.GetRefresh() != nil:
		why = p.Name + " shows a running session the first change only, and this one had its"
	case limit > 0 && changeSize(r.before, r.after) > limit:
		why = fmt.Sprintf("%s shows a running session the first %d bytes of a change, and this one is larger", p.Name, limit)
	default:
		return
	}
	r.when = typev1.Applies_APPLIES_AT_RESUME
	r.warnings = append(r.warnings, refreshWaits(p.Name, why))
}

// refreshedFiles are the files of the launch's injection whose content would
// change. There are none where only a fresh session takes them.
func (s *Service) refreshedFiles(ctx context.Context, r *refresh) ([]*typev1.File, error) {
	if r.before.Digest == r.after.Digest && r.record.GetRefresh() == nil || r.when == typev1.Applies_APPLIES_AT_RESTART {
		return nil, nil
	}
	req := r.before.Request
	resp, err := s.deps.Context.RenderInjection(ctx, &contextv1.RenderInjectionRequest{
		Context: r.context, ProfileId: r.record.GetProfileId(), Kind: r.record.GetKind(), Workspace: req.GetWorkspace(),
		Strategy: r.record.GetInjection().GetStrategy(), Carrier: r.record.GetInjection().GetCarrier(), Headless: r.before.Headless,
		SideDirectory: r.before.Side, ProjectRoot: req.GetHost().GetProjectRoot(), CliVersion: req.GetHost().GetCliVersion(),
		ArgvItemLimitBytes: req.GetHost().GetArgvItemLimitBytes(),
	})
	if err != nil {
		return nil, serviceFault(err, contextService)
	}
	return slices.DeleteFunc(resp.GetInjection().GetFiles(), func(f *typev1.File) bool {
		return slices.ContainsFunc(r.record.GetFiles(), func(known *launcherv1.LaunchFile) bool {
			return known.GetPath() == f.GetPath() && known.GetSha256() == fileDigest(f)
		})
	}), nil
}

func fileDigest(f *typev1.File) string {
	sum := sha256.Sum256(f.GetContent())
	return hex.EncodeToString(sum[:])
}

// launchContext tells how far the launch is behind.
func (r *refresh) launchContext() *launcherv1.LaunchContext {
	out := &launcherv1.LaunchContext{
		LaunchId: r.record.GetLaunchId(), Identity: r.record.GetIdentity(), ProfileId: r.record.GetProfileId(),
		State:        launcherv1.ContextState_CONTEXT_STATE_STALE,
		DigestBefore: r.before.Digest, DigestAfter: r.after.Digest, TokensDelta: r.after.Tokens - r.before.Tokens,
		Changes: changes(r.before, r.after), Applies: r.when,
	}
	switch r.after.Digest {
	case r.before.Digest:
		out.State = launcherv1.ContextState_CONTEXT_STATE_CURRENT
	case r.record.GetRefresh().GetContextDigest():
		out.State = launcherv1.ContextState_CONTEXT_STATE_PENDING
	}
	return out
}

// sectionKinds in the order of an effective context.
var sectionKinds = []typev1.SectionKind{
	typev1.SectionKind_SECTION_KIND_RULES, typev1.SectionKind_SECTION_KIND_PERSONA, typev1.SectionKind_SECTION_KIND_CAPABILITIES,
	typev1.SectionKind_SECTION_KIND_MEMORY, typev1.SectionKind_SECTION_KIND_STATE, typev1.SectionKind_SECTION_KIND_HANDOFF,
}

// changes are the sections that differ.
func changes(before, after *told) []*launcherv1.ContextChange {
	var out []*launcherv1.ContextChange
	for _, kind := range sectionKinds {
		a, b := before.section(kind), after.section(kind)
		if a == nil && b == nil || a != nil && b != nil && a.Sha256 == b.Sha256 {
			continue
		}
		c := &launcherv1.ContextChange{Section: kind}
		if a != nil {
			c.TokensBefore = a.Report.GetTokens()
		}
		if b != nil {
			c.TokensAfter = b.Report.GetTokens()
		}
		c.AddedSources, c.RemovedSources = missingFrom(a, b), missingFrom(b, a)
		out = append(out, c)
	}
	return out
}

// missingFrom names the sources of b that a does not have.
func missingFrom(a, b *toldSection) []string {
	if b == nil {
		return nil
	}
	var out []string
	for _, s := range b.Report.GetSources() {
		has := func(o *typev1.Source) bool { return o.GetName() == s.GetName() }
		if a == nil || !slices.ContainsFunc(a.Report.GetSources(), has) {
			out = append(out, s.GetName())
		}
	}
	return out
}

func toldUnknown(id string) error {
	return fault.New(fault.LaunchNotFound, fault.Meta{"launch": id},
		"what the launch %s was told is not kept; start the agent again to give it the context as it is now", id)
}

// alive returns the record of a launch that holds its instance.
func (d *desk) alive(id string, now time.Time) (*launcherv1.Launch, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l, err := d.find(id)
	if err != nil {
		return nil, err
	}
	if !l.holds(now) {
		return nil, launchOver(id)
	}
	return l.shown(now), nil
}

// held returns the records of the launches that hold their instances, or of
// one of them.
func (d *desk) held(now time.Time, only string) []*launcherv1.Launch {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []*launcherv1.Launch
	for id, l := range d.launches {
		if l.record.GetCreateTime() != nil && l.holds(now) && (only == "" || only == id) {
			out = append(out, l.shown(now))
		}
	}
	slices.SortFunc(out, newestFirst)
	return out
}

// propose remembers a refresh that a host was told of, until it reports it.
func (d *desk) propose(id string, r *refresh) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.launches[id]; l != nil {
		l.proposed = r
	}
}

// refreshed records that a host rewrote the files of a launch.
func (s *Service) refreshed(ctx context.Context, d *desk, id, digest string) error {
	d.mu.Lock()
	var r *refresh
	if l := d.launches[id]; l != nil {
		r = l.proposed
	}
	d.mu.Unlock()
	if r == nil || r.after.Digest != digest { // proposed by another server, or replaced since
		var err error
		if r, err = s.compareLaunch(ctx, d, id); err != nil {
			return err
		}
		if r.after.Digest != digest {
			return fault.New(fault.StaleEtag, fault.Meta{"current_etag": r.after.Digest},
				"the context of the launch %s changed again since it was refreshed; refresh it once more", id)
		}
		if r.files, err = s.refreshedFiles(ctx, r); err != nil {
			return err
		}
	}
	if r.when == typev1.Applies_APPLIES_AT_RESTART {
		return invalid("refreshed", "only a fresh session of %s takes a newer context; start the agent again", r.record.GetProfileId())
	}
	now := s.deps.Clock()
	return d.change(id, now, func(l *launch, record *launcherv1.Launch) error {
		if record.GetState() == launcherv1.LaunchState_LAUNCH_STATE_EXITED {
			return launchOver(id)
		}
		r.apply(record, now)
		if r.when == typev1.Applies_APPLIES_NEXT_TURN {
			l.told, l.toldStored = r.after, false
		}
		l.proposed = nil
		return nil
	})
}

// apply makes a record tell of the refresh.
func (r *refresh) apply(record *launcherv1.Launch, now time.Time) {
	record.Refresh = &launcherv1.Refresh{ContextDigest: r.after.Digest, CreateTime: timestamppb.New(now), Applies: r.when}
	if r.when == typev1.Applies_APPLIES_NEXT_TURN {
		record.ContextDigest, record.ContextTokens, record.Sections = r.after.Digest, r.after.Tokens, r.after.reports()
	}
	for _, f := range r.files {
		known := slices.IndexFunc(record.GetFiles(), func(k *launcherv1.LaunchFile) bool { return k.GetPath() == f.GetPath() })
		if known >= 0 {
			record.Files[known] = proto.CloneOf(record.Files[known])
			record.Files[known].Sha256, record.Files[known].SizeBytes = fileDigest(f), int64(len(f.GetContent()))
		}
	}
}
