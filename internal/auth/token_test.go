package auth_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
)

var agent = []optionsv1.Surface{optionsv1.Surface_SURFACE_AGENT}

func key(t testing.TB) *auth.Key {
	t.Helper()
	k, err := auth.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func wantReason(t *testing.T, err error, want fault.Reason) {
	t.Helper()
	if got := fault.ReasonOf(err); got != want {
		t.Fatalf("got %q (%v), want %q", got, err, want)
	}
}

func reviewer() auth.Claims {
	return auth.Claims{Surfaces: agent, Person: "ada", Project: "atelier", Worktree: "main", Agent: "reviewer",
		Instance: "reviewer-2", Conversation: "c1", Launch: "l1", Generation: 3}
}

func TestTokenRoundTrip(t *testing.T) {
	k := key(t)
	issuer, verifier := k.Issuer(), k.Verifier()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 40, 100)
		want := auth.Claims{
			Surfaces: rapid.SampledFrom([][]optionsv1.Surface{agent, auth.Owner("x").Surfaces}).Draw(t, "surfaces"),
			Person:   text.Draw(t, "person"), Project: text.Draw(t, "project"), Worktree: text.Draw(t, "worktree"),
			Agent: text.Draw(t, "agent"), Instance: text.Draw(t, "instance"), Conversation: text.Draw(t, "conversation"),
			Launch: text.Draw(t, "launch"), Generation: rapid.Int64().Draw(t, "generation"),
		}
		token, err := issuer.Issue(want, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // checked, then remembered
			got, err := verifier.Verify(token)
			if err != nil {
				t.Fatal(err)
			}
			if left := time.Until(got.Expires); left < 59*time.Minute || left > time.Hour {
				t.Fatalf("expires in %v", left)
			}
			got.Expires = time.Time{}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func TestExpiry(t *testing.T) {
	k := key(t)
	synctest.Test(t, func(t *testing.T) {
		token, err := k.Issuer().Issue(reviewer(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		warm, cold := k.Verifier(), k.Verifier()
		if _, err := warm.Verify(token); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute) // the bubble's clock
		for _, v := range []*auth.Verifier{warm, cold} {
			_, err = v.Verify(token)
			wantReason(t, err, fault.TokenExpired)
		}
	})
}

func TestTokensThatDoNotHold(t *testing.T) {
	k, other := key(t), key(t)
	good, err := k.Issuer().Issue(reviewer(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := other.Issuer().Issue(reviewer(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(good, ".")
	unsigned, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims{"sub": "ada", "iss": "ideai",
		"exp": time.Now().Add(time.Hour).Unix(), "sfc": []string{"HUMAN"}}).SignedString(jwt.UnsafeAllowNoneSignatureType)
	if err != nil {
		t.Fatal(err)
	}
	hmac, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "ada", "iss": "ideai",
		"exp": time.Now().Add(time.Hour).Unix(), "sfc": []string{"HUMAN"}}).SignedString([]byte(k.Public()))
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{
		"empty":             "",
		"text":              "hello",
		"another key":       foreign,
		"no signature":      parts[0] + "." + parts[1] + ".",
		"changed payload":   parts[0] + "." + parts[1][:len(parts[1])-2] + "AA." + parts[2],
		"algorithm none":    unsigned,
		"hmac with our key": hmac,
		"huge":              strings.Repeat("a", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := k.Verifier().Verify(token)
			wantReason(t, err, fault.ReasonUnauthenticated)
		})
	}
}

// An expired token of another key is no token at all.
func TestExpiredTokenOfAnotherKey(t *testing.T) {
	k, other := key(t), key(t)
	synctest.Test(t, func(t *testing.T) {
		token, err := other.Issuer().Issue(reviewer(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		_, err = k.Verifier().Verify(token)
		wantReason(t, err, fault.ReasonUnauthenticated)
	})
}

func TestIssuerRefuses(t *testing.T) {
	for name, change := range map[string]func(*auth.Claims){
		"no person":              func(c *auth.Claims) { c.Person = "" },
		"no surface":             func(c *auth.Claims) { c.Surfaces = nil },
		"agent that is a person": func(c *auth.Claims) { c.Surfaces = append(c.Surfaces[:1:1], optionsv1.Surface_SURFACE_HUMAN) },
		"agent of no project":    func(c *auth.Claims) { c.Project = "" },
		"agent of no worktree":   func(c *auth.Claims) { c.Worktree = "" },
		"agent without a name":   func(c *auth.Claims) { c.Agent = "" },
		"too long to be taken":   func(c *auth.Claims) { c.Conversation = strings.Repeat("x", 4096) },
	} {
		t.Run(name, func(t *testing.T) {
			c := reviewer()
			change(&c)
			if token, err := key(t).Issuer().Issue(c, time.Hour); err == nil {
				t.Fatalf("issued %q", token)
			}
		})
	}
	if _, err := key(t).Issuer().Issue(reviewer(), 0); err == nil {
		t.Fatal("issued a token without a lifetime")
	}
}

// A token has one spelling: the last letter carries bits that decoding drops.
func TestTokenHasOneSpelling(t *testing.T) {
	k := key(t)
	good, err := k.Issuer().Issue(reviewer(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	head, last := good[:len(good)-1], good[len(good)-1]
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=") {
		if _, err := k.Verifier().Verify(head + string(c)); c != last && fault.ReasonOf(err) != fault.ReasonUnauthenticated {
			t.Errorf("%c for %c: %v", c, last, err)
		}
	}
}

func FuzzVerify(f *testing.F) {
	k, err := auth.NewKey()
	if err != nil {
		f.Fatal(err)
	}
	good, err := k.Issuer().Issue(auth.Owner("ada"), time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	v := k.Verifier()
	f.Add("a.b.c")
	f.Add(good[:len(good)-1])
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := v.Verify(token); err == nil && token != good {
			t.Fatalf("%q holds", token)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	k := key(b)
	token, err := k.Issuer().Issue(reviewer(), time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			if _, err := k.Verifier().Verify(token); err != nil {
				b.Fatal(err)
			}
		}
	})
	v := k.Verifier()
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			if _, err := v.Verify(token); err != nil {
				b.Fatal(err)
			}
		}
	})
}
