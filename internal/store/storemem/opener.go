package storemem

import (
	"context"
	"sync"

	"github.com/idea-ide/ideai/internal/store"
)

// Opener returns an opener that makes an empty store for whatever project and
// worktree it is asked for. As with files, the runtime store of a project is
// the versioned one of its main checkout, that is of worktree "".
func Opener() store.Opener {
	return &opener{stores: map[[2]string]*Store{}}
}

type opener struct {
	mu     sync.Mutex
	stores map[[2]string]*Store
}

func (o *opener) open(project, worktree string) *Store {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := [2]string{project, worktree}
	s, ok := o.stores[at]
	if !ok {
		s = New()
		o.stores[at] = s
	}
	return s
}

func (o *opener) Versioned(ctx context.Context, project, worktree string) (store.Docs, error) {
	return o.open(project, worktree), ctx.Err()
}

func (o *opener) Runtime(ctx context.Context, project string) (store.Docs, store.Log, error) {
	s := o.open(project, "")
	return s, s, ctx.Err()
}
