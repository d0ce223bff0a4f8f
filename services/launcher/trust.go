package launchersvc

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/project"
	"github.com/idea-ide/ideai/internal/store"
)

// trust is what is kept of a person's word about a project. It holds for the
// folder it was given for: an id that comes to mean another folder starts
// untrusted.
type trust struct {
	Trusted bool      `json:"trusted"`
	Person  string    `json:"person"`
	Time    time.Time `json:"time"`
	Root    string    `json:"root"`
}

func trustKey(projectID string) string { return "trust/" + projectID + ".json" }

// readTrust returns the trust in a project, the zero trust when nobody gave
// any, or when the record cannot be read: doubt is no trust.
func (s *Service) readTrust(ctx context.Context, p project.Project) (trust, error) {
	doc, err := s.deps.State.Get(ctx, trustKey(p.ID))
	if errors.Is(err, store.ErrNotFound) {
		return trust{}, nil
	}
	if err != nil {
		return trust{}, storeFault(err)
	}
	var t trust
	if err := json.Unmarshal(doc.Data, &t); err != nil || t.Root != p.Root {
		return trust{}, nil
	}
	return t, nil
}

func (s *Service) dropTrust(ctx context.Context, projectID string) error {
	err := s.deps.State.Delete(ctx, trustKey(projectID), store.Any)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return storeFault(err)
}

// SetTrust records whether the caller trusts a project's own texts.
func (s *Service) SetTrust(ctx context.Context, projectID string, trusted bool) (*launcherv1.Trust, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	p, err := s.usable(projectID)
	if err != nil {
		return nil, err
	}
	caller, _ := auth.FromContext(ctx)
	t := trust{Trusted: trusted, Person: caller.Person, Time: s.deps.Clock().UTC(), Root: p.Root}
	data, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	if _, err := s.deps.State.Put(ctx, trustKey(p.ID), data, store.Any); err != nil {
		return nil, storeFault(err)
	}
	s.mu.Lock()
	d := s.desks[p.ID]
	s.mu.Unlock()
	if d != nil {
		d.bell.ring()
	}
	s.deps.Logger.InfoContext(ctx, "trust set", "project", p.ID, "trusted", trusted, "person", caller.Person)
	return t.proto(), nil
}

// GetTrust tells whether a project is trusted, and which files of a worktree
// speak as rules.
func (s *Service) GetTrust(ctx context.Context, projectID, worktreeID string) (*launcherv1.Trust, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	p, w, err := s.worktree(projectID, worktreeID)
	if err != nil {
		return nil, err
	}
	t, err := s.readTrust(ctx, p)
	if err != nil {
		return nil, err
	}
	out := t.proto()
	out.Files, err = s.trustFiles(ctx, p.ID, w)
	return out, err
}

func (t trust) proto() *launcherv1.Trust {
	out := &launcherv1.Trust{Trusted: t.Trusted, PersonId: t.Person}
	if !t.Time.IsZero() {
		out.UpdateTime = timestamppb.New(t.Time)
	}
	return out
}

// trustFiles lists the files whose text reaches agents as a rule, as the
// context service says.
func (s *Service) trustFiles(ctx context.Context, projectID string, w project.Worktree) ([]*launcherv1.TrustFile, error) {
	resp, err := s.deps.Context.ListRuleFiles(ctx, &contextv1.ListRuleFilesRequest{ProjectId: projectID, WorktreeId: wire(w.ID)})
	if err != nil {
		return nil, serviceFault(err, contextService)
	}
	out := make([]*launcherv1.TrustFile, len(resp.GetFiles()))
	for i, f := range resp.GetFiles() {
		out[i] = &launcherv1.TrustFile{Path: f.GetPath(), Section: f.GetSection(), SizeBytes: f.GetSizeBytes()}
	}
	return out, nil
}
