// Package grpcerr turns faults into gRPC statuses and back.
//
// Every error that leaves a server carries exactly one google.rpc.ErrorInfo of
// the domain "ideai", whose reason and metadata keys are published in
// idea.type.v1.Reason. Whatever is not a fault is masked: the client learns the
// request id, the log has the cause. The interceptors of package rpc call this
// package; services and their adapters just return faults.
package grpcerr

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idea-ide/ideai/internal/fault"
)

// Domain is the ErrorInfo domain of every error of ideai.
const Domain = "ideai"

// retryDelay is what RetryInfo asks for.
const retryDelay = 200 * time.Millisecond

// Call is what an error's text may speak of besides itself.
type Call struct {
	Method    string // full method, such as /idea.memory.v1.MemoryService/GetNote
	RequestID string
}

// ToStatus returns the gRPC status error for err, nil for nil. A status that
// already carries our ErrorInfo passes unchanged, so an error forwarded from
// another service is not wrapped twice. The first fault in err's chain decides;
// without one, context errors keep their meaning and all else becomes INTERNAL
// with a fixed text and the request id.
func ToStatus(err error, call Call) error {
	if err == nil {
		return nil
	}
	f, ok := fault.As(err)
	if !ok || !known(f.Reason) {
		if st, ok := statusOf(err); ok && infoOf(st) != nil {
			return st.Err()
		}
	}
	if !ok {
		f = faultFor(err, call)
	}
	return encode(f, call).Err()
}

// Masked reports whether ToStatus hides err's text from the client, so that
// the caller must log it. An error that another server has masked is in its log.
func Masked(err error) bool {
	if err == nil {
		return false
	}
	if f, ok := fault.As(err); ok {
		elsewhere := f.Unwrap() == nil && f.Meta["request_id"] != ""
		return f.Reason == fault.ReasonInternal && !elsewhere
	}
	if st, ok := statusOf(err); ok && infoOf(st) != nil {
		return false
	}
	return faultFor(err, Call{}).Reason == fault.ReasonInternal
}

// faultFor gives a fault to an error that has none.
func faultFor(err error, call Call) *fault.Error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return deadline()
	case errors.Is(err, context.Canceled):
		return canceled()
	}
	st, ok := statusOf(err)
	if !ok {
		return masked(call)
	}
	switch st.Code() {
	case codes.DeadlineExceeded:
		return deadline()
	case codes.Canceled:
		return canceled()
	case codes.Unavailable:
		return unavailable(call)
	case codes.Unimplemented:
		return unimplemented(call)
	default:
		return masked(call)
	}
}

func encode(f *fault.Error, call Call) *status.Status {
	meta := make(map[string]string, len(f.Reason.MetaKeys()))
	for _, k := range f.Reason.MetaKeys() {
		meta[k] = clean(f.Meta[k])
	}
	if f.Reason == fault.ReasonInternal && meta["request_id"] == "" {
		meta["request_id"] = clean(call.RequestID)
	}
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{
		Reason: string(f.Reason), Domain: Domain, Metadata: meta,
	}}
	details = append(details, extras(f)...)
	st, _ := status.New(codeOf(f.Kind()), clean(f.Msg)).WithDetails(details...) // clean texts always marshal
	if m, ok := f.Detail.(proto.Message); ok && m.ProtoReflect().IsValid() {
		// A message that cannot be marshalled, such as a file that is not UTF-8, stays behind.
		if with, err := st.WithDetails(protoadapt.MessageV1Of(m)); err == nil {
			return with
		}
	}
	return st
}

// extras are the standard details that a kind or reason asks for.
func extras(f *fault.Error) []protoadapt.MessageV1 {
	var out []protoadapt.MessageV1
	if len(f.Fields) > 0 {
		bad := &errdetails.BadRequest{}
		for _, v := range f.Fields {
			bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{
				Field: clean(v.Path), Description: clean(v.Message),
			})
		}
		out = append(out, bad)
	}
	if f.Kind() == fault.FailedPrecondition {
		violation := &errdetails.PreconditionFailure_Violation{Type: string(f.Reason), Description: clean(f.Msg)}
		if keys := f.Reason.MetaKeys(); len(keys) > 0 {
			violation.Subject = clean(f.Meta[keys[0]])
		}
		out = append(out, &errdetails.PreconditionFailure{
			Violations: []*errdetails.PreconditionFailure_Violation{violation},
		})
	}
	if f.Kind() == fault.Unavailable || f.Reason == fault.WatchLagged {
		out = append(out, &errdetails.RetryInfo{RetryDelay: durationpb.New(retryDelay)})
	}
	return out
}

// FromStatus returns the fault a call's error stands for, nil for nil. An error
// without our ErrorInfo comes from the transport; it becomes the reason nearest
// to its code, with itself as the cause.
func FromStatus(err error, call Call) error {
	if err == nil {
		return nil
	}
	if _, ok := fault.As(err); ok {
		return err
	}
	st, ok := statusOf(err)
	if !ok {
		st = status.FromContextError(err)
	}
	info := infoOf(st)
	if info == nil {
		return foreign(st.Code(), call).Wrap(err)
	}
	f := &fault.Error{Reason: fault.Reason(info.GetReason()), Msg: st.Message(), Meta: info.GetMetadata()}
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo, *errdetails.PreconditionFailure, *errdetails.RetryInfo:
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				f.Fields = append(f.Fields, fault.Field{Path: v.GetField(), Message: v.GetDescription()})
			}
		case proto.Message:
			f.Detail = d
		}
	}
	if !known(f.Reason) {
		// A newer server: keep its status, so that passing the error on loses nothing.
		return f.Wrap(err)
	}
	return f
}

func statusOf(err error) (*status.Status, bool) {
	var s interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &s) {
		return nil, false
	}
	return s.GRPCStatus(), true
}

func infoOf(st *status.Status) *errdetails.ErrorInfo {
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == Domain {
			return info
		}
	}
	return nil
}

func known(r fault.Reason) bool { return r == fault.ReasonInternal || r.Kind() != fault.Internal }

// clean keeps a text marshallable: proto strings are UTF-8.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
