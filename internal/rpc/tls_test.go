//go:build !windows

package rpc_test

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/rpc"
)

// certificate makes a certificate for 127.0.0.1 and a pool that trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(nil, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, pool
}

// One server takes TLS, its socket and its pipe at once.
func TestTLSBesideSocketAndPipe(t *testing.T) {
	cert, pool := certificate(t)
	key := newKey(t)
	over, path, pipe := listenTLS(t), socket(t), rpc.NewOwnerPipe()
	serveNotes(t, rpc.ServerConfig{
		Verifier: key.Verifier(), Person: "ada",
		TLS: credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}),
	}, &notes{get: whoCalls}, over, listen(t, "unix://"+path), pipe)
	relay := auth.NewRelay(key.Issuer())
	trusting := credentials.NewTLS(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13})
	for name, c := range map[string]struct {
		addr string
		cfg  rpc.ClientConfig
		who  string // or the reason
	}{
		"TLS with a token":     {over.Addr().String(), rpc.ClientConfig{TLS: trusting, Token: func(context.Context) (string, error) { return relay.OwnerToken("bob") }}, "bob"},
		"TLS without":          {over.Addr().String(), rpc.ClientConfig{TLS: trusting}, "UNAUTHENTICATED"},
		"TLS without trust":    {over.Addr().String(), rpc.ClientConfig{TLS: credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS13})}, "SERVICE_UNAVAILABLE"},
		"plain text":           {over.Addr().String(), rpc.ClientConfig{}, "SERVICE_UNAVAILABLE"},
		"the socket":           {"unix://" + path, rpc.ClientConfig{}, "ada"},
		"the socket, with TLS": {"unix://" + path, rpc.ClientConfig{TLS: trusting}, "ada"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := rpc.Dial(c.addr, c.cfg)
			got, err := memoryv1.NewMemoryServiceClient(closing(t, conn, err)).GetNote(t.Context(),
				&memoryv1.GetNoteRequest{ProjectId: "atelier", NoteId: "n"})
			who := got.GetNote().GetNoteId()
			if err != nil {
				who = string(fault.ReasonOf(err))
			}
			if who != c.who {
				t.Fatalf("%s (%v), want %s", who, err, c.who)
			}
		})
	}
	if err := get(t.Context(), memoryv1.NewMemoryServiceClient(dialPipe(t, pipe, rpc.ClientConfig{}))); err != nil {
		t.Error("the pipe:", err)
	}
}

func listenTLS(t *testing.T) net.Listener {
	t.Helper()
	l, err := rpc.ListenTLS(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}
