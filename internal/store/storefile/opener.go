package storefile

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"github.com/idea-ide/ideai/internal/store"
)

// Folder is the store's folder below a source tree.
const Folder = ".ideai"

// Opener opens the stores of one service, each once, and keeps them open until
// Close. It is a store.Opener.
type Opener struct {
	// Options of the stores, beside Service and Project. Set them before the
	// first use.
	Options Options

	service string
	tree    func(ctx context.Context, project, worktree string) (string, error)

	mu     sync.Mutex
	closed bool
	stores map[string]*Store // by real path
	named  map[string]*Store // by path as it was given
}

var _ store.Opener = (*Opener)(nil)

// NewOpener returns an opener for a service. tree says where a worktree of a
// project is ("" is the main checkout); its faults are passed on.
func NewOpener(service string, tree func(ctx context.Context, project, worktree string) (string, error)) *Opener {
	return &Opener{service: service, tree: tree, stores: map[string]*Store{}, named: map[string]*Store{}}
}

// Versioned implements store.Opener.
func (o *Opener) Versioned(ctx context.Context, project, worktree string) (store.Docs, error) {
	s, err := o.open(ctx, project, worktree)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (o *Opener) open(ctx context.Context, project, worktree string) (*Store, error) {
	tree, err := o.tree(ctx, project, worktree)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, store.ErrClosed
	}
	if s, ok := o.named[tree]; ok && s.standsAt(tree) {
		return s, nil
	}
	s, err := o.find(tree, project)
	if err != nil {
		return nil, err
	}
	o.named[tree] = s
	return s, nil
}

// find returns the store of a tree, open or opened now. The caller holds mu.
func (o *Opener) find(tree, project string) (*Store, error) {
	at, err := filepath.EvalSymlinks(tree)
	if err != nil {
		return nil, unavailable(tree, err)
	}
	if s, ok := o.stores[at]; ok {
		if s.standsAt(at) {
			return s, nil
		}
		_ = s.Close()
		delete(o.stores, at)
	}
	opts := o.Options
	opts.Service, opts.Project = o.service, project
	s, err := Open(at, Folder, opts)
	if err != nil {
		return nil, err
	}
	o.stores[at] = s
	return s, nil
}

// Close closes every store.
func (o *Opener) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	var errs []error
	for _, s := range o.stores {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Runtime implements store.Opener: the store of the main checkout.
func (o *Opener) Runtime(ctx context.Context, project string) (store.Docs, store.Log, error) {
	s, err := o.open(ctx, project, "")
	if err != nil {
		return nil, nil, err
	}
	return s, s, nil
}
