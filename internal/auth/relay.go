package auth

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"

	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

const (
	ownerTTL   = 60 * time.Second
	ownerReuse = 30 * time.Second
)

// Relay gives the tokens a gateway sends on to its services: the caller's own,
// or a short-lived owner token for a caller that is the owner without one. It
// is safe for concurrent use.
type Relay struct {
	issuer *Issuer

	mu     sync.Mutex
	minted map[string]minted // by person
}

type minted struct {
	token string
	until time.Time
}

// NewRelay mints owner tokens with issuer.
func NewRelay(issuer *Issuer) *Relay { return &Relay{issuer: issuer, minted: map[string]minted{}} }

// Token returns the token to send on for the caller of ctx. It fails with
// UNAUTHENTICATED when nobody calls, so that work without a caller never gets
// an owner's rights by accident; such work uses OwnerToken and says so.
func (r *Relay) Token(ctx context.Context) (string, error) {
	if t := TokenFromContext(ctx); t != "" {
		return t, nil
	}
	c, ok := FromContext(ctx)
	if !ok {
		return "", fault.New(fault.ReasonUnauthenticated, nil, "no caller to act for; call with a token or over the socket")
	}
	if !c.Has(optionsv1.Surface_SURFACE_HUMAN) || !c.Has(optionsv1.Surface_SURFACE_HOST) || c.Project != "" {
		return "", fault.New(fault.ReasonUnauthenticated, nil, "only the owner may call on without a token of its own")
	}
	return r.OwnerToken(c.Person)
}

// OwnerToken returns a token of a person as HUMAN and HOST. It is good for 30
// to 60 seconds: one token serves the calls of half a minute.
func (r *Relay) OwnerToken(person string) (string, error) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.minted[person]; now.Before(m.until) {
		return m.token, nil
	}
	token, err := r.issuer.Issue(Owner(person), ownerTTL)
	if err != nil {
		return "", err
	}
	clear(r.minted)
	r.minted[person] = minted{token, now.Add(ownerReuse)}
	return token, nil
}

// WithToken returns a context whose outgoing calls carry token, instead of any
// they carry so far.
func WithToken(ctx context.Context, token string) context.Context {
	md, ok := metadata.FromOutgoingContext(ctx)
	if !ok {
		return metadata.NewOutgoingContext(ctx, metadata.Pairs(header, Bearer(token)))
	}
	md.Set(header, Bearer(token)) // FromOutgoingContext returned a copy
	return metadata.NewOutgoingContext(ctx, md)
}

// HasToken reports whether outgoing calls of ctx carry a token already.
func HasToken(ctx context.Context) bool {
	md, _ := metadata.FromOutgoingContext(ctx)
	return len(md.Get(header)) > 0
}
