package auth

import "sync"

// cacheSize bounds the verified tokens kept. A server sees one per launch and
// one per gateway user.
const cacheSize = 1024

// cache remembers tokens whose signature was checked, which costs more than the
// rest of a call. When full it starts anew.
type cache struct {
	mu     sync.RWMutex
	claims map[string]Claims
}

func (c *cache) get(token string) (Claims, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	claims, ok := c.claims[token]
	return claims, ok
}

func (c *cache) put(token string, claims Claims) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.claims == nil || len(c.claims) >= cacheSize {
		c.claims = make(map[string]Claims)
	}
	c.claims[token] = claims
}
