package launchersvc

import "sync"

// bell wakes whoever listens. The zero value is ready.
type bell struct {
	mu        sync.Mutex
	listeners map[chan<- struct{}]struct{}
}

// listen has ears woken at every ring until stop. ears holds one token.
func (b *bell) listen(ears chan<- struct{}) (stop func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[chan<- struct{}]struct{}{}
	}
	b.listeners[ears] = struct{}{}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, ears)
	}
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ears := range b.listeners {
		wake(ears)
	}
}

// wake leaves a token unless there is one.
func wake(ears chan<- struct{}) {
	select {
	case ears <- struct{}{}:
	default:
	}
}
