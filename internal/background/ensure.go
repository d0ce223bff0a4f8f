package background

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"google.golang.org/grpc"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/build"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/grpcerr"
)

// Options say which server is wanted and how to start it.
type Options struct {
	Address  string     // from Address
	StateDir string     // for the log
	Exe      string     // absolute path of ideai
	Args     []string   // what makes Exe serve at Address
	Build    build.Info // of the caller
	// Dial connects to Address; it need not wait for the connection.
	Dial func(address string) (*grpc.ClientConn, error)
}

// How long each step may take before it counts as failed.
const (
	askTimeout   = 3 * time.Second
	startTimeout = 20 * time.Second
	drainTimeout = 20 * time.Second
)

// Ensure connects to the server, starting one when there is none and replacing
// one of an earlier build. It does not return before the server answers.
func (o Options) Ensure(ctx context.Context) (*grpc.ClientConn, error) {
	conn, _, ok, err := o.find(ctx)
	if ok || err != nil {
		return conn, err
	}
	closeIf(conn)
	path := socketPath(o.Address)
	if path == "" {
		return nil, fault.New(fault.ServiceUnavailable, fault.Meta{"service": "server"},
			"no ideai server answers at %s; start it there with: ideai serve --address %s", o.Address, o.Address)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, unusable(filepath.Dir(path), err)
	}
	turn := flock.New(path+".start", flock.SetPermissions(0o600))
	if err := take(ctx, turn, startTimeout+drainTimeout); err != nil {
		return nil, err
	}
	defer func() { _ = turn.Unlock() }()

	conn, old, ok, err := o.find(ctx)
	if ok || err != nil {
		return conn, err
	}
	if old != nil {
		if err := o.drain(ctx, conn, old); err != nil {
			return nil, err
		}
	}
	if err := o.waitFree(ctx); err != nil {
		return nil, err
	}
	startCtx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := o.start(startCtx); err != nil {
		return nil, err
	}
	if conn, err = o.Dial(o.Address); err != nil {
		return nil, err
	}
	if _, err := ask(ctx, conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// Find connects to a server that runs already, whatever its build.
func (o Options) Find(ctx context.Context) (*grpc.ClientConn, bool) {
	conn, info, ok, _ := o.find(ctx)
	if !ok && info != nil && !info.GetDraining() {
		return conn, true
	}
	if !ok {
		closeIf(conn)
		return nil, false
	}
	return conn, true
}

func closeIf(conn *grpc.ClientConn) {
	if conn != nil {
		_ = conn.Close()
	}
}

// find asks the server that listens, if there is one. ok means it is to be
// used. Otherwise info is what a server to be replaced said, with its open
// connection; both are nil when none answers. The error is that of a server
// that refuses this caller, which no other server would change.
func (o Options) find(ctx context.Context) (conn *grpc.ClientConn, info *launcherv1.GetServerInfoResponse, ok bool, refused error) {
	if !listening(ctx, o.Address) {
		return nil, nil, false, nil
	}
	conn, err := o.Dial(o.Address)
	if err != nil {
		return nil, nil, false, nil
	}
	info, err = ask(ctx, conn)
	if err != nil {
		_ = conn.Close()
		if f, ok := fault.As(err); ok && (f.Kind() == fault.Unauthenticated || f.Kind() == fault.PermissionDenied) {
			refused = err
		}
		return nil, nil, false, refused
	}
	running := build.Info{ID: info.GetBuildId(), Time: info.GetBuildTime().AsTime()}
	if info.GetDraining() || o.Build.Replaces(running) {
		return conn, info, false, nil
	}
	return conn, info, true, nil
}

func ask(ctx context.Context, conn *grpc.ClientConn) (*launcherv1.GetServerInfoResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	info, err := launcherv1.NewLauncherServiceClient(conn).GetServerInfo(ctx, &launcherv1.GetServerInfoRequest{})
	return info, grpcerr.FromStatus(err, grpcerr.Call{Method: launcherv1.LauncherService_GetServerInfo_FullMethodName})
}

// drain asks an earlier build to end.
func (o Options) drain(ctx context.Context, conn *grpc.ClientConn, old *launcherv1.GetServerInfoResponse) error {
	defer func() { _ = conn.Close() }()
	if old.GetDraining() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	_, err := launcherv1.NewLauncherServiceClient(conn).Drain(ctx, &launcherv1.DrainRequest{
		Why: "replaced by build " + o.Build.ID + " (" + o.Build.Version + ")",
	})
	err = grpcerr.FromStatus(err, grpcerr.Call{Method: launcherv1.LauncherService_Drain_FullMethodName})
	// A server that is gone before its answer arrives has done what was asked.
	if fault.ReasonOf(err) == fault.Draining || fault.ReasonOf(err) == fault.ServiceUnavailable {
		return nil
	}
	return err
}

// waitFree waits until no server holds the address.
func (o Options) waitFree(ctx context.Context) error {
	release, err := Claim(ctx, o.Address, drainTimeout)
	var inUse *InUseError
	if errors.As(err, &inUse) {
		return fault.New(fault.ServiceUnavailable, fault.Meta{"service": "server"},
			"the server at %s does not answer and has not ended; try again in a moment, or see %s", o.Address, o.LogPath())
	}
	if err != nil {
		return err
	}
	release()
	return nil
}
