package rpc

import (
	"context"
	"errors"
	"slices"

	"github.com/idea-ide/ideai/internal/fault"
)

// Drain is the beginning of a server's end. Once it begins, streams end and
// new calls are refused as DRAINING, so that GracefulStop has little to wait
// for. Health, reflection and the exempt methods still answer.
type Drain struct {
	exempt []string
	begun  context.Context
	begin  context.CancelFunc
}

// NewDrain makes a drain that has not begun. exempt are full methods that
// answer all the same, such as the one that tells that the server drains.
func NewDrain(exempt ...string) *Drain {
	begun, begin := context.WithCancel(context.Background())
	return &Drain{exempt: exempt, begun: begun, begin: begin}
}

// Begin begins the drain. Further calls do nothing.
func (d *Drain) Begin() { d.begin() }

// Begun is closed when the drain begins.
func (d *Drain) Begun() <-chan struct{} { return d.begun.Done() }

var errDraining = fault.New(fault.Draining, nil, "the server is going down; call again in a moment")

func (d *Drain) refuse(fullMethod string) error {
	if d.begun.Err() == nil || open(fullMethod) || slices.Contains(d.exempt, fullMethod) {
		return nil
	}
	return errDraining
}

// context returns a stream's context, which ends when the drain begins.
func (d *Drain) context(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(d.begun, func() { cancel(errDraining) })
	return ctx, func() { stop(); cancel(nil) }
}

// cause returns DRAINING when that is why ctx ended, else nil.
func (d *Drain) cause(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), fault.Of(fault.Draining)) {
		return errDraining
	}
	return nil
}
