// Package frontiertest holds the protos to the frontier rule: what may reach an
// agent is bounded and distilled, and never a transcript.
//
// Check reads descriptors only, so it holds for every service there is and
// will be.
package frontiertest

import (
	"fmt"
	"slices"
	"strings"

	validate "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
	"github.com/idea-ide/ideai/internal/auth"
)

// Files is what Check walks: *protoregistry.Files, such as the global one.
type Files interface {
	RangeFiles(func(protoreflect.FileDescriptor) bool)
}

// Check returns what breaks the frontier rule in the idea.* files, one sentence
// each, sorted:
//   - a method that names no callers;
//   - an answer to an agent, or a message marked audience = AGENT, that can hold
//     a transcript, an Any, a Struct or itself, or a string, bytes, list or map
//     without a bound;
//   - a request of an agent that names a project or worktree anywhere but at the
//     top, where the token's scope is checked.
func Check(files Files) []string {
	c := &checker{seen: map[string]bool{}}
	files.RangeFiles(func(fd protoreflect.FileDescriptor) bool {
		if strings.HasPrefix(string(fd.Package()), "idea.") {
			c.services(fd.Services())
			c.messages(fd.Messages())
		}
		return true
	})
	slices.Sort(c.found)
	return c.found
}

type checker struct {
	found []string
	seen  map[string]bool
}

func (c *checker) report(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !c.seen[s] {
		c.seen[s] = true
		c.found = append(c.found, s)
	}
}

func (c *checker) services(services protoreflect.ServiceDescriptors) {
	for i := range services.Len() {
		methods := services.Get(i).Methods()
		for j := range methods.Len() {
			c.method(methods.Get(j))
		}
	}
}

func (c *checker) method(md protoreflect.MethodDescriptor) {
	callers := auth.Describe(md).Callers
	if len(callers) == 0 || slices.Contains(callers, optionsv1.Surface_SURFACE_UNSPECIFIED) {
		c.report("%s: names no callers", md.FullName())
	}
	if slices.Contains(callers, optionsv1.Surface_SURFACE_AGENT) {
		c.reach(md.Output(), []string{string(md.FullName())}, nil)
		c.scope(md, md.Input(), nil)
	}
}

func (c *checker) messages(messages protoreflect.MessageDescriptors) {
	for i := range messages.Len() {
		md := messages.Get(i)
		if auth.ForAgents(md) {
			c.reach(md, []string{string(md.FullName())}, nil)
		}
		c.messages(md.Messages())
	}
}

// reach walks everything a message can hold. path tells how it was reached,
// above the messages that contain it.
func (c *checker) reach(md protoreflect.MessageDescriptor, path []string, above []protoreflect.FullName) {
	where := strings.Join(path, " > ")
	switch md.FullName() {
	case "google.protobuf.Any", "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue":
		c.report("%s: reaches %s, which can hold anything", where, md.FullName())
		return
	case "google.protobuf.Timestamp", "google.protobuf.Duration":
		return
	}
	if transcript(md) {
		c.report("%s: reaches %s, a transcript", where, md.FullName())
		return
	}
	if slices.Contains(above, md.FullName()) {
		c.report("%s: %s holds itself, so it has no bound", where, md.FullName())
		return
	}
	above = append(slices.Clip(above), md.FullName())
	fields := md.Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if why := unbounded(fd); why != "" {
			c.report("%s: %s", fd.FullName(), why)
		}
		next := fd.Message()
		if fd.IsMap() {
			next = fd.MapValue().Message()
		}
		if next != nil {
			c.reach(next, append(slices.Clip(path), string(fd.Name())), above)
		}
	}
}

// scope finds project_id and worktree_id below the top of a request, where
// auth.CheckScope does not look.
func (c *checker) scope(method protoreflect.MethodDescriptor, md protoreflect.MessageDescriptor, above []protoreflect.FullName) {
	if slices.Contains(above, md.FullName()) {
		return
	}
	nested := len(above) > 0
	above = append(slices.Clip(above), md.FullName())
	fields := md.Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if nested && (fd.Name() == "project_id" || fd.Name() == "worktree_id") {
			c.report("%s: an agent may call it, and %s is not at the top of the request", method.FullName(), fd.FullName())
		}
		if fd.Message() != nil {
			c.scope(method, fd.Message(), above)
		}
	}
}

func transcript(md protoreflect.MessageDescriptor) bool {
	opts, ok := md.Options().(*descriptorpb.MessageOptions)
	return ok && opts != nil && proto.GetExtension(opts, optionsv1.E_Content) == optionsv1.Content_CONTENT_TRANSCRIPT
}

// unbounded tells which bound a field lacks, "" when it lacks none.
func unbounded(fd protoreflect.FieldDescriptor) string {
	rules := rulesOf(fd)
	switch {
	case fd.IsMap():
		m := rules.GetMap()
		if !m.HasMaxPairs() {
			return "a map without max_pairs"
		}
		if why := unboundedValue(fd.MapKey(), m.GetKeys()); why != "" {
			return "keys: " + why
		}
		if why := unboundedValue(fd.MapValue(), m.GetValues()); why != "" {
			return "values: " + why
		}
		return ""
	case fd.IsList():
		if !rules.GetRepeated().HasMaxItems() {
			return "a list without max_items"
		}
		if why := unboundedValue(fd, rules.GetRepeated().GetItems()); why != "" {
			return "items: " + why
		}
		return ""
	default:
		return unboundedValue(fd, rules)
	}
}

func unboundedValue(fd protoreflect.FieldDescriptor, rules *validate.FieldRules) string {
	switch fd.Kind() {
	case protoreflect.StringKind:
		s := rules.GetString()
		named := proto.GetExtension(s, optionsv1.E_Id) == true || proto.GetExtension(s, optionsv1.E_NoteId) == true
		if named || s.HasMaxBytes() || s.HasMaxLen() || s.HasLen() || s.HasLenBytes() || s.HasConst() || len(s.GetIn()) > 0 {
			return ""
		}
		return "a string without max_bytes"
	case protoreflect.BytesKind:
		b := rules.GetBytes()
		if b.HasMaxLen() || b.HasLen() || b.HasConst() || len(b.GetIn()) > 0 {
			return ""
		}
		return "bytes without max_len"
	default:
		return ""
	}
}

func rulesOf(fd protoreflect.FieldDescriptor) *validate.FieldRules {
	opts, ok := fd.Options().(*descriptorpb.FieldOptions)
	if !ok || opts == nil {
		return nil
	}
	rules, _ := proto.GetExtension(opts, validate.E_Field).(*validate.FieldRules)
	if rules.GetIgnore() == validate.Ignore_IGNORE_ALWAYS {
		return nil
	}
	return rules
}
