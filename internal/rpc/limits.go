package rpc

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
)

// limits bounds time and size, and refuses calls while the server drains.
// Streams have no deadline of their own: they end with their caller, or when
// the drain begins. A gateway's unary calls are streams to gRPC only; they get
// the deadline and may finish.
func limits(cfg ServerConfig) link {
	methods := auth.NewMethods(cfg.Files)
	unary := func(fullMethod string) bool {
		m, ok := methods.Explain(fullMethod)
		return ok && !m.Descriptor.IsStreamingClient() && !m.Descriptor.IsStreamingServer()
	}
	check := func(m any) error { return checkSize(m, cfg.MaxMessage) }
	return link{
		name: "limits",
		unary: func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := cfg.Drain.refuse(info.FullMethod); err != nil {
				return nil, err
			}
			if err := check(req); err != nil {
				return nil, err
			}
			ctx, cancel := withDeadline(ctx, cfg.Deadline)
			defer cancel()
			resp, err := next(ctx, req)
			if err != nil {
				return nil, err
			}
			return resp, check(resp)
		},
		stream: func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := cfg.Drain.refuse(info.FullMethod); err != nil {
				return err
			}
			if unary(info.FullMethod) {
				ctx, cancel := withDeadline(ss.Context(), cfg.Deadline)
				defer cancel()
				return next(srv, &stream{ServerStream: ss, ctx: ctx, onRecv: check, onSend: check})
			}
			ctx, stop := cfg.Drain.context(ss.Context())
			defer stop()
			err := next(srv, &stream{ServerStream: ss, ctx: ctx, onRecv: check, onSend: check})
			if cause := cfg.Drain.cause(ctx); err != nil && cause != nil {
				return cause
			}
			return err
		},
	}
}

func withDeadline(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, after)
}

func checkSize(m any, limit int) error {
	var size int
	switch m := m.(type) {
	case *frame:
		size = m.data.Len()
	case proto.Message:
		size = proto.Size(m)
	}
	if size <= limit {
		return nil
	}
	return tooLarge(size, limit)
}

func tooLarge(size, limit int) error {
	return fault.New(fault.MessageTooLarge, fault.Meta{"bytes": strconv.Itoa(size), "limit": strconv.Itoa(limit)},
		"a message has %d bytes, the limit is %d; send or ask for less at once", size, limit)
}
