package server_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/server/servertest"
)

// A spoiled project has something in the way of its files.
type spoiled struct {
	spoil func(t *testing.T, root string)
	// path is what the faults name, relative to the project.
	path string
	// all says that no call about the project's own files can succeed.
	all bool
	// by is the reason of the faults.
	by []fault.Reason
}

// fileAt puts a file in the place of whatever is there, folderAt a folder.
func fileAt(name string) func(t *testing.T, root string) {
	return func(t *testing.T, root string) {
		path := filepath.Join(root, name)
		if err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o755)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("in the way"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func folderAt(name string) func(t *testing.T, root string) {
	return func(t *testing.T, root string) {
		path := filepath.Join(root, name)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatIsInTheWayIsNamed puts something else in the place of .ideai, or of
// what is in it, and calls every method: one that fails says what is in the way
// and what to do.
func TestWhatIsInTheWayIsNamed(t *testing.T) {
	unavailable := []fault.Reason{fault.StoreUnavailable}
	for name, c := range map[string]spoiled{
		"no folder":             {fileAt(".ideai"), ".ideai", true, unavailable},
		"no run folder":         {fileAt(".ideai/run"), ".ideai/run", false, unavailable},
		"no lock folder":        {fileAt(".ideai/run/locks"), ".ideai/run/locks", false, unavailable},
		"no folder of notes":    {fileAt(".ideai/memory"), ".ideai/memory", false, unavailable},
		"no folder of agents":   {fileAt(".ideai/agents"), ".ideai/agents", false, unavailable},
		"no folder of skills":   {fileAt(".ideai/skills"), ".ideai/skills", false, unavailable},
		"settings are a folder": {folderAt(".ideai/project.yaml"), ".ideai/project.yaml", false, unavailable},
		"rules are a folder":    {folderAt(".ideai/CONTEXT.md"), ".ideai/CONTEXT.md", false, unavailable},
		"a persona is a folder": {folderAt(".ideai/agents/dev.md"), ".ideai/agents/dev.md", false, unavailable},
		"a skill is a folder":   {folderAt(".ideai/skills/s/SKILL.md"), ".ideai/skills/s/SKILL.md", false, unavailable},
		"a note is a folder":    {folderAt(".ideai/memory/paint.md"), ".ideai/memory/paint.md", false, unavailable},
		"no project":            {fileAt("."), "", true, []fault.Reason{fault.StoreUnavailable, fault.ProjectNotFound}},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); c.check(t, false) })
		if c.all {
			t.Run(name+" while the server runs", func(t *testing.T) { t.Parallel(); c.check(t, true) })
		}
	}
}

func (c spoiled) check(t *testing.T, running bool) {
	s := servertest.Start(t)
	root := s.Project("shop", map[string]string{
		".ideai/memory/paint.md": "---\nname: paint\ndescription: Which paint\n---\nBlue.\n",
		".ideai/agents/dev.md":   "---\nname: Dev\n---\nDo it.\n", ".ideai/skills/s/SKILL.md": "---\ndescription: S\n---\nSteps.\n",
		".ideai/CONTEXT.md": "Be kind.\n", ".ideai/project.yaml": "language: en\n",
	})
	owner := s.Owner()
	if running {
		if _, err := owner.Memory.ListNotes(t.Context(), &memoryv1.ListNotesRequest{ProjectId: "shop"}); err != nil {
			t.Fatal(err)
		}
	}
	c.spoil(t, root)
	c.callAll(t, owner, root, running)
}

// callAll calls every method of a spoiled project. A running memory service
// looks whether its project is still there once a second only.
func (c spoiled) callAll(t *testing.T, owner *servertest.Clients, root string, running bool) {
	t.Helper()
	named := 0
	for _, m := range projectMethods(t) {
		all := c.all && (!running || m.Parent().Name() != "MemoryService")
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err := call(ctx, owner.Conn, m, ordinary(m, root))
		cancel()
		f, _ := fault.As(err)
		switch {
		case slices.Contains(c.by, fault.ReasonOf(err)):
			named++
			if !strings.Contains(f.Msg, filepath.Join(root, c.path)) || !strings.Contains(f.Msg, ";") {
				t.Errorf("%s: %v; want %s in it, and what to do", m.Name(), err, c.path)
			}
		case err == nil && !all, isAny(f, fault.InvalidField, fault.CallerNotAllowed, fault.UnknownMethod):
		case !all && isAny(f, fault.StaleEtag, fault.LaunchNotFound, fault.NoteNotFound, fault.PersonaNotFound, fault.SkillNotFound):
		default:
			t.Errorf("%s: %v, want one of %v", m.Name(), err, c.by)
		}
	}
	if named == 0 {
		t.Errorf("nothing failed by %s", c.path)
	}
}

func isAny(f *fault.Error, reasons ...fault.Reason) bool {
	return f != nil && slices.Contains(reasons, f.Reason)
}

// projectMethods returns the methods about a project's own files, those that
// delete last.
func projectMethods(t *testing.T) []protoreflect.MethodDescriptor {
	var out []protoreflect.MethodDescriptor
	for _, full := range servertest.Methods() {
		m := methodOf(t, full)
		if m.Input().Fields().ByName("project_id") != nil && !slices.Contains([]protoreflect.Name{"RegisterProject", "GetProject", "UnregisterProject", "SetTrust"}, m.Name()) {
			out = append(out, m)
		}
	}
	deletes := func(m protoreflect.MethodDescriptor) int {
		if strings.HasPrefix(string(m.Name()), "Delete") {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b protoreflect.MethodDescriptor) int { return cmp.Compare(deletes(a), deletes(b)) })
	return out
}

// ordinary returns a request about what is in every test's project.
func ordinary(m protoreflect.MethodDescriptor, root string) proto.Message {
	req := newMessage(m.Input())
	fill(req.ProtoReflect(), map[string]string{
		"project_id": "shop", "launch_id": "l1", "agent_id": "dev", "skill_id": "s", "note_id": "paint", "profile_id": "claude",
		"path": root, "project_root": root, "os": "linux", "cli_path": "/bin/claude", "ideai_path": "/bin/ideai", "server_address": "unix:///s",
		"description": "d", "body": "text",
	})
	return req
}

func fill(m protoreflect.Message, values map[string]string) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsList() || f.IsMap() || f.ContainingOneof() != nil:
		case f.Kind() == protoreflect.StringKind && values[string(f.Name())] != "":
			m.Set(f, protoreflect.ValueOfString(values[string(f.Name())]))
		case f.Kind() == protoreflect.MessageKind:
			fill(m.Mutable(f).Message(), values)
		}
	}
}
