package rpc_test

import (
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/idea-ide/ideai/internal/fault"
)

// Bytes that are no message are the client's fault and no failure of the
// server's.
func TestBytesThatAreNoMessageAreRefused(t *testing.T) {
	notText := wrapperspb.Bytes([]byte{0xff}) // where a Line has a text
	bothWays(t, shout, func(t *testing.T, e *echo, conn *grpc.ClientConn) {
		refused := func(call string, err error) {
			t.Helper()
			if got := fault.ReasonOf(err); got != fault.InvalidField {
				t.Errorf("%s: reason %s of %v", call, got, err)
			}
		}
		refused("unary", conn.Invoke(t.Context(), echoMethod("One"), notText, e.new("")))
		s, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, echoMethod("Both"))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SendMsg(notText); err != nil {
			t.Fatal(err)
		}
		refused("stream", s.RecvMsg(e.new("")))
	})
}
