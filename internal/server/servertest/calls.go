package servertest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Calls remembers which methods answered. It is safe for concurrent use.
type Calls struct {
	mu       sync.Mutex
	answered map[string]bool
}

func (c *Calls) note(method string, err error) {
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered == nil {
		c.answered = map[string]bool{}
	}
	c.answered[method] = true
}

// Missing returns the methods of ideai's services that never answered a call.
func (c *Calls) Missing() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, m := range Methods() {
		if !c.answered[m] {
			out = append(out, m)
		}
	}
	return out
}

// Methods returns the full names of all methods of ideai's services.
func Methods() []string {
	var out []string
	protoregistry.GlobalFiles.RangeFiles(func(fd protoreflect.FileDescriptor) bool {
		if !strings.HasPrefix(string(fd.Package()), "idea.") {
			return true
		}
		for i := range fd.Services().Len() {
			sd := fd.Services().Get(i)
			for j := range sd.Methods().Len() {
				out = append(out, "/"+string(sd.FullName())+"/"+string(sd.Methods().Get(j).Name()))
			}
		}
		return true
	})
	slices.Sort(out)
	return out
}

// hear makes a connection that tells of its calls.
func (c *Calls) hear(conn grpc.ClientConnInterface) grpc.ClientConnInterface {
	return &heard{conn, c}
}

type heard struct {
	grpc.ClientConnInterface
	calls *Calls
}

func (h *heard) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	err := h.ClientConnInterface.Invoke(ctx, method, args, reply, opts...)
	h.calls.note(method, err)
	return err
}

func (h *heard) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := h.ClientConnInterface.NewStream(ctx, desc, method, opts...)
	if err != nil {
		return nil, err
	}
	return &heardStream{s, h.calls, method}, nil
}

type heardStream struct {
	grpc.ClientStream
	calls  *Calls
	method string
}

func (s *heardStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	s.calls.note(s.method, err)
	return err
}
