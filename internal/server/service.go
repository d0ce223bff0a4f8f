package server

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/idea-ide/ideai/internal/rpc"
)

// runFunc does a service's background work until ctx ends.
type runFunc func(ctx context.Context) error

// service is one service behind its pipe.
type service struct {
	name  string // full gRPC name
	pipe  *rpc.Pipe
	grpc  *grpc.Server
	run   runFunc
	conn  *grpc.ClientConn // of the gateway
	tasks *tasks
}

// begin starts the service. What ends before it is asked to is sent to failed.
func (s *service) begin(failed chan<- error) {
	s.tasks = newTasks(failed)
	s.tasks.run(s.name, func(context.Context) error { return s.grpc.Serve(s.pipe) })
	s.tasks.run(s.name, s.run)
}

// end stops the service and waits for it.
func (s *service) end(timeout time.Duration) {
	stopGracefully(s.grpc, timeout)
	s.tasks.end()
}

// tasks are goroutines that run until they are ended together.
type tasks struct {
	ctx    context.Context
	cancel context.CancelFunc
	group  errgroup.Group
	failed chan<- error
}

func newTasks(failed chan<- error) *tasks {
	ctx, cancel := context.WithCancel(context.Background())
	return &tasks{ctx: ctx, cancel: cancel, failed: failed}
}

// run starts one. If it returns before end is called, that is a failure.
func (t *tasks) run(name string, fn func(ctx context.Context) error) {
	t.group.Go(func() error {
		err := fn(t.ctx)
		if t.ctx.Err() == nil && err != nil {
			t.failed <- fmt.Errorf("%s failed: %w", name, err)
		}
		return nil
	})
}

// end cancels the tasks and waits until they returned.
func (t *tasks) end() {
	t.cancel()
	_ = t.group.Wait()
}
