package auth_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
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
		time.Sleep(time.Minute) // the bubble's clock
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
		time.Sleep(time.Hour)
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

func TestLoadKeyKeepsTheKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "key.pem")
	first, err := auth.LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := auth.LoadKey(path)
	if err != nil || !first.Public().Equal(again.Public()) {
		t.Fatal("another key", err)
	}
	for p, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		if info, err := os.Stat(p); err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v", p, info.Mode(), err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("files left: %v %v", left, err)
	}
}

func TestLoadKeyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	const n = 16
	keys := make([]ed25519.PublicKey, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			k, err := auth.LoadKey(path)
			if err != nil {
				t.Error(err)
				return
			}
			keys[i] = k.Public()
		})
	}
	wg.Wait()
	for _, k := range keys {
		if !keys[0].Equal(k) {
			t.Fatal("two processes have two keys")
		}
	}
}

func TestLoadKeyRefuses(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.pem")
	if _, err := auth.LoadKey(good); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660} {
		if err := os.Chmod(good, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := auth.LoadKey(good); err == nil || !strings.Contains(err.Error(), "chmod 600 "+good) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	for name, content := range map[string]string{"empty": "", "text": "not a key",
		"half": "-----BEGIN PRIVATE KEY-----\nMC4CAQ==\n-----END PRIVATE KEY-----\n"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := auth.LoadKey(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != content {
			t.Errorf("%s was changed", name)
		}
	}
}

type peerInfo bool

func (peerInfo) AuthType() string    { return "test" }
func (p peerInfo) PeerIsOwner() bool { return bool(p) }

func incoming(owner bool, headers ...string) context.Context {
	ctx := peer.NewContext(context.Background(), &peer.Peer{AuthInfo: peerInfo(owner)})
	md := metadata.MD{}
	md.Append("authorization", headers...)
	return metadata.NewIncomingContext(ctx, md)
}

func TestIdentify(t *testing.T) {
	k := key(t)
	token, err := k.Issuer().Issue(reviewer(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	g := &auth.Gate{Verifier: k.Verifier(), Person: "ada", Methods: auth.NewMethods(nil)}
	for name, c := range map[string]struct {
		ctx  context.Context
		want string // surfaces, or the reason
	}{
		"owner":                         {incoming(true), "HUMAN,HOST"},
		"stranger":                      {incoming(false), "UNAUTHENTICATED"},
		"nobody":                        {context.Background(), "UNAUTHENTICATED"},
		"agent over TCP":                {incoming(false, "Bearer "+token), "AGENT"},
		"scheme in lower case":          {incoming(false, "bearer "+token), "AGENT"},
		"agent over the socket":         {incoming(true, "Bearer "+token), "AGENT"},
		"bad token over the socket":     {incoming(true, "Bearer nonsense"), "UNAUTHENTICATED"},
		"empty header over the socket":  {incoming(true, ""), "UNAUTHENTICATED"},
		"other scheme over the socket":  {incoming(true, "Basic YWRhOmFkYQ=="), "UNAUTHENTICATED"},
		"two headers over the socket":   {incoming(true, "Bearer "+token, "Bearer "+token), "UNAUTHENTICATED"},
		"scheme alone, over the socket": {incoming(true, "Bearer "), "UNAUTHENTICATED"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, err := g.Identify(c.ctx)
			got := string(fault.ReasonOf(err))
			if err == nil {
				claims, _ := auth.FromContext(ctx)
				got = claims.SurfaceNames()
			}
			if got != c.want {
				t.Fatalf("got %s (%v), want %s", got, err, c.want)
			}
		})
	}
	g.Verifier = nil
	_, err = g.Identify(incoming(true, "Bearer "+token))
	wantReason(t, err, fault.ReasonUnauthenticated)
}

func TestAdmit(t *testing.T) {
	g := &auth.Gate{Methods: auth.NewMethods(nil)}
	human := auth.Claims{Surfaces: []optionsv1.Surface{optionsv1.Surface_SURFACE_HUMAN}, Person: "ada"}
	const memory, launcher = "/idea.memory.v1.MemoryService/", "/idea.launcher.v1.LauncherService/"
	for _, c := range []struct {
		who    auth.Claims
		method string
		want   fault.Reason
	}{
		{reviewer(), memory + "RecallNotes", ""},
		{reviewer(), memory + "GetNote", fault.CallerNotAllowed},
		{reviewer(), memory + "SaveNote", fault.CallerNotAllowed},
		{reviewer(), launcher + "RenewToken", ""},
		{reviewer(), launcher + "PrepareLaunch", fault.CallerNotAllowed},
		{human, launcher + "SetTrust", ""},
		{human, launcher + "PrepareLaunch", fault.CallerNotAllowed},
		{auth.Owner("ada"), launcher + "PrepareLaunch", ""},
		{auth.Owner("ada"), launcher + "RenewToken", fault.CallerNotAllowed},
		{auth.Claims{}, memory + "GetNote", fault.CallerNotAllowed},
		{auth.Owner("ada"), memory + "Nothing", fault.UnknownMethod},
		{auth.Owner("ada"), "/idea.none.v1.NoService/Get", fault.UnknownMethod},
		{auth.Owner("ada"), "/idea.memory.v1/Note", fault.UnknownMethod},
		{auth.Owner("ada"), "", fault.UnknownMethod},
		{auth.Owner("ada"), "/../x/y", fault.UnknownMethod},
	} {
		_, err := g.Admit(auth.WithClaims(t.Context(), c.who), c.method)
		if got := fault.ReasonOf(err); got != c.want {
			t.Errorf("%s by %s: %q (%v), want %q", c.method, c.who.SurfaceNames(), got, err, c.want)
		}
	}
}

func TestScope(t *testing.T) {
	main, side := reviewer(), reviewer()
	side.Worktree = "side"
	get := func(project, worktree string) proto.Message {
		return &memoryv1.ReadNoteRequest{ProjectId: project, WorktreeId: worktree, NoteId: "n"}
	}
	for i, c := range []struct {
		who     auth.Claims
		request proto.Message
		claim   string // "" = in scope
	}{
		{main, get("atelier", "main"), ""},
		{main, get("atelier", ""), ""},
		{main, get("atelier", "side"), "worktree"},
		{main, get("other", ""), "project"},
		{main, get("", ""), "project"},
		{side, get("atelier", "side"), ""},
		{side, get("atelier", ""), "worktree"},
		{side, get("atelier", "main"), "worktree"},
		{main, &launcherv1.RenewTokenRequest{}, ""},
		{main, &launcherv1.GetLaunchRequest{ProjectId: "atelier"}, ""},
		{main, &launcherv1.GetLaunchRequest{ProjectId: "other"}, "project"},
		{auth.Owner("ada"), get("other", "side"), ""},
		{auth.Claims{Project: "atelier"}, get("other", "side"), "project"},
		{auth.Claims{Project: "atelier"}, get("atelier", "side"), ""},
		{main, &contextv1.GetRulesRequest{ProjectId: "other"}, "project"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			err := auth.CheckScope(auth.WithClaims(t.Context(), c.who), c.request)
			f, ok := fault.As(err)
			if ok != (c.claim != "") || ok && (f.Reason != fault.OutOfScope || f.Meta["claim"] != c.claim) {
				t.Fatalf("got %v, want out of %q", err, c.claim)
			}
		})
	}
}

func TestRelay(t *testing.T) {
	k := key(t)
	v := k.Verifier()
	g := &auth.Gate{Verifier: v, Person: "ada", Methods: auth.NewMethods(nil)}
	own, err := k.Issuer().Issue(reviewer(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r := auth.NewRelay(k.Issuer())
		if _, err := r.Token(t.Context()); fault.ReasonOf(err) != fault.ReasonUnauthenticated {
			t.Fatal("a token for nobody:", err)
		}
		if _, err := r.Token(auth.WithClaims(t.Context(), reviewer())); fault.ReasonOf(err) != fault.ReasonUnauthenticated {
			t.Fatal("an owner token for an agent:", err)
		}
		ctx := auth.WithClaims(t.Context(), auth.Owner("ada"))
		first, err := r.Token(ctx)
		if err != nil {
			t.Fatal(err)
		}
		c, err := v.Verify(first)
		if err != nil || c.Person != "ada" || c.SurfaceNames() != "HUMAN,HOST" || time.Until(c.Expires) > time.Minute {
			t.Fatal(c, err)
		}
		time.Sleep(29 * time.Second)
		if again, err := r.Token(ctx); err != nil || again != first {
			t.Fatal("another token within half a minute", err)
		}
		if other, err := r.OwnerToken("bob"); err != nil || other == first {
			t.Fatal("one person's token for another", err)
		}
		time.Sleep(2 * time.Second)
		fresh, err := r.Token(ctx)
		if err != nil || fresh == first {
			t.Fatal("the same token after half a minute", err)
		}
		c, err = v.Verify(fresh)
		if err != nil || time.Until(c.Expires) < 59*time.Second {
			t.Fatal(c.Expires, err)
		}
	})
	ctx, err := g.Identify(incoming(true, "Bearer "+own))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := auth.NewRelay(k.Issuer()).Token(ctx); err != nil || got != own {
		t.Fatal("an agent's own token does not go on", err)
	}
}

func TestWithToken(t *testing.T) {
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x-ideai-a", "1")
	if auth.HasToken(ctx) {
		t.Fatal("a token from nowhere")
	}
	ctx = auth.WithToken(auth.WithToken(ctx, "one"), "two")
	md, _ := metadata.FromOutgoingContext(ctx)
	want := metadata.Pairs("authorization", "Bearer two", "x-ideai-a", "1")
	if diff := cmp.Diff(want, md); diff != "" || !auth.HasToken(ctx) {
		t.Fatal(diff)
	}
}

func TestOSUser(t *testing.T) {
	if u := auth.OSUser(); u == "" || strings.Contains(u, `\`) {
		t.Fatalf("%q", u)
	}
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
