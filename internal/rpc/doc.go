// Package rpc makes the gRPC servers and clients of ideai: one chain of
// interceptors for every call, the listeners and dialers (in-memory pipe, unix
// socket, TCP) and the forwarding of whole services by a gateway.
//
// The server's chain, outer to inner: request id, access log, metrics, errors,
// recovery, auth, limits, validation. It is the same for unary calls and
// streams, and for every listener.
package rpc
