package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/rpc"
	"github.com/idea-ide/ideai/internal/telemetry"
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
		panic("the secret is plum")
	}})
	_, err := c.GetNote(t.Context(), &memoryv1.GetNoteRequest{ProjectId: "atelier", NoteId: "n"})
	f, _ := fault.As(err)
	if f == nil || f.Reason != fault.ReasonInternal || f.Meta["request_id"] == "" || strings.Contains(err.Error(), "plum") {
		t.Fatal(err)
	}
}

func TestUnknownErrorIsMasked(t *testing.T) {
	c := owner(t, &notes{get: func(context.Context, *memoryv1.GetNoteRequest) (*memoryv1.GetNoteResponse, error) {
		return nil, errors.New("the secret is plum")
	}})
	_, err := c.GetNote(t.Context(), &memoryv1.GetNoteRequest{ProjectId: "atelier", NoteId: "n"})
	if fault.ReasonOf(err) != fault.ReasonInternal || strings.Contains(err.Error(), "plum") {
		t.Fatal(err)
	}
}

func get(ctx context.Context, c memoryv1.MemoryServiceClient) error {
	_, err := c.GetNote(ctx, &memoryv1.GetNoteRequest{ProjectId: "atelier", NoteId: "n"})
	return err
}

// serverLog is a log to look into.
type serverLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *serverLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *serverLog) lines(t *testing.T) []map[string]any {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []map[string]any
	for line := range strings.Lines(l.buf.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

func TestWhatIsLogged(t *testing.T) {
	var log serverLog
	p := rpc.NewOwnerPipe()
	var answer error
	serveNotes(t, rpc.ServerConfig{Person: "ada", Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))},
		&notes{get: func(context.Context, *memoryv1.GetNoteRequest) (*memoryv1.GetNoteResponse, error) {
			if answer == nil {
				panic("boom 42")
			}
			return nil, answer
		}}, p)
	c := memoryv1.NewMemoryServiceClient(dialPipe(t, p, rpc.ClientConfig{}))
	for _, answer = range []error{
		nil,
		errors.New("disk on fire"),
		fault.New(fault.StoreReadOnly, fault.Meta{"path": "p"}, "p is read-only").Wrap(errors.New("EROFS")),
		fault.New(fault.NoteNotFound, fault.Meta{"note": "n"}, "no note n"),
	} {
		if err := get(t.Context(), c); err == nil {
			t.Fatal("no error")
		}
	}
	got := log.lines(t)
	var summary []string
	for _, l := range got {
		summary = append(summary, fmt.Sprint(l["level"], " ", l["msg"], " ", l["reason"]))
	}
	want := []string{
		"ERROR call failed <nil>", "ERROR call INTERNAL",
		"ERROR call failed <nil>", "ERROR call INTERNAL",
		"INFO call refused STORE_READ_ONLY", "INFO call STORE_READ_ONLY",
		"INFO call NOTE_NOT_FOUND",
	}
	if diff := cmp.Diff(want, summary); diff != "" {
		t.Fatal(diff)
	}
	if stack, _ := got[0]["stack"].(string); !strings.Contains(stack, "chain_test.go") || got[0]["error"] != "panic: boom 42" {
		t.Error("the panic is not in the log:", got[0])
	}
	if got[2]["error"] != "disk on fire" || got[4]["error"] != "p is read-only: EROFS" || got[1]["person"] != "ada" {
		t.Error("causes are not in the log:", got)
	}
}

func TestRequestIDs(t *testing.T) {
	seen := make(chan string, 1)
	c := owner(t, &notes{get: func(ctx context.Context, _ *memoryv1.GetNoteRequest) (*memoryv1.GetNoteResponse, error) {
		seen <- telemetry.RequestID(ctx)
		return nil, errors.New("boom")
	}})
	for _, want := range []string{"call-7", "", "two words", strings.Repeat("x", 200)} {
		ctx := t.Context()
		if want != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "x-request-id", want)
		}
		if want == "call-7" {
			ctx = telemetry.WithRequestID(t.Context(), want) // as one server calling another
		}
		var trailer metadata.MD
		_, err := c.GetNote(ctx, &memoryv1.GetNoteRequest{ProjectId: "atelier", NoteId: "n"}, grpc.Trailer(&trailer))
		id := <-seen
		f, _ := fault.As(err)
		if id == "" || f.Meta["request_id"] != id || strings.Join(trailer.Get("x-request-id"), ",") != id {
			t.Errorf("server %q, error %v, trailer %v", id, f.Meta, trailer)
		}
		if (id == want) != (want == "call-7") {
			t.Errorf("asked for %q, got %q", want, id)
		}
	}
}

// An answer beyond its bounds never reaches an agent; a person gets it.
func TestAnswersToAgentsAreValidated(t *testing.T) {
	key := newKey(t)
	token, err := key.Issuer().Issue(agentClaims(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	p := rpc.NewOwnerPipe()
	answer := &memoryv1.RecallNotesResponse{Notes: []*memoryv1.RecalledNote{{NoteId: strings.Repeat("x", 200)}}}
	serveNotes(t, rpc.ServerConfig{Verifier: key.Verifier()}, &notes{recall: func(context.Context, *memoryv1.RecallNotesRequest) (*memoryv1.RecallNotesResponse, error) {
		if answer == nil {
			return nil, fault.New(fault.StaleEtag, fault.Meta{"current_etag": "e"}, "changed").WithDetail(&memoryv1.StaleNote{BaseEtag: "rich"})
		}
		return answer, nil
	}}, p)
	c := memoryv1.NewMemoryServiceClient(dialPipe(t, p, rpc.ClientConfig{}))
	request := &memoryv1.RecallNotesRequest{ProjectId: "atelier", Query: "q"}
	agent := auth.WithToken(t.Context(), token)
	if _, err := c.RecallNotes(t.Context(), request); err != nil {
		t.Error("the owner:", err)
	}
	if _, err := c.RecallNotes(agent, request); fault.ReasonOf(err) != fault.ReasonInternal {
		t.Error("the agent:", err)
	}
	answer.Notes[0].NoteId = "fine"
	if _, err := c.RecallNotes(agent, request); err != nil {
		t.Error("the agent, within bounds:", err)
	}
	// A detail that is not for agents stays behind.
	answer = nil
	_, err = c.RecallNotes(t.Context(), request)
	if f, _ := fault.As(err); f == nil || f.Detail == nil {
		t.Error("the owner gets no detail:", err)
	}
	_, err = c.RecallNotes(agent, request)
	if f, _ := fault.As(err); f == nil || f.Reason != fault.StaleEtag || f.Detail != nil {
		t.Errorf("the agent: %+v", f)
	}
}

func TestScopeAndCallersThroughTheChain(t *testing.T) {
	key := newKey(t)
	token, err := key.Issuer().Issue(agentClaims(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	p := rpc.NewOwnerPipe()
	serveNotes(t, rpc.ServerConfig{Verifier: key.Verifier()}, &notes{watch: func(*memoryv1.WatchNotesRequest, grpc.ServerStreamingServer[memoryv1.WatchNotesResponse]) error {
		return nil
	}}, p)
	c := memoryv1.NewMemoryServiceClient(dialPipe(t, p, rpc.ClientConfig{}))
	agent := auth.WithToken(t.Context(), token)
	if _, err := c.RecallNotes(agent, &memoryv1.RecallNotesRequest{ProjectId: "other"}); fault.ReasonOf(err) != fault.OutOfScope {
		t.Error(err)
	}
	if err := get(agent, c); fault.ReasonOf(err) != fault.CallerNotAllowed {
		t.Error(err)
	}
	s, err := c.WatchNotes(agent, &memoryv1.WatchNotesRequest{ProjectId: "atelier"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); fault.ReasonOf(err) != fault.CallerNotAllowed {
		t.Error(err)
	}
	s, err = c.WatchNotes(t.Context(), &memoryv1.WatchNotesRequest{ProjectId: "../x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); fault.ReasonOf(err) != fault.InvalidField {
		t.Error(err)
	}
	if _, err := c.ListNotes(t.Context(), &memoryv1.ListNotesRequest{ProjectId: "atelier"}); fault.ReasonOf(err) != fault.UnknownMethod {
		t.Error(err)
	}
}

// Between the services of one process nobody is the owner by being there.
func TestPipeWithoutATokenIsNobody(t *testing.T) {
	p := rpc.NewPipe()
	serveNotes(t, rpc.ServerConfig{Verifier: newKey(t).Verifier()}, &notes{}, p)
	c := memoryv1.NewMemoryServiceClient(dialPipe(t, p, rpc.ClientConfig{}))
	if err := get(t.Context(), c); fault.ReasonOf(err) != fault.ReasonUnauthenticated {
		t.Fatal(err)
	}
}

func TestHealthNeedsNoToken(t *testing.T) {
	p := rpc.NewPipe()
	serve(t, rpc.ServerConfig{}, func(s *grpc.Server) { healthpb.RegisterHealthServer(s, health.NewServer()) }, p)
	got, err := healthpb.NewHealthClient(dialPipe(t, p, rpc.ClientConfig{})).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || got.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Fatal(got, err)
	}
}
