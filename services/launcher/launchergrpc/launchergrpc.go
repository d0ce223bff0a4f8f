// Package launchergrpc serves the launcher over gRPC. It translates and
// nothing else.
package launchergrpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	launchersvc "github.com/idea-ide/ideai/services/launcher"
)

// Register registers the launcher with a server.
func Register(r grpc.ServiceRegistrar, s *launchersvc.Service) {
	launcherv1.RegisterLauncherServiceServer(r, &server{service: s})
}

type server struct {
	launcherv1.UnimplementedLauncherServiceServer
	service *launchersvc.Service
}

func (s *server) GetServerInfo(context.Context, *launcherv1.GetServerInfoRequest) (*launcherv1.GetServerInfoResponse, error) {
	return s.service.ServerInfo(), nil
}

func (s *server) Drain(ctx context.Context, req *launcherv1.DrainRequest) (*launcherv1.DrainResponse, error) {
	s.service.Drain(ctx, req.GetWhy())
	return &launcherv1.DrainResponse{}, nil
}

func (s *server) ResolveProject(ctx context.Context, req *launcherv1.ResolveProjectRequest) (*launcherv1.ResolveProjectResponse, error) {
	p, worktree, err := s.service.ResolveProject(ctx, req.GetPath())
	if err != nil {
		return nil, err
	}
	return &launcherv1.ResolveProjectResponse{Project: p, WorktreeId: worktree}, nil
}

func (s *server) RegisterProject(ctx context.Context, req *launcherv1.RegisterProjectRequest) (*launcherv1.RegisterProjectResponse, error) {
	return s.service.RegisterProject(ctx, req.GetPath(), req.GetProjectId())
}

func (s *server) GetProject(ctx context.Context, req *launcherv1.GetProjectRequest) (*launcherv1.GetProjectResponse, error) {
	p, err := s.service.GetProject(ctx, req.GetProjectId())
	if err != nil {
		return nil, err
	}
	return &launcherv1.GetProjectResponse{Project: p}, nil
}

func (s *server) UnregisterProject(ctx context.Context, req *launcherv1.UnregisterProjectRequest) (*launcherv1.UnregisterProjectResponse, error) {
	if err := s.service.UnregisterProject(ctx, req.GetProjectId()); err != nil {
		return nil, err
	}
	return &launcherv1.UnregisterProjectResponse{}, nil
}

func (s *server) ListProjects(ctx context.Context, req *launcherv1.ListProjectsRequest) (*launcherv1.ListProjectsResponse, error) {
	projects, next, err := s.service.ListProjects(ctx, req.GetPageSize(), req.GetPageToken())
	if err != nil {
		return nil, err
	}
	return &launcherv1.ListProjectsResponse{Projects: projects, NextPageToken: next}, nil
}

func (s *server) GetTrust(ctx context.Context, req *launcherv1.GetTrustRequest) (*launcherv1.GetTrustResponse, error) {
	trust, err := s.service.GetTrust(ctx, req.GetProjectId(), req.GetWorktreeId())
	if err != nil {
		return nil, err
	}
	return &launcherv1.GetTrustResponse{Trust: trust}, nil
}

func (s *server) SetTrust(ctx context.Context, req *launcherv1.SetTrustRequest) (*launcherv1.SetTrustResponse, error) {
	trust, err := s.service.SetTrust(ctx, req.GetProjectId(), req.GetTrusted())
	if err != nil {
		return nil, err
	}
	return &launcherv1.SetTrustResponse{Trust: trust}, nil
}

func (s *server) PrepareLaunch(ctx context.Context, req *launcherv1.PrepareLaunchRequest) (*launcherv1.PrepareLaunchResponse, error) {
	plan, err := s.service.PrepareLaunch(ctx, req)
	if err != nil {
		return nil, err
	}
	return &launcherv1.PrepareLaunchResponse{Plan: plan}, nil
}

func (s *server) PreviewContext(ctx context.Context, req *launcherv1.PreviewContextRequest) (*launcherv1.PreviewContextResponse, error) {
	return s.service.PreviewContext(ctx, req)
}

func (s *server) AttachLaunch(req *launcherv1.AttachLaunchRequest, stream grpc.ServerStreamingServer[launcherv1.AttachLaunchResponse]) error {
	return s.service.AttachLaunch(stream.Context(), req.GetProjectId(), req.GetLaunchId(), func() error {
		return stream.Send(&launcherv1.AttachLaunchResponse{LaunchId: req.GetLaunchId()})
	})
}

func (s *server) ReportLaunch(ctx context.Context, req *launcherv1.ReportLaunchRequest) (*launcherv1.ReportLaunchResponse, error) {
	if err := s.service.ReportLaunch(ctx, req); err != nil {
		return nil, err
	}
	return &launcherv1.ReportLaunchResponse{}, nil
}

func (s *server) GetLaunch(ctx context.Context, req *launcherv1.GetLaunchRequest) (*launcherv1.GetLaunchResponse, error) {
	launch, err := s.service.GetLaunch(ctx, req.GetProjectId(), req.GetLaunchId())
	if err != nil {
		return nil, err
	}
	return &launcherv1.GetLaunchResponse{Launch: launch}, nil
}

func (s *server) ListLaunches(ctx context.Context, req *launcherv1.ListLaunchesRequest) (*launcherv1.ListLaunchesResponse, error) {
	launches, next, err := s.service.ListLaunches(ctx, req)
	if err != nil {
		return nil, err
	}
	return &launcherv1.ListLaunchesResponse{Launches: launches, NextPageToken: next}, nil
}

func (s *server) RefreshContext(ctx context.Context, req *launcherv1.RefreshContextRequest) (*launcherv1.RefreshContextResponse, error) {
	return s.service.RefreshContext(ctx, req.GetProjectId(), req.GetLaunchId())
}

func (s *server) WatchContext(req *launcherv1.WatchContextRequest, stream grpc.ServerStreamingServer[launcherv1.WatchContextResponse]) error {
	return s.service.WatchContext(stream.Context(), req.GetProjectId(), req.GetLaunchId(), stream.Send)
}

func (s *server) DiffContext(ctx context.Context, req *launcherv1.DiffContextRequest) (*launcherv1.DiffContextResponse, error) {
	return s.service.DiffContext(ctx, req)
}

func (s *server) RenewToken(ctx context.Context, _ *launcherv1.RenewTokenRequest) (*launcherv1.RenewTokenResponse, error) {
	token, expires, err := s.service.RenewToken(ctx)
	if err != nil {
		return nil, err
	}
	return &launcherv1.RenewTokenResponse{Token: token, ExpireTime: timestamppb.New(expires)}, nil
}
