package rpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/idea-ide/ideai/internal/auth"
)

// authenticate finds out who calls, whether they may call the method, and that
// their messages name nothing beyond what their token names. Raw frames of a
// gateway are checked for scope by the service that reads them.
func authenticate(cfg ServerConfig) link {
	gate := &auth.Gate{Verifier: cfg.Verifier, Person: cfg.Person, Methods: auth.NewMethods(cfg.Files)}
	admit := func(ctx context.Context, fullMethod string) (context.Context, error) {
		ctx, err := gate.Identify(ctx, fullMethod)
		if err != nil {
			return nil, err
		}
		recordOf(ctx).caller, _ = auth.FromContext(ctx)
		_, err = gate.Admit(ctx, fullMethod)
		return ctx, err
	}
	return link{
		name: "auth",
		unary: func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if open(info.FullMethod) {
				return next(ctx, req)
			}
			ctx, err := admit(ctx, info.FullMethod)
			if err != nil {
				return nil, err
			}
			if err := checkScope(ctx, req); err != nil {
				return nil, err
			}
			return next(ctx, req)
		},
		stream: func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if open(info.FullMethod) {
				return next(srv, ss)
			}
			ctx, err := admit(ss.Context(), info.FullMethod)
			if err != nil {
				return err
			}
			return next(srv, &stream{ServerStream: ss, ctx: ctx, onRecv: func(m any) error { return checkScope(ctx, m) }})
		},
	}
}

func checkScope(ctx context.Context, m any) error {
	msg, ok := m.(proto.Message)
	if !ok {
		return nil
	}
	return auth.CheckScope(ctx, msg)
}
