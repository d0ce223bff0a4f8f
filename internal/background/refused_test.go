package background_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/background"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/rpc"
)

// A server that wants a token is said to want one, not to be absent.
func TestEnsureTellsThatATokenIsMissing(t *testing.T) {
	key, err := auth.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	lis, err := rpc.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := rpc.NewServer(rpc.ServerConfig{Verifier: key.Verifier()})
	launcherv1.RegisterLauncherServiceServer(server, launcherv1.UnimplementedLauncherServiceServer{})
	done := make(chan error, 1)
	go func() { done <- server.Serve(lis) }()
	defer func() { server.Stop(); <-done }()
	o := background.Options{Address: lis.Addr().String(), Dial: func(address string) (*grpc.ClientConn, error) {
		return rpc.Dial(address, rpc.ClientConfig{})
	}}
	_, err = o.Ensure(t.Context())
	if fault.ReasonOf(err) != fault.ReasonUnauthenticated || !strings.Contains(err.Error(), "token") {
		t.Errorf("err = %v, want UNAUTHENTICATED that asks for a token", err)
	}
}
