// Package memorygrpc serves memorysvc over gRPC: it translates messages both
// ways and decides nothing.
package memorygrpc

import (
	"context"

	"google.golang.org/grpc"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	memorysvc "github.com/idea-ide/ideai/services/memory"
)

// Register adds the memory service to a gRPC server. The server's interceptors
// validate requests and turn faults into statuses.
func Register(r grpc.ServiceRegistrar, s *memorysvc.Service) {
	memoryv1.RegisterMemoryServiceServer(r, &server{notes: s})
}

type server struct {
	memoryv1.UnimplementedMemoryServiceServer
	notes *memorysvc.Service
}

// placed is what every request has.
type placed interface {
	GetProjectId() string
	GetWorktreeId() string
}

func placeOf(r placed) memorysvc.Place {
	return memorysvc.Place{Project: r.GetProjectId(), Worktree: r.GetWorktreeId()}
}

func (s *server) SaveNote(ctx context.Context, r *memoryv1.SaveNoteRequest) (*memoryv1.SaveNoteResponse, error) {
	n, err := s.notes.SaveNote(ctx, placeOf(r), draft(r))
	if err != nil {
		return nil, withDetail(err)
	}
	return &memoryv1.SaveNoteResponse{Note: whole(n)}, nil
}

func (s *server) GetNote(ctx context.Context, r *memoryv1.GetNoteRequest) (*memoryv1.GetNoteResponse, error) {
	get := s.notes.GetNote
	if r.GetEtag() != "" {
		get = func(ctx context.Context, at memorysvc.Place, id string) (*memorysvc.Note, error) {
			return s.notes.NoteAt(ctx, at, id, r.GetEtag())
		}
	}
	n, err := get(ctx, placeOf(r), r.GetNoteId())
	if err != nil {
		return nil, err
	}
	return &memoryv1.GetNoteResponse{Note: whole(n), Source: n.Source}, nil
}

func (s *server) ListNotes(ctx context.Context, r *memoryv1.ListNotesRequest) (*memoryv1.ListNotesResponse, error) {
	list, err := s.notes.ListNotes(ctx, placeOf(r), r.GetOnlyProblems(), r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	out := &memoryv1.ListNotesResponse{NextPageToken: list.Next, Total: int32(list.Total)}
	for _, n := range list.Notes {
		out.Notes = append(out.Notes, bodiless(n))
	}
	return out, nil
}

func (s *server) DeleteNote(ctx context.Context, r *memoryv1.DeleteNoteRequest) (*memoryv1.DeleteNoteResponse, error) {
	if err := s.notes.DeleteNote(ctx, placeOf(r), r.GetNoteId(), r.GetEtag(), r.GetAllowMissing()); err != nil {
		return nil, withDetail(err)
	}
	return &memoryv1.DeleteNoteResponse{}, nil
}

func (s *server) WatchNotes(r *memoryv1.WatchNotesRequest, out grpc.ServerStreamingServer[memoryv1.WatchNotesResponse]) error {
	for ev, err := range s.notes.WatchNotes(out.Context(), placeOf(r)) {
		if err != nil {
			return err
		}
		if err := out.Send(event(ev)); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) RecallNotes(ctx context.Context, r *memoryv1.RecallNotesRequest) (*memoryv1.RecallNotesResponse, error) {
	answer, err := s.notes.RecallNotes(ctx, placeOf(r), memorysvc.Question{
		Query:        r.GetQuery(),
		Hints:        r.GetHints(),
		Pinned:       r.GetPinnedNoteIds(),
		MaxNotes:     int(r.GetMaxNotes()),
		BudgetTokens: int(r.GetBudgetTokens()),
		IndexTokens:  int(r.GetIndexBudgetTokens()),
	})
	if err != nil {
		return nil, err
	}
	out := &memoryv1.RecallNotesResponse{TotalNotes: int32(answer.Total), LeftOutNoteIds: answer.LeftOut, ProblemNotes: int32(answer.Broken)}
	for _, n := range answer.Notes {
		out.Notes = append(out.Notes, recalled(n))
	}
	return out, nil
}

func (s *server) ReadNote(ctx context.Context, r *memoryv1.ReadNoteRequest) (*memoryv1.ReadNoteResponse, error) {
	p, err := s.notes.ReadNote(ctx, placeOf(r), r.GetNoteId(), int(r.GetPart()))
	if err != nil {
		return nil, err
	}
	return &memoryv1.ReadNoteResponse{
		NoteId: p.ID, Description: p.Description, Text: p.Text, Part: int32(p.Part), Parts: int32(p.Parts),
	}, nil
}
