package rpc

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc"
)

// Pipe joins clients and servers of one process without a socket. It is a
// net.Listener for the server and dials for the client.
type Pipe struct {
	owner  bool
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewPipe makes a pipe whose clients must give tokens, as between the services
// of one process: a call that forgets its caller fails instead of acting as
// the owner.
func NewPipe() *Pipe { return newPipe(false) }

// NewOwnerPipe makes a pipe whose clients are the owner unless they give a
// token: for a program that uses its own services, and for tests.
func NewOwnerPipe() *Pipe { return newPipe(true) }

func newPipe(owner bool) *Pipe {
	return &Pipe{owner: owner, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// pipeConn is the server's end of a connection.
type pipeConn struct {
	net.Conn
	owner bool
}

// Accept implements net.Listener.
func (p *Pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *Pipe) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *Pipe) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

func (p *Pipe) connect(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- &pipeConn{server, p.owner}:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Dial makes a client connection to the pipe's server. Close it when done.
func (p *Pipe) Dial(cfg ClientConfig) (*grpc.ClientConn, error) {
	return dial("passthrough:///pipe", cfg, func(ctx context.Context, _ string) (net.Conn, error) {
		return p.connect(ctx)
	})
}
