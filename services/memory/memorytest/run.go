// Package memorytest is the API suite of idea.memory.v1: what every server of
// it answers, whatever its store and however it is reached.
package memorytest

import (
	"testing"

	"google.golang.org/protobuf/proto"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/grpcerr"
)

// Project is the project that the suite works in. The main checkout is enough.
const Project = "memorytest"

// Run runs the suite. newClient is called once a subtest, and returns a client
// that acts as a person (HUMAN and HOST) on a server where Project is
// registered and has no notes yet; it cleans up with t.Cleanup.
func Run(t *testing.T, newClient func(t *testing.T) memoryv1.MemoryServiceClient) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, client)
	}{
		{"SaveGetListDelete", saveGetListDelete},
		{"SaveKeepsEveryField", saveKeepsEveryField},
		{"SaveIsIdempotent", saveIsIdempotent},
		{"SaveUnwrapsFrontMatter", saveUnwrapsFrontMatter},
		{"StaleEtag", staleEtag},
		{"StaleErrorIsSmall", staleErrorIsSmall},
		{"StaleEtagOfADeletedNote", staleEtagOfADeletedNote},
		{"NotFound", notFound},
		{"InvalidFields", invalidFields},
		{"SaveRefuses", saveRefuses},
		{"Pages", pages},
		{"Recall", recallNotes},
		{"RecallBudgets", recallBudgets},
		{"ReadParts", readParts},
		{"Watch", watchNotes},
		{"WatchEndsWithItsCaller", watchEnds},
		{"Cancelled", cancelled},
		{"ManyWriters", manyWriters},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(t, client{newClient(t), t})
		})
	}
}

// client is the client under test, with the calls that must succeed.
type client struct {
	memoryv1.MemoryServiceClient
	t *testing.T
}

func (c client) save(n *memoryv1.Note) *memoryv1.Note {
	c.t.Helper()
	r, err := c.SaveNote(c.t.Context(), &memoryv1.SaveNoteRequest{ProjectId: Project, Note: n})
	if err != nil {
		c.t.Fatalf("save %s: %v", n.GetNoteId(), err)
	}
	return r.GetNote()
}

func (c client) get(id string) *memoryv1.Note {
	c.t.Helper()
	r, err := c.GetNote(c.t.Context(), &memoryv1.GetNoteRequest{ProjectId: Project, NoteId: id})
	if err != nil {
		c.t.Fatalf("get %s: %v", id, err)
	}
	return r.GetNote()
}

// at returns a note as it was at an etag.
func (c client) at(id, etag string) *memoryv1.Note {
	c.t.Helper()
	r, err := c.GetNote(c.t.Context(), &memoryv1.GetNoteRequest{ProjectId: Project, NoteId: id, Etag: etag})
	if err != nil {
		c.t.Fatalf("get %s at %s: %v", id, etag, err)
	}
	return r.GetNote()
}

func (c client) list(r *memoryv1.ListNotesRequest) *memoryv1.ListNotesResponse {
	c.t.Helper()
	r.ProjectId = Project
	list, err := c.ListNotes(c.t.Context(), r)
	if err != nil {
		c.t.Fatalf("list: %v", err)
	}
	return list
}

func (c client) delete(id string) {
	c.t.Helper()
	if _, err := c.DeleteNote(c.t.Context(), &memoryv1.DeleteNoteRequest{ProjectId: Project, NoteId: id}); err != nil {
		c.t.Fatalf("delete %s: %v", id, err)
	}
}

func (c client) recall(r *memoryv1.RecallNotesRequest) *memoryv1.RecallNotesResponse {
	c.t.Helper()
	r.ProjectId = Project
	answer, err := c.RecallNotes(c.t.Context(), r)
	if err != nil {
		c.t.Fatalf("recall: %v", err)
	}
	return answer
}

// refused checks the reason of an error.
func refused(t *testing.T, err error, want fault.Reason) {
	t.Helper()
	_ = faultOf(t, err, want)
}

// faultOf checks the reason of an error and returns its fault.
func faultOf(t *testing.T, err error, want fault.Reason) *fault.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", want)
	}
	f, ok := fault.As(grpcerr.FromStatus(err, grpcerr.Call{}))
	if !ok || f.Reason != want {
		t.Fatalf("error %v has the reason %s, want %s", err, fault.ReasonOf(grpcerr.FromStatus(err, grpcerr.Call{})), want)
	}
	if len(f.Meta) != len(want.MetaKeys()) {
		t.Errorf("metadata %v, want the keys %v", f.Meta, want.MetaKeys())
	}
	return f
}

func equal(t *testing.T, got, want proto.Message) {
	t.Helper()
	if !proto.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
