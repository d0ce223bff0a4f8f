package rpc

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/grpcerr"
	"github.com/idea-ide/ideai/internal/telemetry"
)

type forwardedKey struct{}

// forwarded marks a call whose errors must stay the statuses they are.
func forwarded(ctx context.Context) bool { return ctx.Value(forwardedKey{}) != nil }

// clientChain is, outer to inner: errors back to faults, request id, token,
// deadline, size.
func clientChain(cfg ClientConfig) ([]grpc.UnaryClientInterceptor, []grpc.StreamClientInterceptor) {
	unary := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		ctx, err := outgoing(ctx, cfg)
		if err != nil {
			return err
		}
		if err := checkSize(req, cfg.MaxMessage); err != nil {
			return err
		}
		ctx, cancel := withDeadline(ctx, cfg.Deadline)
		defer cancel()
		return toFault(ctx, method, invoke(ctx, method, req, reply, cc, opts...))
	}
	stream := func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		ctx, err := outgoing(ctx, cfg)
		if err != nil {
			return nil, err
		}
		s, err := open(ctx, desc, cc, method, opts...)
		if err != nil {
			return nil, toFault(ctx, method, err)
		}
		if forwarded(ctx) {
			return s, nil
		}
		return &clientStream{s, method, cfg.MaxMessage}, nil
	}
	return []grpc.UnaryClientInterceptor{unary}, []grpc.StreamClientInterceptor{stream}
}

// outgoing adds the request id and the token to a call.
func outgoing(ctx context.Context, cfg ClientConfig) (context.Context, error) {
	if id := telemetry.RequestID(ctx); id != "" {
		md, _ := metadata.FromOutgoingContext(ctx)
		if len(md.Get(requestIDHeader)) == 0 {
			ctx = metadata.AppendToOutgoingContext(ctx, requestIDHeader, id)
		}
	}
	if cfg.Token == nil || auth.HasToken(ctx) {
		return ctx, nil
	}
	token, err := cfg.Token(ctx)
	if err != nil {
		return nil, err
	}
	if token == "" {
		return ctx, nil
	}
	return auth.WithToken(ctx, token), nil
}

func toFault(ctx context.Context, method string, err error) error {
	if err == nil || errors.Is(err, io.EOF) || forwarded(ctx) {
		return err
	}
	return grpcerr.FromStatus(err, grpcerr.Call{Method: method, RequestID: telemetry.RequestID(ctx)})
}

// clientStream maps the errors of a stream.
type clientStream struct {
	grpc.ClientStream
	method     string
	maxMessage int
}

func (s *clientStream) Header() (metadata.MD, error) {
	md, err := s.ClientStream.Header()
	return md, toFault(s.Context(), s.method, err)
}

func (s *clientStream) SendMsg(m any) error {
	if err := checkSize(m, s.maxMessage); err != nil {
		return err
	}
	return toFault(s.Context(), s.method, s.ClientStream.SendMsg(m))
}

func (s *clientStream) RecvMsg(m any) error {
	return toFault(s.Context(), s.method, s.ClientStream.RecvMsg(m))
}

func (s *clientStream) CloseSend() error {
	return toFault(s.Context(), s.method, s.ClientStream.CloseSend())
}

// unknownMethod answers for methods that no service of the server has.
func unknownMethod(_ any, ss grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(ss)
	return noSuchMethod(method)
}

func noSuchMethod(method string) error {
	return fault.New(fault.UnknownMethod, fault.Meta{"method": method},
		"the server does not have %s; client and server are of different versions: update the older one", method)
}
