package storefile

import "sync"

// keyLocks is one lock a key. The zero value is ready.
type keyLocks struct {
	mu   sync.Mutex
	held map[string]*keyLock
}

type keyLock struct {
	sync.Mutex
	users int
}

// lock waits for the key and returns what gives it back.
func (k *keyLocks) lock(key string) (unlock func()) {
	k.mu.Lock()
	l, ok := k.held[key]
	if !ok {
		l = &keyLock{}
		if k.held == nil {
			k.held = map[string]*keyLock{}
		}
		k.held[key] = l
	}
	l.users++
	k.mu.Unlock()
	l.Lock()
	return func() {
		l.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(k.held, key)
		}
	}
}
