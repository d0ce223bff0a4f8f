package frontiertest_test

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	validate "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	_ "github.com/idea-ide/ideai/gen/idea/context/v1"
	_ "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	_ "github.com/idea-ide/ideai/gen/idea/memory/v1"
	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
	_ "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/rpc/frontiertest"
)

func TestFrontier(t *testing.T) {
	for _, broken := range frontiertest.Check(protoregistry.GlobalFiles) {
		t.Error(broken)
	}
}

// A context that this test does not import would not be checked.
func TestEveryProtoIsChecked(t *testing.T) {
	found := 0
	err := fs.WalkDir(os.DirFS("../../../proto"), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".proto" {
			return err
		}
		found++
		if _, err := protoregistry.GlobalFiles.FindFileByPath(name); err != nil {
			t.Errorf("%s is not imported here", name)
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Fatal(found, err)
	}
}

// The following prove that the check can fail: each case is one file with one
// service, and what is wrong with it.

type field struct {
	name  string
	kind  descriptorpb.FieldDescriptorProto_Type
	of    string // message type
	many  bool
	rules *validate.FieldRules
}

func (f field) proto(n int32) *descriptorpb.FieldDescriptorProto {
	p := &descriptorpb.FieldDescriptorProto{Name: &f.name, Number: &n, Type: &f.kind,
		Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), Options: &descriptorpb.FieldOptions{}}
	if f.many {
		p.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	}
	if f.of != "" {
		p.TypeName, p.Type = &f.of, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
	}
	if f.rules != nil {
		proto.SetExtension(p.Options, validate.E_Field, f.rules)
	}
	return p
}

func message(name string, fields ...field) *descriptorpb.DescriptorProto {
	m := &descriptorpb.DescriptorProto{Name: &name, Options: &descriptorpb.MessageOptions{}}
	for i, f := range fields {
		m.Field = append(m.Field, f.proto(int32(i+1)))
	}
	return m
}

func marked(m *descriptorpb.DescriptorProto, ext protoreflect.ExtensionType, value any) *descriptorpb.DescriptorProto {
	proto.SetExtension(m.Options, ext, value)
	return m
}

const (
	str = descriptorpb.FieldDescriptorProto_TYPE_STRING
	byt = descriptorpb.FieldDescriptorProto_TYPE_BYTES
	num = descriptorpb.FieldDescriptorProto_TYPE_INT64
)

var (
	agent = []optionsv1.Surface{optionsv1.Surface_SURFACE_AGENT}
	human = []optionsv1.Surface{optionsv1.Surface_SURFACE_HUMAN}
)

func short() *validate.FieldRules {
	return &validate.FieldRules{Type: &validate.FieldRules_String_{String_: &validate.StringRules{MaxBytes: proto.Uint64(8)}}}
}

func few(items *validate.FieldRules) *validate.FieldRules {
	return &validate.FieldRules{Type: &validate.FieldRules_Repeated{Repeated: &validate.RepeatedRules{MaxItems: proto.Uint64(8), Items: items}}}
}

func id() *validate.FieldRules {
	s := &validate.StringRules{}
	proto.SetExtension(s, optionsv1.E_Id, true)
	return &validate.FieldRules{Type: &validate.FieldRules_String_{String_: s}}
}

// mapOf adds a map<string, string> field to a message.
func mapOf(m *descriptorpb.DescriptorProto, rules *validate.FieldRules) *descriptorpb.DescriptorProto {
	entry := message("TagsEntry", field{name: "key", kind: str}, field{name: "value", kind: str})
	entry.Options.MapEntry = proto.Bool(true)
	m.NestedType = append(m.NestedType, entry)
	f := field{name: "tags", of: ".idea.try.v1." + m.GetName() + ".TagsEntry", many: true, rules: rules}
	m.Field = append(m.Field, f.proto(99))
	return m
}

func pairs(m *validate.MapRules) *validate.FieldRules {
	return &validate.FieldRules{Type: &validate.FieldRules_Map{Map: m}}
}

// files makes a registry of one file with the messages and one method Ask from
// Req to Resp.
func files(t *testing.T, callers []optionsv1.Surface, messages ...*descriptorpb.DescriptorProto) *protoregistry.Files {
	t.Helper()
	opts := &descriptorpb.MethodOptions{}
	if callers != nil {
		proto.SetExtension(opts, optionsv1.E_Callers, callers)
	}
	f := &descriptorpb.FileDescriptorProto{
		Name: proto.String("idea/try/v1/try.proto"), Package: proto.String("idea.try.v1"), Syntax: proto.String("proto3"),
		Dependency: []string{"google/protobuf/any.proto", "google/protobuf/struct.proto",
			"google/protobuf/timestamp.proto", "google/protobuf/field_mask.proto"},
		MessageType: messages,
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("TryService"), Method: []*descriptorpb.MethodDescriptorProto{{
			Name: proto.String("Ask"), InputType: proto.String(".idea.try.v1.Req"), OutputType: proto.String(".idea.try.v1.Resp"), Options: opts,
		}}}},
	}
	// Only what is linked in resolves.
	_, _, _, _ = (*anypb.Any)(nil), (*structpb.Struct)(nil), (*timestamppb.Timestamp)(nil), (*fieldmaskpb.FieldMask)(nil)
	fd, err := protodesc.NewFile(f, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	r := new(protoregistry.Files)
	if err := r.RegisterFile(fd); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCheckFails(t *testing.T) {
	req, resp := message("Req"), message("Resp")
	turn := marked(message("Turn"), optionsv1.E_Content, optionsv1.Content_CONTENT_TRANSCRIPT)
	forAgent := func(fields ...field) *descriptorpb.DescriptorProto {
		return marked(message("Plan", fields...), optionsv1.E_Audience, optionsv1.Audience_AUDIENCE_AGENT)
	}
	for name, c := range map[string]struct {
		callers  []optionsv1.Surface
		messages []*descriptorpb.DescriptorProto
		want     string
	}{
		"no callers":                  {nil, []*descriptorpb.DescriptorProto{req, resp}, "idea.try.v1.TryService.Ask: names no callers"},
		"unspecified caller":          {[]optionsv1.Surface{0}, []*descriptorpb.DescriptorProto{req, resp}, "names no callers"},
		"transcript":                  {agent, []*descriptorpb.DescriptorProto{req, turn, message("Resp", field{name: "turn", of: ".idea.try.v1.Turn"})}, "reaches idea.try.v1.Turn, a transcript"},
		"transcript deep in a list":   {agent, []*descriptorpb.DescriptorProto{req, turn, message("Mid", field{name: "turns", of: ".idea.try.v1.Turn", many: true, rules: few(nil)}), message("Resp", field{name: "mid", of: ".idea.try.v1.Mid"})}, "Ask > mid > turns: reaches idea.try.v1.Turn"},
		"the answer is a transcript":  {agent, []*descriptorpb.DescriptorProto{req, marked(message("Resp"), optionsv1.E_Content, optionsv1.Content_CONTENT_TRANSCRIPT)}, "a transcript"},
		"transcript through a plan":   {human, []*descriptorpb.DescriptorProto{req, resp, turn, forAgent(field{name: "turn", of: ".idea.try.v1.Turn"})}, "idea.try.v1.Plan > turn: reaches idea.try.v1.Turn"},
		"any":                         {agent, []*descriptorpb.DescriptorProto{req, message("Resp", field{name: "x", of: ".google.protobuf.Any"})}, "can hold anything"},
		"struct":                      {agent, []*descriptorpb.DescriptorProto{req, message("Resp", field{name: "x", of: ".google.protobuf.Struct"})}, "can hold anything"},
		"value":                       {human, []*descriptorpb.DescriptorProto{req, resp, forAgent(field{name: "x", of: ".google.protobuf.Value"})}, "can hold anything"},
		"string":                      {agent, []*descriptorpb.DescriptorProto{req, message("Resp", field{name: "x", kind: str})}, "idea.try.v1.Resp.x: a string without max_bytes"},
		"string of a plan":            {human, []*descriptorpb.DescriptorProto{req, resp, forAgent(field{name: "x", kind: str})}, "idea.try.v1.Plan.x: a string without max_bytes"},
		"id that is none":             {agent, []*descriptorpb.DescriptorProto{req, message("Resp", field{name: "x", kind: str, rules: &validate.FieldRules{}})}, "a string without max_bytes"},
		"rules that are ignored":      {agent, []*descriptorpb.DescriptorProto{req, message("Resp", field{name: "x", kind: str, rules: &validate.FieldRules{Ignore: validate.Ignore_IGNORE_ALWAYS.Enum(), Type: short().Type}})}, "a string without max_bytes"},
		"bytes":                       {agent, []*descriptorpb.DescriptorProto{req, message("Resp", field{name: "x", kind: byt})}, "bytes without max_len"},
		"list":                        {agent, []*descriptorpb.DescriptorProto{req, message("Resp", field{name: "x", kind: num, many: true})}, "a list without max_items"},
		"list of long strings":        {agent, []*descriptorpb.DescriptorProto{req, message("Resp", field{name: "x", kind: str, many: true, rules: few(nil)})}, "items: a string without max_bytes"},
		"field mask":                  {agent, []*descriptorpb.DescriptorProto{req, message("Resp", field{name: "x", of: ".google.protobuf.FieldMask"})}, "google.protobuf.FieldMask.paths: a list without max_items"},
		"map":                         {agent, []*descriptorpb.DescriptorProto{req, mapOf(message("Resp"), nil)}, "a map without max_pairs"},
		"map with long keys":          {agent, []*descriptorpb.DescriptorProto{req, mapOf(message("Resp"), pairs(&validate.MapRules{MaxPairs: proto.Uint64(3), Values: short()}))}, "keys: a string without max_bytes"},
		"map with long values":        {agent, []*descriptorpb.DescriptorProto{req, mapOf(message("Resp"), pairs(&validate.MapRules{MaxPairs: proto.Uint64(3), Keys: short()}))}, "values: a string without max_bytes"},
		"message that holds itself":   {agent, []*descriptorpb.DescriptorProto{req, message("Resp", field{name: "x", of: ".idea.try.v1.Resp"})}, "holds itself"},
		"project deep in the request": {agent, []*descriptorpb.DescriptorProto{resp, message("Who", field{name: "project_id", kind: str}), message("Req", field{name: "who", of: ".idea.try.v1.Who"})}, "idea.try.v1.Who.project_id is not at the top"},
	} {
		t.Run(name, func(t *testing.T) {
			got := frontiertest.Check(files(t, c.callers, c.messages...))
			if len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Fatalf("found %q, want one with %q", got, c.want)
			}
		})
	}
}

func TestCheckPasses(t *testing.T) {
	for name, c := range map[string]struct {
		callers  []optionsv1.Surface
		messages []*descriptorpb.DescriptorProto
	}{
		"bounded": {agent, []*descriptorpb.DescriptorProto{
			message("Req", field{name: "project_id", kind: str}, field{name: "free", kind: str}),
			mapOf(message("Resp", field{name: "a", kind: str, rules: short()}, field{name: "b", kind: str, rules: id()},
				field{name: "c", kind: str, many: true, rules: few(short())}, field{name: "d", of: ".google.protobuf.Timestamp"},
				field{name: "e", kind: num}), pairs(&validate.MapRules{MaxPairs: proto.Uint64(3), Keys: short(), Values: short()})),
		}},
		"people get anything": {human, []*descriptorpb.DescriptorProto{
			message("Req"),
			marked(message("Turn"), optionsv1.E_Content, optionsv1.Content_CONTENT_TRANSCRIPT),
			message("Resp", field{name: "x", kind: str}, field{name: "turn", of: ".idea.try.v1.Turn"}, field{name: "any", of: ".google.protobuf.Any"}),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := frontiertest.Check(files(t, c.callers, c.messages...)); len(got) > 0 {
				t.Fatal(got)
			}
		})
	}
}
