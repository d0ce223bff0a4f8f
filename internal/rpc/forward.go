package rpc

import (
	"context"
	"errors"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/telemetry"
)

// ForwardConfig says where a gateway's calls go.
type ForwardConfig struct {
	// Backends has the connection of each forwarded service by its full name,
	// such as idea.memory.v1.MemoryService. Set NoRetry on them: the gateway's
	// own client retries.
	Backends map[string]grpc.ClientConnInterface
	// Relay gives the token that goes on with each call: the caller's own, or
	// a fresh owner token for the owner of the socket.
	Relay *auth.Relay
	// Methods explains the methods; nil means all that are linked in.
	Methods *auth.Methods
}

// Forward returns the handler for ServerConfig.Unknown of a gateway. It passes
// messages as they come, never decoded, for unary calls and all kinds of
// streams: half-close, status with its details, response metadata by the
// allow-list and cancellation go through both ways. The gateway's own chain
// has checked caller and method before; the service behind verifies again.
func Forward(cfg ForwardConfig) grpc.StreamHandler {
	if cfg.Methods == nil {
		cfg.Methods = auth.NewMethods(nil)
	}
	return func(_ any, in grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(in)
		service, _, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
		backend, ok := cfg.Backends[service]
		known, described := cfg.Methods.Explain(method)
		if !ok || !described {
			return noSuchMethod(method)
		}
		ctx, err := forwardContext(in.Context(), cfg.Relay)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		desc := &grpc.StreamDesc{
			ClientStreams: known.Descriptor.IsStreamingClient(),
			ServerStreams: known.Descriptor.IsStreamingServer(),
		}
		out, err := backend.NewStream(ctx, desc, method, grpc.ForceCodecV2(codec{}))
		if err != nil {
			return err
		}
		if !desc.ClientStreams {
			if err := sendOne(in, out); err != nil {
				return err
			}
			return receiveAll(in, out, desc.ServerStreams)
		}
		return both(in, out, desc.ServerStreams, cancel)
	}
}

// forwardContext makes the outgoing context: the allowed metadata, the request
// id and the token.
func forwardContext(ctx context.Context, relay *auth.Relay) (context.Context, error) {
	token, err := relay.Token(ctx)
	if err != nil {
		return nil, err
	}
	in, _ := metadata.FromIncomingContext(ctx)
	md := allowed(in)
	md.Set(requestIDHeader, telemetry.RequestID(ctx))
	ctx = context.WithValue(metadata.NewOutgoingContext(ctx, md), forwardedKey{}, true)
	return auth.WithToken(ctx, token), nil
}

// allowed copies the metadata that crosses the gateway: the trace's, and ours.
func allowed(in metadata.MD) metadata.MD {
	out := metadata.MD{}
	for k, v := range in {
		if k == "traceparent" || k == "tracestate" || strings.HasPrefix(k, "x-ideai-") {
			out[k] = v
		}
	}
	return out
}

// sendOne passes the only message of a call. A service that has answered
// already ends sending with io.EOF; its answer tells the rest.
func sendOne(in grpc.ServerStream, out grpc.ClientStream) error {
	f := new(frame)
	if err := in.RecvMsg(f); err != nil {
		return err
	}
	if err := out.SendMsg(f); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return out.CloseSend()
}

// both passes messages both ways at once. The service's end ends the call; so
// does a client that breaks off, by canceling the service's call.
func both(in grpc.ServerStream, out grpc.ClientStream, streaming bool, cancel context.CancelFunc) error {
	broken := make(chan error, 1)
	go func() {
		err := sendAll(in, out)
		if err != nil {
			broken <- err
			cancel()
		}
	}()
	err := receiveAll(in, out, streaming)
	if err == nil {
		return nil
	}
	select {
	case cause := <-broken:
		return cause
	default:
		return err
	}
}

// sendAll passes the client's messages until it half-closes. It ends too when
// the handler has returned, which ends in's context.
func sendAll(in grpc.ServerStream, out grpc.ClientStream) error {
	for {
		f := new(frame)
		err := in.RecvMsg(f)
		if errors.Is(err, io.EOF) {
			return out.CloseSend()
		}
		if err != nil {
			return err
		}
		if err := out.SendMsg(f); err != nil {
			return nil //nolint:nilerr // receiveAll gets the status
		}
	}
}

// receiveAll passes headers, messages, trailers and the status back.
func receiveAll(in grpc.ServerStream, out grpc.ClientStream, streaming bool) error {
	defer func() { in.SetTrailer(allowed(out.Trailer())) }()
	if !streaming {
		f := new(frame)
		if err := out.RecvMsg(f); err != nil {
			return err
		}
		if err := passHeader(out, in.SetHeader); err != nil {
			return err
		}
		return in.SendMsg(f)
	}
	// A client may wait for the header before the first message.
	if err := passHeader(out, in.SendHeader); err != nil {
		return err
	}
	for {
		f := new(frame)
		err := out.RecvMsg(f)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := in.SendMsg(f); err != nil {
			return err
		}
	}
}

// passHeader passes the header that out has. None at all is an answer of
// trailers only, which gRPC may try again; RecvMsg tells why a call failed.
func passHeader(out grpc.ClientStream, pass func(metadata.MD) error) error {
	header, err := out.Header()
	if err != nil || len(header) == 0 {
		return nil //nolint:nilerr // RecvMsg returns it
	}
	return pass(allowed(header))
}
