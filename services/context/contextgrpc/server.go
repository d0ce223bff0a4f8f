// Package contextgrpc serves contextsvc as idea.context.v1. It converts and
// nothing else; the server's chain validates requests and maps faults.
package contextgrpc

import (
	"context"

	"google.golang.org/grpc"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	contextsvc "github.com/idea-ide/ideai/services/context"
)

// Register registers the service on a server.
func Register(r grpc.ServiceRegistrar, s *contextsvc.Service) {
	contextv1.RegisterContextServiceServer(r, &server{service: s})
}

type server struct {
	contextv1.UnimplementedContextServiceServer
	service *contextsvc.Service
}

// placed is a request about a worktree.
type placed interface {
	GetProjectId() string
	GetWorktreeId() string
}

func place(r placed) contextsvc.Place {
	return contextsvc.Place{Project: r.GetProjectId(), Worktree: r.GetWorktreeId()}
}

// paged is a request for a page.
type paged interface {
	GetPageSize() int32
	GetPageToken() string
}

func page(r paged) contextsvc.Page {
	return contextsvc.Page{Size: r.GetPageSize(), Token: r.GetPageToken()}
}

func (s *server) GetSettings(ctx context.Context, r *contextv1.GetSettingsRequest) (*contextv1.GetSettingsResponse, error) {
	out, err := s.service.Settings(ctx, place(r))
	if err != nil {
		return nil, err
	}
	return &contextv1.GetSettingsResponse{Settings: settingsToProto(out)}, nil
}

func (s *server) SaveSettings(ctx context.Context, r *contextv1.SaveSettingsRequest) (*contextv1.SaveSettingsResponse, error) {
	out, err := s.service.SaveSettings(ctx, place(r), settingsFromProto(r.GetSettings()))
	if err != nil {
		return nil, err
	}
	return &contextv1.SaveSettingsResponse{Settings: settingsToProto(out)}, nil
}

func (s *server) GetRules(ctx context.Context, r *contextv1.GetRulesRequest) (*contextv1.GetRulesResponse, error) {
	out, source, err := s.service.RulesFile(ctx, place(r))
	if err != nil {
		return nil, err
	}
	return &contextv1.GetRulesResponse{Rules: rulesToProto(out), Source: source}, nil
}

func (s *server) SaveRules(ctx context.Context, r *contextv1.SaveRulesRequest) (*contextv1.SaveRulesResponse, error) {
	in := r.GetRules()
	save := func() (contextsvc.Rules, error) {
		return s.service.SaveRules(ctx, place(r), contextsvc.Rules{Body: in.GetBody(), From: in.GetRulesFrom(), Etag: in.GetEtag()})
	}
	if r.Source != nil {
		save = func() (contextsvc.Rules, error) {
			return s.service.SaveRulesFile(ctx, place(r), in.GetEtag(), r.GetSource())
		}
	}
	out, err := save()
	if err != nil {
		return nil, err
	}
	return &contextv1.SaveRulesResponse{Rules: rulesToProto(out)}, nil
}

func (s *server) ListPersonas(ctx context.Context, r *contextv1.ListPersonasRequest) (*contextv1.ListPersonasResponse, error) {
	out, next, err := s.service.Personas(ctx, place(r), page(r))
	if err != nil {
		return nil, err
	}
	return &contextv1.ListPersonasResponse{Personas: each(out, personaToProto), NextPageToken: next}, nil
}

func (s *server) GetPersona(ctx context.Context, r *contextv1.GetPersonaRequest) (*contextv1.GetPersonaResponse, error) {
	out, source, err := s.service.PersonaFile(ctx, place(r), r.GetAgentId())
	if err != nil {
		return nil, err
	}
	return &contextv1.GetPersonaResponse{Persona: personaToProto(out), Source: &source}, nil
}

func (s *server) SavePersona(ctx context.Context, r *contextv1.SavePersonaRequest) (*contextv1.SavePersonaResponse, error) {
	in := personaFromProto(r.GetPersona())
	save := func() (contextsvc.Persona, error) { return s.service.SavePersona(ctx, place(r), in) }
	if r.Source != nil {
		save = func() (contextsvc.Persona, error) {
			return s.service.SavePersonaFile(ctx, place(r), in.Agent, in.Etag, r.GetSource())
		}
	}
	out, err := save()
	if err != nil {
		return nil, err
	}
	return &contextv1.SavePersonaResponse{Persona: personaToProto(out)}, nil
}

func (s *server) DeletePersona(ctx context.Context, r *contextv1.DeletePersonaRequest) (*contextv1.DeletePersonaResponse, error) {
	if err := s.service.DeletePersona(ctx, place(r), r.GetAgentId(), r.GetEtag(), r.GetAllowMissing()); err != nil {
		return nil, err
	}
	return &contextv1.DeletePersonaResponse{}, nil
}

func (s *server) ListSkills(ctx context.Context, r *contextv1.ListSkillsRequest) (*contextv1.ListSkillsResponse, error) {
	out, next, err := s.service.Skills(ctx, place(r), page(r))
	if err != nil {
		return nil, err
	}
	return &contextv1.ListSkillsResponse{Skills: each(out, skillToProto), NextPageToken: next}, nil
}

func (s *server) GetSkill(ctx context.Context, r *contextv1.GetSkillRequest) (*contextv1.GetSkillResponse, error) {
	out, err := s.service.Skill(ctx, place(r), r.GetSkillId())
	if err != nil {
		return nil, err
	}
	return &contextv1.GetSkillResponse{Skill: skillToProto(out)}, nil
}

func (s *server) SaveSkill(ctx context.Context, r *contextv1.SaveSkillRequest) (*contextv1.SaveSkillResponse, error) {
	in := r.GetSkill()
	out, err := s.service.SaveSkill(ctx, place(r), contextsvc.Skill{
		ID: in.GetSkillId(), Name: in.GetName(), Description: in.GetDescription(), Body: in.GetBody(), Etag: in.GetEtag(),
	})
	if err != nil {
		return nil, err
	}
	return &contextv1.SaveSkillResponse{Skill: skillToProto(out)}, nil
}

func (s *server) ListRuleFiles(ctx context.Context, r *contextv1.ListRuleFilesRequest) (*contextv1.ListRuleFilesResponse, error) {
	out, err := s.service.RuleFiles(ctx, place(r))
	if err != nil {
		return nil, err
	}
	return &contextv1.ListRuleFilesResponse{Files: each(out, ruleFileToProto)}, nil
}

func (s *server) ListProfiles(_ context.Context, r *contextv1.ListProfilesRequest) (*contextv1.ListProfilesResponse, error) {
	out, next, err := s.service.Profiles(page(r))
	if err != nil {
		return nil, err
	}
	return &contextv1.ListProfilesResponse{Profiles: each(out, profileToProto), NextPageToken: next}, nil
}

func (s *server) GetProfile(_ context.Context, r *contextv1.GetProfileRequest) (*contextv1.GetProfileResponse, error) {
	out, err := s.service.Profile(r.GetProfileId())
	if err != nil {
		return nil, err
	}
	return &contextv1.GetProfileResponse{Profile: profileToProto(out)}, nil
}

func (s *server) WatchDocuments(r *contextv1.WatchDocumentsRequest, out grpc.ServerStreamingServer[contextv1.WatchDocumentsResponse]) error {
	for ev, err := range s.service.WatchDocuments(out.Context(), place(r)) {
		if err != nil {
			return err
		}
		if err := out.Send(documentEvent(ev)); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) ComposeContext(ctx context.Context, r *contextv1.ComposeContextRequest) (*contextv1.ComposeContextResponse, error) {
	out, left, err := s.service.Compose(ctx, place(r), inputsFromProto(r))
	if err != nil {
		return nil, err
	}
	return &contextv1.ComposeContextResponse{Context: contextToProto(out), LeftOut: each(left, leftOutToProto)}, nil
}

func (s *server) RenderInjection(_ context.Context, r *contextv1.RenderInjectionRequest) (*contextv1.RenderInjectionResponse, error) {
	out, err := s.service.Render(injectionFromProto(r))
	if err != nil {
		return nil, err
	}
	return &contextv1.RenderInjectionResponse{Injection: injectionToProto(out)}, nil
}
