package rpc

import (
	"context"
	"strings"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
)

// link is one interceptor of the chain, for unary calls and streams alike.
type link struct {
	name   string
	unary  grpc.UnaryServerInterceptor
	stream grpc.StreamServerInterceptor
}

// chain is the one list of interceptors, outer to inner. Errors sits inside
// log and metrics, so that both see what the client sees; recovery inside
// errors, so that panics are counted and masked like any unknown error; auth
// before limits and validation, so that strangers cost little.
func chain(cfg ServerConfig) []link {
	return []link{
		requestID(),
		accessLog(cfg.Log),
		metrics(cfg.Meter),
		mapErrors(cfg.Log),
		recoverPanics(cfg.Meter),
		authenticate(cfg),
		limits(cfg),
		validate(protovalidate.GlobalValidator),
	}
}

// open methods need no credentials: probes and tools must work before anyone
// can log in, and neither tells anything about a project.
func open(fullMethod string) bool {
	return strings.HasPrefix(fullMethod, "/grpc.health.v1.Health/") ||
		strings.HasPrefix(fullMethod, "/grpc.reflection.")
}

// stream wraps a server stream with another context and with checks of the
// messages that pass. A nil check lets everything pass.
type stream struct {
	grpc.ServerStream
	ctx    context.Context
	onRecv func(m any) error
	onSend func(m any) error
}

func (s *stream) Context() context.Context { return s.ctx }

func (s *stream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	if s.onRecv == nil {
		return nil
	}
	return s.onRecv(m)
}

func (s *stream) SendMsg(m any) error {
	if s.onSend != nil {
		if err := s.onSend(m); err != nil {
			return err
		}
	}
	return s.ServerStream.SendMsg(m)
}
