package rpc

import (
	"context"
	"net"

	"google.golang.org/grpc/credentials"
)

// connInfo is what a server knows of a connection's other end.
type connInfo struct {
	credentials.CommonAuthInfo
	kind  string
	owner bool
}

// AuthType names the kind of connection.
func (c connInfo) AuthType() string { return c.kind }

// PeerIsOwner implements auth.OwnerInfo.
func (c connInfo) PeerIsOwner() bool { return c.owner }

func local(kind string, owner bool) connInfo {
	return connInfo{credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}, kind, owner}
}

// serverCreds tells the listeners of one server apart: pipe and unix socket
// stay inside the machine, TCP speaks TLS when there is a certificate.
type serverCreds struct {
	tls credentials.TransportCredentials
}

func (s *serverCreds) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	switch c := conn.(type) {
	case *pipeConn:
		return conn, local("pipe", c.owner), nil
	case *net.UnixConn:
		return conn, local("unix", peerIsUs(c)), nil
	}
	if s.tls != nil {
		return s.tls.ServerHandshake(conn)
	}
	info := connInfo{kind: "insecure"}
	info.SecurityLevel = credentials.NoSecurity
	return conn, info, nil
}

func (s *serverCreds) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	panic("rpc: credentials of a server")
}

func (s *serverCreds) Info() credentials.ProtocolInfo {
	if s.tls != nil {
		return s.tls.Info()
	}
	return credentials.ProtocolInfo{SecurityProtocol: "local"}
}

func (s *serverCreds) Clone() credentials.TransportCredentials { c := *s; return &c }

func (s *serverCreds) OverrideServerName(string) error { return nil }
