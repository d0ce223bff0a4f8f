// Package lifecycle runs the parts of a process and stops them in order.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"time"
)

// DefaultStopTimeout is how long running calls may take once a process stops.
const DefaultStopTimeout = 5 * time.Second

// runGrace is how long a unit's Run may take to notice that its context ended.
const runGrace = 5 * time.Second

// Server takes calls; *grpc.Server is one.
type Server interface {
	Serve(l net.Listener) error
	GracefulStop()
	Stop()
}

// Unit is one part of a process: a server, background work, or both.
type Unit struct {
	Name string
	// Server serves on each of Listeners; nil for none.
	Server    Server
	Listeners []net.Listener
	// Run works until its context ends; nil for none. An error ends the
	// process; returning nil early means that there is nothing more to do.
	Run func(ctx context.Context) error
}

// Plan is what to run and how to end it. Functions left nil are skipped.
type Plan struct {
	Log *slog.Logger
	// Units are started in order, so that each finds those it calls already
	// there; the gateway comes last. They are stopped in reverse.
	Units []Unit
	// Ready is called once every unit was started.
	Ready func()
	// Until ends the process with a reason, such as idle; the context and a
	// failing unit end it too.
	Until <-chan string

	NotServing func()                          // tells health checks, refuses new calls
	EndStreams func()                          // ends watches, which GracefulStop would wait for
	Close      []func() error                  // stores and locks, closed in reverse
	Flush      func(ctx context.Context) error // the last of telemetry

	// StopTimeout bounds step 3 below; 0 = DefaultStopTimeout.
	StopTimeout time.Duration
}

// Run runs the units until ctx ends, Until says so (both nil), or a unit fails.
// However it ends, it stops in this order:
//
//  1. health says NOT_SERVING and new calls are refused;
//  2. watches and other streams end;
//  3. the units end in reverse order, each one's server before its work:
//     running calls finish, and are cut off once StopTimeout is over for all;
//  4. stores close, which frees their locks;
//  5. telemetry is flushed.
//
// Each step is taken even when one before it fails; the errors are joined.
func Run(ctx context.Context, p Plan) error {
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	if p.StopTimeout == 0 {
		p.StopTimeout = DefaultStopTimeout
	}
	failed := make(chan error, 1)
	var running []*unit
	for _, u := range p.Units {
		running = append(running, start(ctx, u, failed))
	}
	call(p.Ready)

	why, err := wait(ctx, p.Until, failed)
	p.Log.InfoContext(ctx, "stopping", "why", why)

	call(p.NotServing)
	call(p.EndStreams)
	cut := newCutoff(p.StopTimeout)
	for i := len(running) - 1; i >= 0; i-- {
		err = errors.Join(err, running[i].stop(cut))
	}
	cut.end()
	for i := len(p.Close) - 1; i >= 0; i-- {
		err = errors.Join(err, p.Close[i]())
	}
	if p.Flush != nil {
		err = errors.Join(err, p.Flush(context.WithoutCancel(ctx)))
	}
	return err
}

func call(f func()) {
	if f != nil {
		f()
	}
}

func wait(ctx context.Context, until <-chan string, failed <-chan error) (why string, err error) {
	select {
	case <-ctx.Done():
		return "asked to stop", nil
	case why := <-until:
		return why, nil
	case err := <-failed:
		return "a part failed", err
	}
}

// unit is a Unit that runs.
type unit struct {
	Unit
	cancel context.CancelFunc
	served sync.WaitGroup
	ran    chan struct{}
}

// start starts a unit. Its context has ctx's values but ends at stop only, so
// that calls in flight keep what they call.
func start(ctx context.Context, u Unit, failed chan<- error) *unit {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &unit{Unit: u, cancel: cancel, ran: make(chan struct{})}
	fail := func(err error) {
		if err == nil || ctx.Err() != nil {
			return
		}
		select {
		case failed <- fmt.Errorf("%s: %w", u.Name, err):
		default: // the first failure tells why
		}
	}
	for _, l := range u.Listeners {
		r.served.Go(func() { fail(u.Server.Serve(l)) })
	}
	go func() {
		defer close(r.ran)
		if u.Run != nil {
			fail(u.Run(ctx))
		}
	}()
	return r
}

// stop ends a unit's server, then its work.
func (u *unit) stop(cut *cutoff) error {
	if u.Server != nil && !cut.graceful(u.Server, &u.served) {
		u.cancel()
		return fmt.Errorf("%s: a call did not end within %v of being cut; it is left behind", u.Name, runGrace)
	}
	u.cancel()
	if !within(runGrace, u.ran) {
		return fmt.Errorf("%s: did not end within %v; it is left behind", u.Name, runGrace)
	}
	return nil
}

func within(d time.Duration, done <-chan struct{}) bool {
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-done:
		return true
	case <-late.C:
		return false
	}
}

// cutoff is the time by which all calls have to be over.
type cutoff struct {
	ctx context.Context
	end context.CancelFunc
}

func newCutoff(after time.Duration) *cutoff {
	ctx, end := context.WithTimeout(context.Background(), after)
	return &cutoff{ctx, end}
}

// graceful lets a server's calls finish until the cutoff, then ends them. It
// returns false when one does not end even so: gRPC itself would wait for its
// handler for ever.
func (c *cutoff) graceful(s Server, served *sync.WaitGroup) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.GracefulStop()
		served.Wait()
	}()
	select {
	case <-done:
		return true
	case <-c.ctx.Done():
	}
	go s.Stop()
	return within(runGrace, done)
}

// Notify returns a context that ends at the first of the signals. A second one
// has the system's own effect, so that a process that hangs can be ended.
func Notify(ctx context.Context, signals ...os.Signal) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
