package rpc_test

import (
	"context"
	"io"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
	"github.com/idea-ide/ideai/internal/rpc"
)

// EchoService has one method of each kind, made here because no service of
// ideai has them all. Line is {project_id, text}.
const echoService = "idea.try.v1.EchoService"

func echoMethod(name string) string { return "/" + echoService + "/" + name }

func echoFiles(t testing.TB) *protoregistry.Files {
	t.Helper()
	field := func(name string, n int32) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{Name: &name, Number: &n,
			Type:  descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
	}
	method := func(name string, up, down bool, callers ...optionsv1.Surface) *descriptorpb.MethodDescriptorProto {
		opts := &descriptorpb.MethodOptions{IdempotencyLevel: descriptorpb.MethodOptions_IDEMPOTENT.Enum()}
		if name == "Once" {
			opts.IdempotencyLevel = nil
		}
		proto.SetExtension(opts, optionsv1.E_Callers, callers)
		return &descriptorpb.MethodDescriptorProto{Name: &name, InputType: proto.String(".idea.try.v1.Line"),
			OutputType: proto.String(".idea.try.v1.Line"), ClientStreaming: &up, ServerStreaming: &down, Options: opts}
	}
	all := []optionsv1.Surface{optionsv1.Surface_SURFACE_AGENT, optionsv1.Surface_SURFACE_HUMAN, optionsv1.Surface_SURFACE_HOST}
	fd, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("idea/try/v1/try.proto"), Package: proto.String("idea.try.v1"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Line"),
			Field: []*descriptorpb.FieldDescriptorProto{field("project_id", 1), field("text", 2)}}},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("EchoService"), Method: []*descriptorpb.MethodDescriptorProto{
			method("One", false, false, all...), method("Once", false, false, all...), method("Down", false, true, all...),
			method("Up", true, false, all...), method("Both", true, true, all...),
			method("Human", false, true, optionsv1.Surface_SURFACE_HUMAN),
		}}},
	}, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	files := new(protoregistry.Files)
	if err := files.RegisterFile(fd); err != nil {
		t.Fatal(err)
	}
	return files
}

// echo is the service; every method runs the same handler.
type echo struct {
	files   *protoregistry.Files
	line    protoreflect.MessageDescriptor
	handler func(s *lines) error
}

func newEcho(t testing.TB, handler func(s *lines) error) *echo {
	t.Helper()
	files := echoFiles(t)
	d, err := files.FindDescriptorByName("idea.try.v1.Line")
	if err != nil {
		t.Fatal(err)
	}
	return &echo{files, d.(protoreflect.MessageDescriptor), handler}
}

func (e *echo) new(text string) *dynamicpb.Message {
	m := dynamicpb.NewMessage(e.line)
	m.Set(e.line.Fields().ByName("text"), protoreflect.ValueOfString(text))
	m.Set(e.line.Fields().ByName("project_id"), protoreflect.ValueOfString("atelier"))
	return m
}

func (e *echo) text(m *dynamicpb.Message) string {
	return m.Get(e.line.Fields().ByName("text")).String()
}

// anyStream is what both sides of a stream have.
type anyStream interface {
	Context() context.Context
	SendMsg(m any) error
	RecvMsg(m any) error
}

// lines is a stream of texts, on either side.
type lines struct {
	e *echo
	anyStream
}

func (l *lines) send(text string) error { return l.SendMsg(l.e.new(text)) }

func (l *lines) recv() (string, error) {
	m := dynamicpb.NewMessage(l.e.line)
	err := l.RecvMsg(m)
	return l.e.text(m), err
}

func (l *lines) server() grpc.ServerStream { return l.anyStream.(grpc.ServerStream) }
func (l *lines) client() grpc.ClientStream { return l.anyStream.(grpc.ClientStream) }

func (e *echo) register(s *grpc.Server) {
	desc := &grpc.ServiceDesc{ServiceName: echoService}
	for _, name := range []string{"One", "Once"} {
		desc.Methods = append(desc.Methods, grpc.MethodDesc{MethodName: name, Handler: e.unary(name)})
	}
	for _, name := range []string{"Down", "Up", "Both", "Human"} {
		desc.Streams = append(desc.Streams, grpc.StreamDesc{StreamName: name, ClientStreams: name == "Up" || name == "Both",
			ServerStreams: name == "Down" || name == "Both" || name == "Human",
			Handler:       func(_ any, ss grpc.ServerStream) error { return e.handler(&lines{e, ss}) }})
	}
	s.RegisterService(desc, nil)
}

// unary runs the handler on a stream of one message each way.
func (e *echo) unary(name string) grpc.MethodHandler {
	return func(_ any, ctx context.Context, dec func(any) error, chain grpc.UnaryServerInterceptor) (any, error) {
		in := dynamicpb.NewMessage(e.line)
		if err := dec(in); err != nil {
			return nil, err
		}
		return chain(ctx, in, &grpc.UnaryServerInfo{FullMethod: echoMethod(name)}, func(ctx context.Context, req any) (any, error) {
			s := &oneEach{ctx: ctx, in: req.(proto.Message)}
			err := e.handler(&lines{e, s})
			return s.out, err
		})
	}
}

type oneEach struct {
	grpc.ServerStream
	ctx context.Context
	in  proto.Message
	out any
}

func (s *oneEach) Context() context.Context       { return s.ctx }
func (s *oneEach) SetHeader(md metadata.MD) error { return grpc.SetHeader(s.ctx, md) }
func (s *oneEach) SetTrailer(md metadata.MD)      { _ = grpc.SetTrailer(s.ctx, md) }
func (s *oneEach) SendMsg(m any) error            { s.out = m; return nil }

func (s *oneEach) RecvMsg(m any) error {
	if s.in == nil {
		return io.EOF
	}
	proto.Merge(m.(proto.Message), s.in)
	s.in = nil
	return nil
}

func (e *echo) open(ctx context.Context, t testing.TB, conn *grpc.ClientConn, name string) *lines {
	t.Helper()
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: name == "Up" || name == "Both",
		ServerStreams: name == "Down" || name == "Both" || name == "Human"}, echoMethod(name))
	if err != nil {
		t.Fatal(err)
	}
	return &lines{e, s}
}

func (e *echo) call(ctx context.Context, conn *grpc.ClientConn, name, text string, opts ...grpc.CallOption) (string, error) {
	out := dynamicpb.NewMessage(e.line)
	err := conn.Invoke(ctx, echoMethod(name), e.new(text), out, opts...)
	return e.text(out), err
}

func (e *echo) serve(t testing.TB, cfg rpc.ServerConfig, listeners ...net.Listener) *grpc.Server {
	t.Helper()
	cfg.Files = e.files
	return serve(t, cfg, e.register, listeners...)
}
