package auth_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
)

type peerInfo bool

func (peerInfo) AuthType() string    { return "test" }
func (p peerInfo) PeerIsOwner() bool { return bool(p) }

func incoming(owner bool, headers ...string) context.Context {
	ctx := peer.NewContext(context.Background(), &peer.Peer{AuthInfo: peerInfo(owner)})
	md := metadata.MD{}
	md.Append("authorization", headers...)
	return metadata.NewIncomingContext(ctx, md)
}

const getNote = "/idea.memory.v1.MemoryService/GetNote"

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
			ctx, err := g.Identify(c.ctx, getNote)
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
	_, err = g.Identify(incoming(true, "Bearer "+token), getNote)
	wantReason(t, err, fault.ReasonUnauthenticated)
}

// A laptop sleeps for longer than a token holds, and a CLI may start its MCP
// server again with the token of the morning: renewal takes it, nothing else.
func TestALapsedTokenOnlyRenews(t *testing.T) {
	const renew = "/idea.launcher.v1.LauncherService/RenewToken"
	synctest.Test(t, func(t *testing.T) {
		k := key(t)
		token, err := k.Issuer().Issue(reviewer(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		g := &auth.Gate{Verifier: k.Verifier(), Methods: auth.NewMethods(nil)}
		<-time.After(13 * time.Hour)
		for range 2 { // parsed, then remembered
			ctx, err := g.Identify(incoming(false, "Bearer "+token), renew)
			if err != nil {
				t.Fatal(err)
			}
			if c, _ := auth.FromContext(ctx); c.Launch != reviewer().Launch {
				t.Errorf("the renewal is for %+v", c)
			}
			_, err = g.Identify(incoming(false, "Bearer "+token), getNote)
			wantReason(t, err, fault.TokenExpired)
		}
		_, err = g.Identify(incoming(false, "Bearer "+token[:len(token)-4]+"AAAA"), renew)
		wantReason(t, err, fault.ReasonUnauthenticated)
	})
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
		<-time.After(29 * time.Second) // the bubble's clock
		if again, err := r.Token(ctx); err != nil || again != first {
			t.Fatal("another token within half a minute", err)
		}
		if other, err := r.OwnerToken("bob"); err != nil || other == first {
			t.Fatal("one person's token for another", err)
		}
		<-time.After(2 * time.Second)
		fresh, err := r.Token(ctx)
		if err != nil || fresh == first {
			t.Fatal("the same token after half a minute", err)
		}
		c, err = v.Verify(fresh)
		if err != nil || time.Until(c.Expires) < 59*time.Second {
			t.Fatal(c.Expires, err)
		}
	})
	ctx, err := g.Identify(incoming(true, "Bearer "+own), getNote)
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
