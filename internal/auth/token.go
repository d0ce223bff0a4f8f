package auth

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

const issuerName = "ideai"

// maxToken bounds what is parsed before a signature is checked.
const maxToken = 4096

// wireClaims is the token's payload.
type wireClaims struct {
	jwt.RegisteredClaims
	Surfaces     []string `json:"sfc"`
	Project      string   `json:"prj,omitempty"`
	Worktree     string   `json:"wkt,omitempty"`
	Agent        string   `json:"agt,omitempty"`
	Instance     string   `json:"ins,omitempty"`
	Conversation string   `json:"cnv,omitempty"`
	Launch       string   `json:"lch,omitempty"`
	Generation   int64    `json:"gen,omitempty"`
}

// Issuer signs tokens. It is safe for concurrent use.
type Issuer struct {
	key ed25519.PrivateKey
	kid string
}

// Issue signs a token for c that ends after ttl; c.Expires is ignored. It
// refuses claims that no server would accept: without a person or a surface, of
// an agent that is also something else, or of an agent without its project,
// worktree and name.
func (i *Issuer) Issue(c Claims, ttl time.Duration) (string, error) {
	if err := check(c); err != nil {
		return "", err
	}
	if ttl <= 0 {
		return "", errors.New("auth: a token needs a positive lifetime")
	}
	now := time.Now()
	w := wireClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: issuerName, Subject: c.Person,
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
		},
		Project: c.Project, Worktree: c.Worktree, Agent: c.Agent, Instance: c.Instance,
		Conversation: c.Conversation, Launch: c.Launch, Generation: c.Generation,
	}
	for _, s := range c.Surfaces {
		w.Surfaces = append(w.Surfaces, surfaceName(s))
	}
	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, w)
	t.Header["kid"] = i.kid
	token, err := t.SignedString(i.key)
	if err != nil {
		return "", fmt.Errorf("auth: sign: %w", err)
	}
	if len(token) > maxToken {
		return "", fmt.Errorf("auth: the token has %d bytes, more than the %d a server takes", len(token), maxToken)
	}
	return token, nil
}

// check tells what is wrong with claims.
func check(c Claims) error {
	switch {
	case c.Person == "":
		return errors.New("auth: claims without a person")
	case len(c.Surfaces) == 0:
		return errors.New("auth: claims without a surface")
	case c.Agentic() && len(c.Surfaces) > 1:
		return errors.New("auth: an agent has no other surface")
	case c.Agentic() && (c.Project == "" || c.Worktree == "" || c.Agent == ""):
		return errors.New("auth: an agent's claims name its project, worktree and agent")
	}
	return nil
}

// Verifier checks tokens signed by one key. It is safe for concurrent use.
type Verifier struct {
	public ed25519.PublicKey
	parser *jwt.Parser
	kid    string
	seen   cache
}

// NewVerifier checks tokens signed by public's private half.
func NewVerifier(public ed25519.PublicKey) *Verifier {
	return &Verifier{
		public: public,
		kid:    keyID(public),
		parser: jwt.NewParser(
			jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}),
			jwt.WithIssuer(issuerName),
			jwt.WithExpirationRequired(),
			jwt.WithStrictDecoding(), // a token has one spelling only
		),
	}
}

// Verify returns what a token says. It fails with TOKEN_EXPIRED for a good
// token whose time is over, and then still returns what it says; with
// UNAUTHENTICATED and no claims for any other that does not hold, the cause
// tells which.
func (v *Verifier) Verify(token string) (Claims, error) {
	if c, ok := v.seen.get(token); ok {
		if !time.Now().Before(c.Expires) {
			return c, expired()
		}
		return c, nil
	}
	if len(token) > maxToken {
		return Claims{}, refused(fmt.Errorf("%d bytes", len(token)))
	}
	var w wireClaims
	_, err := v.parser.ParseWithClaims(token, &w, func(t *jwt.Token) (any, error) {
		if t.Header["kid"] != v.kid {
			return nil, errors.New("signed by another key")
		}
		return v.public, nil
	})
	lapsed := onlyExpired(err)
	if err != nil && !lapsed {
		return Claims{}, refused(err)
	}
	c, err := w.claims()
	if err != nil {
		return Claims{}, refused(err)
	}
	v.seen.put(token, c)
	if lapsed {
		return c, expired()
	}
	return c, nil
}

// onlyExpired reports whether a parse failed for the token's time alone: the
// signature is checked before the time, and the library joins what else fails.
func onlyExpired(err error) bool {
	if !errors.Is(err, jwt.ErrTokenExpired) {
		return false
	}
	for _, other := range []error{
		jwt.ErrTokenMalformed, jwt.ErrTokenUnverifiable, jwt.ErrTokenSignatureInvalid, jwt.ErrTokenInvalidIssuer,
		jwt.ErrTokenNotValidYet, jwt.ErrTokenUsedBeforeIssued, jwt.ErrTokenRequiredClaimMissing, jwt.ErrTokenInvalidAudience,
		jwt.ErrTokenInvalidSubject, jwt.ErrTokenInvalidId,
	} {
		if errors.Is(err, other) {
			return false
		}
	}
	return true
}

func (w *wireClaims) claims() (Claims, error) {
	c := Claims{
		Person: w.Subject, Project: w.Project, Worktree: w.Worktree, Agent: w.Agent,
		Instance: w.Instance, Conversation: w.Conversation, Launch: w.Launch,
		Generation: w.Generation, Expires: w.ExpiresAt.Time,
	}
	for _, name := range w.Surfaces {
		s, ok := optionsv1.Surface_value["SURFACE_"+name]
		if !ok || s == 0 {
			return Claims{}, fmt.Errorf("unknown surface %q", name)
		}
		c.Surfaces = append(c.Surfaces, optionsv1.Surface(s))
	}
	return c, check(c)
}

func expired() error {
	return fault.New(fault.TokenExpired, nil, "the token has expired; get a new one and call again")
}

func refused(cause error) error {
	return fault.New(fault.ReasonUnauthenticated, nil,
		"the token does not hold for this server; get a new one from the server you call").Wrap(cause)
}

func keyID(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}
