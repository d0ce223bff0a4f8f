package tokens

import "sync"

// recent keeps numbers in two generations: what was asked for since the last
// turnover, and what was before. What nobody asks for is gone after two.
type recent[K comparable] struct {
	most int // of both generations

	mu          sync.Mutex
	young, aged map[K]int
}

func (r *recent[K]) get(key K) (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := r.young[key]
	if ok {
		return n, true
	}
	if n, ok = r.aged[key]; ok {
		r.add(key, n)
	}
	return n, ok
}

func (r *recent[K]) put(key K, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(key, n)
}

func (r *recent[K]) add(key K, n int) {
	if len(r.young) >= r.most/2 || r.young == nil {
		r.young, r.aged = map[K]int{}, r.young
	}
	r.young[key] = n
}
