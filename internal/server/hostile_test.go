package server_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"pgregory.net/rapid"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/server/servertest"
)

// hostile are texts that programs have stumbled over.
var hostile = []string{
	"", " ", "\x00", "\n", "..", "../x", "/", "a/b", `a\b`, ".hidden", "CON", "é", "e\u0301", "ﬁ", "\u202Eabc", "\u200B", "\uFEFFx",
	"---\n", "---\nname: !00\n---\n", "---\naliases: !000000 0\n---\nx", "---\nname: [\n---\n", "<<<<<<< a\n=======\n>>>>>>> b\n",
	"<data>", "{context}", "{{", "%s%d", "$HOME", "`id`", "@file", "<!-- -->", "a : b", "-", "--", "--resume", "-p", "~", "null", "\xff", "🦊", "ß\u0345",
	strings.Repeat("a", 63), strings.Repeat("a", 120), strings.Repeat("é", 600), strings.Repeat("[", 3000), strings.Repeat("x y\n", 4000),
}

// names are what fields of a name usually hold, so that many calls get past
// the first check.
func names(root string) map[string][]string {
	ids := []string{"dev", "tester", "a", "no-such", strings.Repeat("a", 63), "a.b_c-d", "0"}
	notes := []string{"paint", "glue", "no-such", "é", "e\u0301", "A", "a b", "con", "日本", strings.Repeat("é", 60), "x\u202Ey", "-", "a:b*c?"}
	paths := []string{root, filepath.Join(root, "src"), filepath.Join(root, ".ideai"), root + "/src/../..", filepath.Join(root, "no-such"), "relative", "\x00", "/no-such/é", "~"}
	return map[string][]string{
		"project_id": {"shop", "shop", "shop", "broken", "no-such"}, "worktree_id": {"", "", "main", "no-such"},
		"agent_id": ids, "instance_id": ids, "launch_id": ids, "conversation_id": ids, "skill_id": ids,
		"profile_id": {"", "claude", "codex", "no-such"}, "note_id": notes, "pinned_note_ids": notes, "pinned_notes": notes,
		"path": paths, "project_root": {root, "/elsewhere", "C:\\x", "relative"}, "os": {"linux", "darwin", "windows"},
		"cli_path": {"/bin/claude", "claude"}, "ideai_path": {"/bin/ideai"}, "server_address": {"unix:///tmp/s", "x"}, "cli_version": {"", "2.1.332", "x"},
		"carrier": {"", "side_directory", "no-such"}, "language": {"", "en", "fr", "de"}, "locale": {"", "fr_FR.UTF-8", "x"},
		"page_token": {""}, "etag": {"", "", "x"}, "rules_from": {"README.md", "../x", "/etc/passwd", "src", "a\x00b"},
	}
}

// drawMessage draws a message field by field.
func drawMessage(t *rapid.T, m protoreflect.Message, known map[string][]string, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsMap() || depth > 4:
		case f.IsList():
			list := m.Mutable(f).List()
			for range rapid.IntRange(0, 3).Draw(t, string(f.Name())) {
				list.Append(drawValue(t, f, list.NewElement(), known, depth))
			}
		case f.Message() == nil || rapid.IntRange(0, 4).Draw(t, string(f.Name())+" set") > 0:
			m.Set(f, drawValue(t, f, m.NewField(f), known, depth))
		}
	}
}

func drawValue(t *rapid.T, f protoreflect.FieldDescriptor, empty protoreflect.Value, known map[string][]string, depth int) protoreflect.Value {
	name := string(f.Name())
	whole := rapid.SampledFrom([]int64{0, 0, 1, 2, 3, 50, 5000, -1, 1<<31 - 1, -1 << 31})
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(strings.ToValidUTF8(drawText(t, name, known), "?"))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(drawText(t, name, known)))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, name))
	case protoreflect.EnumKind:
		values := f.Enum().Values()
		return protoreflect.ValueOfEnum(values.Get(rapid.IntRange(0, values.Len()-1).Draw(t, name)).Number())
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(whole.Draw(t, name)))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(rapid.OneOf(whole, rapid.Int64()).Draw(t, name))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(whole.Draw(t, name)))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(rapid.Float64().Draw(t, name))
	case protoreflect.MessageKind:
		drawMessage(t, empty.Message(), known, depth+1)
		return empty
	default:
		t.Fatalf("no values for a field of kind %v", f.Kind())
		return empty
	}
}

func drawText(t *rapid.T, name string, known map[string][]string) string {
	if pool := known[name]; pool != nil && rapid.IntRange(0, 9).Draw(t, name+" known") > 0 {
		return rapid.SampledFrom(pool).Draw(t, name)
	}
	return rapid.OneOf(rapid.SampledFrom(hostile), rapid.String()).Draw(t, name)
}

// methodOf returns the descriptor of a full method name.
func methodOf(t testing.TB, full string) protoreflect.MethodDescriptor {
	t.Helper()
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.ReplaceAll(full[1:], "/", ".")))
	if err != nil {
		t.Fatal(err)
	}
	return d.(protoreflect.MethodDescriptor)
}

// newMessage returns an empty message of a type.
func newMessage(d protoreflect.MessageDescriptor) proto.Message {
	mt, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		panic(err) // the generated code is linked in
	}
	return mt.New().Interface()
}

// call makes one call; of a stream it waits for the first answer only.
func call(ctx context.Context, conn grpc.ClientConnInterface, m protoreflect.MethodDescriptor, req proto.Message) error {
	full := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
	resp := newMessage(m.Output())
	if !m.IsStreamingServer() {
		return conn.Invoke(ctx, full, req, resp)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, full)
	if err != nil {
		return err
	}
	if err := s.SendMsg(req); err != nil {
		return err
	}
	if err := s.CloseSend(); err != nil {
		return err
	}
	return s.RecvMsg(resp)
}

// TestNoCallIsAnInternalError calls every method with what it may be given and
// with what it should not: each answer is one that the protos name.
func TestNoCallIsAnInternalError(t *testing.T) {
	s := servertest.Start(t)
	root := s.Project("shop", map[string]string{
		".ideai/memory/paint.md": "---\nname: paint\ndescription: Which paint\n---\nBlue.\n", ".ideai/agents/dev.md": "---\nname: Dev\n---\nDo it.\n",
		".ideai/CONTEXT.md": "Be kind.\n", "src/a.go": "package a\n",
	})
	s.Project("broken", map[string]string{
		".ideai/memory/paint.md": "---\nname: !00\n---\n", ".ideai/memory/glue.md/x": "a folder", ".ideai/agents/dev.md": "---\nname: !000000 0\n---\n",
		".ideai/agents/tester.md/x": "a folder", ".ideai/skills/a": "a file", ".ideai/CONTEXT.md/x": "a folder",
	})
	var methods []protoreflect.MethodDescriptor
	for _, full := range servertest.Methods() {
		// Drain ends the server; a project that is unregistered would not be tried any more.
		if m := methodOf(t, full); m.Name() != "Drain" && m.Name() != "UnregisterProject" {
			methods = append(methods, m)
		}
	}
	conns := map[string]grpc.ClientConnInterface{"owner": s.Owner().Conn, "agent": s.Agent("shop", "dev").Conn}
	known := names(root)
	answers := map[fault.Reason]int{}
	rapid.Check(t, func(rt *rapid.T) {
		for range 16 {
			m := rapid.SampledFrom(methods).Draw(rt, "method")
			who := rapid.SampledFrom([]string{"owner", "owner", "owner", "agent"}).Draw(rt, "caller")
			req := newMessage(m.Input())
			drawMessage(rt, req.ProtoReflect(), known, 0)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			err := call(ctx, conns[who], m, req)
			cancel()
			reason := fault.ReasonOf(err)
			answers[reason]++
			if err != nil && (reason == "" || reason == fault.ReasonInternal || reason == fault.ReasonDeadlineExceeded || reason == fault.ServiceUnavailable) {
				rt.Fatalf("%s of the %s answers %v\n%s", m.Name(), who, err, prototext.Format(req))
			}
		}
	})
	t.Logf("answers: %v", answers)
	if answers[""] < 50 {
		t.Errorf("only %d calls got past the checks: %v", answers[""], answers)
	}
}
