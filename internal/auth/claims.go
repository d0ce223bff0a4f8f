package auth

import (
	"context"
	"os/user"
	"slices"
	"strings"
	"time"

	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
)

// MainWorktree is the worktree an empty worktree id means.
const MainWorktree = "main"

// Claims is who acts. A value is not changed once it is made.
type Claims struct {
	// Surfaces are the sides the caller acts from. AGENT stands alone.
	Surfaces []optionsv1.Surface
	// Person is who answers for the call; always set.
	Person string
	// Project, when set, is the only project the caller may name.
	Project string
	// Worktree, when set, is the only worktree the caller may name.
	Worktree string
	// Agent and the following name the launch an agent's token belongs to.
	Agent        string
	Instance     string
	Conversation string
	Launch       string
	Generation   int64
	// Expires is when the token ends; zero for the owner of a socket.
	Expires time.Time
}

// Has reports whether the caller acts from a surface.
func (c Claims) Has(s optionsv1.Surface) bool { return slices.Contains(c.Surfaces, s) }

// Agentic reports whether the caller is an agent.
func (c Claims) Agentic() bool { return c.Has(optionsv1.Surface_SURFACE_AGENT) }

// SurfaceNames returns the surfaces as people read them, such as HUMAN,HOST.
func (c Claims) SurfaceNames() string {
	names := make([]string, len(c.Surfaces))
	for i, s := range c.Surfaces {
		names[i] = surfaceName(s)
	}
	return strings.Join(names, ",")
}

func surfaceName(s optionsv1.Surface) string { return strings.TrimPrefix(s.String(), "SURFACE_") }

// Owner returns the claims of the person who owns this server.
func Owner(person string) Claims {
	return Claims{
		Surfaces: []optionsv1.Surface{optionsv1.Surface_SURFACE_HUMAN, optionsv1.Surface_SURFACE_HOST},
		Person:   person,
	}
}

// OSUser returns the name of the user this process runs as, "owner" when the
// system does not tell. On Windows the domain is left out.
func OSUser() string {
	u, err := user.Current()
	if err != nil || u.Username == "" {
		return "owner"
	}
	return u.Username[strings.LastIndex(u.Username, `\`)+1:]
}

type callerKey struct{}

type caller struct {
	claims Claims
	token  string
}

// WithClaims returns a context whose caller is c.
func WithClaims(ctx context.Context, c Claims) context.Context { return withCaller(ctx, c, "") }

func withCaller(ctx context.Context, c Claims, token string) context.Context {
	return context.WithValue(ctx, callerKey{}, caller{c, token})
}

// FromContext returns who calls.
func FromContext(ctx context.Context) (Claims, bool) {
	c, ok := ctx.Value(callerKey{}).(caller)
	return c.claims, ok
}

// TokenFromContext returns the token the caller gave, "" for a caller without.
func TokenFromContext(ctx context.Context) string {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c.token
}
