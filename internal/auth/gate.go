package auth

import (
	"context"
	"strings"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idea-ide/ideai/internal/fault"
)

// header is where a token travels.
const header = "authorization"

const scheme = "Bearer "

// OwnerInfo is implemented by the connection's AuthInfo when its peer may be
// the owner.
type OwnerInfo interface {
	// PeerIsOwner reports whether the peer is the user who owns the server.
	PeerIsOwner() bool
}

// Gate decides who calls and whether they may. It is safe for concurrent use.
type Gate struct {
	// Verifier checks tokens; without one every token is refused.
	Verifier *Verifier
	// Person names the owner, for callers that are.
	Person string
	// Methods explains the called methods.
	Methods *Methods
}

// Identify returns a context that names the caller of a method: by its token if
// it gives one, else as the owner if the connection proves it, else
// UNAUTHENTICATED. A lapsed token counts for methods that take one.
func (g *Gate) Identify(ctx context.Context, fullMethod string) (context.Context, error) {
	token, given, err := incomingToken(ctx)
	if err != nil {
		return nil, err
	}
	if given {
		if g.Verifier == nil {
			return nil, fault.New(fault.ReasonUnauthenticated, nil, "this server takes no tokens; call without one over its socket")
		}
		c, err := g.Verifier.Verify(token)
		if fault.ReasonOf(err) == fault.TokenExpired {
			if m, ok := g.Methods.Explain(fullMethod); ok && m.TakesLapsed {
				err = nil
			}
		}
		if err != nil {
			return nil, err
		}
		return withCaller(ctx, c, token), nil
	}
	if p, ok := peer.FromContext(ctx); ok {
		if info, ok := p.AuthInfo.(OwnerInfo); ok && info.PeerIsOwner() {
			return withCaller(ctx, Owner(g.Person), ""), nil
		}
	}
	return nil, fault.New(fault.ReasonUnauthenticated, nil,
		"the call has no token; send one as \"authorization: Bearer TOKEN\" (IDEAI_TOKEN for ideai's own commands)")
}

// incomingToken tells an absent header, which may mean the owner, from one that
// cannot be read, which never does.
func incomingToken(ctx context.Context) (token string, given bool, err error) {
	values := metadata.ValueFromIncomingContext(ctx, header)
	if len(values) == 0 {
		return "", false, nil
	}
	v := values[0]
	if len(values) > 1 || len(v) <= len(scheme) || !strings.EqualFold(v[:len(scheme)], scheme) {
		return "", true, fault.New(fault.ReasonUnauthenticated, nil, "the authorization header must be one \"Bearer TOKEN\"")
	}
	return v[len(scheme):], true, nil
}

// Admit checks that the caller of ctx may call a method.
func (g *Gate) Admit(ctx context.Context, fullMethod string) (Method, error) {
	m, ok := g.Methods.Explain(fullMethod)
	if !ok {
		return Method{}, fault.New(fault.UnknownMethod, fault.Meta{"method": fullMethod},
			"the server does not have %s; client and server are of different versions: update the older one", fullMethod)
	}
	c, _ := FromContext(ctx)
	if !m.Allows(c) {
		return Method{}, fault.New(fault.CallerNotAllowed,
			fault.Meta{"method": fullMethod, "surface": c.SurfaceNames()},
			"%s is for %s, the caller is %s; call it with credentials of that side", fullMethod, m.CallerNames(), c.SurfaceNames())
	}
	return m, nil
}

// Bearer returns the value of the authorization header for a token.
func Bearer(token string) string { return scheme + token }

// CheckScope checks that a request names nothing but what the caller's token
// names: its project_id and worktree_id, where it has them, must be the
// token's. An empty worktree_id is the main one.
func CheckScope(ctx context.Context, request proto.Message) error {
	c, _ := FromContext(ctx)
	if c.Project == "" && c.Worktree == "" {
		return nil
	}
	m := request.ProtoReflect()
	if c.Project != "" {
		if got, ok := stringField(m, "project_id"); ok && got != c.Project {
			return outOfScope("project", got, c.Project)
		}
	}
	if c.Worktree != "" {
		got, ok := stringField(m, "worktree_id")
		if ok && worktree(got) != worktree(c.Worktree) {
			return outOfScope("worktree", worktree(got), c.Worktree)
		}
	}
	return nil
}

func worktree(id string) string {
	if id == "" {
		return MainWorktree
	}
	return id
}

func stringField(m protoreflect.Message, name protoreflect.Name) (string, bool) {
	fd := m.Descriptor().Fields().ByName(name)
	if fd == nil || fd.Kind() != protoreflect.StringKind || fd.Cardinality() == protoreflect.Repeated {
		return "", false
	}
	return m.Get(fd).String(), true
}

func outOfScope(claim, got, want string) error {
	return fault.New(fault.OutOfScope, fault.Meta{"claim": claim},
		"the token is for %s %q, the request names %q; name %q", claim, want, got, want)
}
