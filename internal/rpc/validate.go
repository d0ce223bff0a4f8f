package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
)

// maxViolations bounds how many fields an error names.
const maxViolations = 16

// validate checks every request, and what an agent gets back: an answer that
// breaks its bounds is the server's fault and never reaches an agent.
func validate(validator protovalidate.Validator) link {
	return link{
		name: "validation",
		unary: func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := checkRequest(validator, req); err != nil {
				return nil, err
			}
			resp, err := next(ctx, req)
			if !agentic(ctx) {
				return resp, err
			}
			if err != nil {
				return nil, forAgent(err)
			}
			return resp, checkResponse(validator, resp)
		},
		stream: func(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			ctx := ss.Context()
			s := &stream{ServerStream: ss, ctx: ctx, onRecv: func(m any) error { return checkRequest(validator, m) }}
			if !agentic(ctx) {
				return next(srv, s)
			}
			s.onSend = func(m any) error { return checkResponse(validator, m) }
			if err := next(srv, s); err != nil {
				return forAgent(err)
			}
			return nil
		},
	}
}

func agentic(ctx context.Context) bool {
	c, _ := auth.FromContext(ctx)
	return c.Agentic()
}

func checkRequest(validator protovalidate.Validator, m any) error {
	msg, ok := m.(proto.Message)
	if !ok {
		return nil
	}
	if err := undecoded(msg); err != nil {
		return err
	}
	err := validator.Validate(msg)
	var bad *protovalidate.ValidationError
	if !errors.As(err, &bad) {
		return err // nil, or rules that cannot be evaluated: the server's fault
	}
	var fields []fault.Field
	var texts []string
	for i, v := range bad.Violations {
		if i == maxViolations {
			texts = append(texts, "and more")
			break
		}
		path, text := protovalidate.FieldPathString(v.Proto.GetField()), v.Proto.GetMessage()
		if text == "" {
			text = "breaks the rule " + v.Proto.GetRuleId()
		}
		fields = append(fields, fault.Field{Path: path, Message: text})
		texts = append(texts, strings.TrimSpace(path+" "+text))
	}
	return fault.New(fault.InvalidField, nil, "%s; correct the request", strings.Join(texts, "; ")).WithFields(fields...)
}

func checkResponse(validator protovalidate.Validator, m any) error {
	msg, ok := m.(proto.Message)
	if !ok {
		return nil
	}
	if err := validator.Validate(msg); err != nil {
		return fmt.Errorf("the answer to an agent breaks its bounds: %w", err)
	}
	return nil
}

// forAgent takes from an error a detail that is not meant for agents.
func forAgent(err error) error {
	f, ok := fault.As(err)
	if !ok || f.Detail == nil {
		return err
	}
	if m, ok := f.Detail.(proto.Message); ok && auth.ForAgents(m.ProtoReflect().Descriptor()) {
		return err
	}
	return f.WithDetail(nil)
}
