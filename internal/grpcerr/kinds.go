package grpcerr

import (
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/idea-ide/ideai/internal/fault"
)

// kindCodes pairs each kind with its code.
var kindCodes = map[fault.Kind]codes.Code{
	fault.Internal:           codes.Internal,
	fault.InvalidArgument:    codes.InvalidArgument,
	fault.NotFound:           codes.NotFound,
	fault.AlreadyExists:      codes.AlreadyExists,
	fault.FailedPrecondition: codes.FailedPrecondition,
	fault.Aborted:            codes.Aborted,
	fault.OutOfRange:         codes.OutOfRange,
	fault.PermissionDenied:   codes.PermissionDenied,
	fault.Unauthenticated:    codes.Unauthenticated,
	fault.ResourceExhausted:  codes.ResourceExhausted,
	fault.Unavailable:        codes.Unavailable,
	fault.DeadlineExceeded:   codes.DeadlineExceeded,
	fault.Canceled:           codes.Canceled,
	fault.Unimplemented:      codes.Unimplemented,
}

func codeOf(k fault.Kind) codes.Code {
	if c, ok := kindCodes[k]; ok {
		return c
	}
	return codes.Internal
}

// foreign is the fault for a status that is not ours: the transport's own.
func foreign(code codes.Code, call Call) *fault.Error {
	switch code {
	case codes.DeadlineExceeded:
		return deadline()
	case codes.Canceled:
		return canceled()
	case codes.Unavailable:
		return unavailable(call)
	case codes.Unimplemented:
		return unimplemented(call)
	case codes.Unauthenticated:
		return fault.New(fault.ReasonUnauthenticated, nil, "the server refused the connection's credentials; get a new token")
	case codes.ResourceExhausted:
		return fault.New(fault.MessageTooLarge, fault.Meta{"bytes": "", "limit": ""},
			"a message of %s is larger than gRPC takes; ask for less at once", call.Method)
	default:
		return masked(call)
	}
}

func masked(call Call) *fault.Error {
	return fault.New(fault.ReasonInternal, fault.Meta{"request_id": call.RequestID},
		"the server failed; its log tells why under request id %s", call.RequestID)
}

func deadline() *fault.Error {
	return fault.New(fault.ReasonDeadlineExceeded, nil, "the call took longer than its deadline; try again or allow more time")
}

func canceled() *fault.Error {
	return fault.New(fault.ReasonCanceled, nil, "the call was canceled by its caller")
}

func unavailable(call Call) *fault.Error {
	service := serviceOf(call.Method)
	return fault.New(fault.ServiceUnavailable, fault.Meta{"service": service},
		"%s does not answer; check that its server runs, then try again", service)
}

func unimplemented(call Call) *fault.Error {
	return fault.New(fault.UnknownMethod, fault.Meta{"method": call.Method},
		"the server does not have %s; client and server are of different versions: update the older one", call.Method)
}

func serviceOf(method string) string {
	service, _, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	return service
}
