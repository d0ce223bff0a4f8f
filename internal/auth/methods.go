package auth

import (
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
)

// Method is what the descriptors say of a method.
type Method struct {
	Callers []optionsv1.Surface
	// Retryable is true when the method may be called again after UNAVAILABLE.
	Retryable bool
	// TakesLapsed is true when the method also takes a token whose time is over.
	TakesLapsed bool
	Descriptor  protoreflect.MethodDescriptor
}

// Allows reports whether one of the caller's surfaces may call the method.
func (m Method) Allows(c Claims) bool {
	for _, s := range m.Callers {
		if c.Has(s) {
			return true
		}
	}
	return false
}

// CallerNames returns the surfaces that may call the method, as people read them.
func (m Method) CallerNames() string { return Claims{Surfaces: m.Callers}.SurfaceNames() }

// Methods explains methods from descriptors and remembers the answers. It is
// safe for concurrent use.
type Methods struct {
	files *protoregistry.Files
	known sync.Map // full method -> Method
}

// NewMethods explains the methods in files; nil means all that are linked in.
func NewMethods(files *protoregistry.Files) *Methods {
	if files == nil {
		files = protoregistry.GlobalFiles
	}
	return &Methods{files: files}
}

// Explain returns what the descriptors say of a full method such as
// /idea.memory.v1.MemoryService/GetNote, and false for a method they lack.
func (m *Methods) Explain(fullMethod string) (Method, bool) {
	if v, ok := m.known.Load(fullMethod); ok {
		return v.(Method), true
	}
	service, name, ok := strings.Cut(strings.TrimPrefix(fullMethod, "/"), "/")
	if !ok || !protoreflect.FullName(service).IsValid() || !protoreflect.Name(name).IsValid() {
		return Method{}, false
	}
	d, err := m.files.FindDescriptorByName(protoreflect.FullName(service).Append(protoreflect.Name(name)))
	if err != nil {
		return Method{}, false
	}
	md, ok := d.(protoreflect.MethodDescriptor)
	if !ok {
		return Method{}, false
	}
	out := Describe(md)
	m.known.Store(fullMethod, out)
	return out, true
}

// Describe returns what a descriptor says.
func Describe(md protoreflect.MethodDescriptor) Method {
	out := Method{Descriptor: md}
	opts, ok := md.Options().(*descriptorpb.MethodOptions)
	if !ok || opts == nil {
		return out
	}
	out.Callers, _ = proto.GetExtension(opts, optionsv1.E_Callers).([]optionsv1.Surface)
	out.TakesLapsed, _ = proto.GetExtension(opts, optionsv1.E_LapsedToken).(bool)
	level := opts.GetIdempotencyLevel()
	out.Retryable = level == descriptorpb.MethodOptions_NO_SIDE_EFFECTS || level == descriptorpb.MethodOptions_IDEMPOTENT
	return out
}

// ForAgents reports whether a message is marked as reaching agents.
func ForAgents(md protoreflect.MessageDescriptor) bool {
	opts, ok := md.Options().(*descriptorpb.MessageOptions)
	return ok && opts != nil && proto.GetExtension(opts, optionsv1.E_Audience) == optionsv1.Audience_AUDIENCE_AGENT
}
