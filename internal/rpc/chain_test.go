package rpc_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
)

func TestOwnerOfAPipe(t *testing.T) {
	c := owner(t, &notes{get: func(ctx context.Context, _ *memoryv1.GetNoteRequest) (*memoryv1.GetNoteResponse, error) {
		claims, ok := auth.FromContext(ctx)
		if !ok || claims.Person != "ada" || claims.SurfaceNames() != "HUMAN,HOST" {
			t.Errorf("caller: %+v", claims)
		}
		return &memoryv1.GetNoteResponse{Note: &memoryv1.Note{NoteId: "n"}}, nil
	}})
	got, err := c.GetNote(t.Context(), &memoryv1.GetNoteRequest{ProjectId: "atelier", NoteId: "n"})
	if err != nil || got.GetNote().GetNoteId() != "n" {
		t.Fatal(got, err)
	}
}

func TestInvalidRequestNamesEachField(t *testing.T) {
	c := owner(t, &notes{get: func(context.Context, *memoryv1.GetNoteRequest) (*memoryv1.GetNoteResponse, error) {
		t.Error("the handler saw an invalid request")
		return nil, nil
	}})
	_, err := c.GetNote(t.Context(), &memoryv1.GetNoteRequest{ProjectId: "../etc", NoteId: ".hidden"})
	f, _ := fault.As(err)
	if f == nil || f.Reason != fault.InvalidField || len(f.Fields) != 2 ||
		f.Fields[0].Path != "project_id" || f.Fields[1].Path != "note_id" {
		t.Fatalf("%v %+v", err, f)
	}
}

func TestPanicIsMasked(t *testing.T) {
	c := owner(t, &notes{get: func(context.Context, *memoryv1.GetNoteRequest) (*memoryv1.GetNoteResponse, error) {
		panic("the secret is 42")
	}})
	_, err := c.GetNote(t.Context(), &memoryv1.GetNoteRequest{ProjectId: "atelier", NoteId: "n"})
	f, _ := fault.As(err)
	if f == nil || f.Reason != fault.ReasonInternal || f.Meta["request_id"] == "" || strings.Contains(err.Error(), "42") {
		t.Fatal(err)
	}
}

func TestUnknownErrorIsMasked(t *testing.T) {
	c := owner(t, &notes{get: func(context.Context, *memoryv1.GetNoteRequest) (*memoryv1.GetNoteResponse, error) {
		return nil, errors.New("the secret is 42")
	}})
	_, err := c.GetNote(t.Context(), &memoryv1.GetNoteRequest{ProjectId: "atelier", NoteId: "n"})
	if fault.ReasonOf(err) != fault.ReasonInternal || strings.Contains(err.Error(), "42") {
		t.Fatal(err)
	}
}
