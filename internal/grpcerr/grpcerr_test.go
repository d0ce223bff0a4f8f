package grpcerr_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"pgregory.net/rapid"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/grpcerr"
)

var call = grpcerr.Call{Method: "/idea.memory.v1.MemoryService/GetNote", RequestID: "r-7"}

// wire is what a client on the other side of a connection receives.
func wire(t interface{ Fatal(...any) }, err error) error {
	st, ok := status.FromError(err)
	if !ok {
		t.Fatal("not a status:", err)
	}
	raw, merr := proto.Marshal(st.Proto())
	if merr != nil {
		t.Fatal("the status cannot be sent:", merr)
	}
	p := st.Proto()
	proto.Reset(p)
	if merr := proto.Unmarshal(raw, p); merr != nil {
		t.Fatal(merr)
	}
	return status.ErrorProto(p)
}

func infos(err error) []*errdetails.ErrorInfo {
	var out []*errdetails.ErrorInfo
	for _, d := range status.Convert(err).Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok {
			out = append(out, i)
		}
	}
	return out
}

func detail[T proto.Message](err error) (T, bool) {
	for _, d := range status.Convert(err).Details() {
		if m, ok := d.(T); ok {
			return m, true
		}
	}
	var zero T
	return zero, false
}

func metaFor(t *rapid.T, r fault.Reason) fault.Meta {
	var meta fault.Meta
	for _, k := range r.MetaKeys() {
		if meta == nil {
			meta = fault.Meta{}
		}
		meta[k] = rapid.StringN(1, 20, -1).Draw(t, k)
	}
	return meta
}

func TestRoundTripOfEveryReason(t *testing.T) {
	for _, reason := range fault.Reasons() {
		t.Run(string(reason), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				f := fault.New(reason, metaFor(t, reason), "%s", rapid.String().Draw(t, "msg"))
				if rapid.Bool().Draw(t, "fields") {
					f = f.WithFields(fault.Field{Path: "note.body", Message: "must not be empty"},
						fault.Field{Path: rapid.String().Draw(t, "path"), Message: "no"})
				}
				if rapid.Bool().Draw(t, "detail") {
					f = f.WithDetail(wrapperspb.String(rapid.String().Draw(t, "text")))
				}
				sent := wire(t, grpcerr.ToStatus(fmt.Errorf("outer: %w", f.Wrap(io.ErrUnexpectedEOF)), call))
				got, ok := fault.As(grpcerr.FromStatus(sent, call))
				if !ok {
					t.Fatalf("no fault in %v", sent)
				}
				if diff := cmp.Diff(f, got, protocmp.Transform(), cmpopts.IgnoreUnexported(fault.Error{}),
					cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("changed on the way (-sent +received):\n%s", diff)
				}
				if got.Unwrap() != nil || strings.Contains(status.Convert(sent).Message(), io.ErrUnexpectedEOF.Error()) {
					t.Fatal("the cause reached the client")
				}
				list := infos(sent)
				if len(list) != 1 || list[0].GetDomain() != "ideai" || list[0].GetReason() != string(reason) {
					t.Fatalf("ErrorInfos: %v", list)
				}
				checkExtras(t, f, sent)
			})
		})
	}
}

func checkExtras(t *rapid.T, f *fault.Error, sent error) {
	bad, ok := detail[*errdetails.BadRequest](sent)
	if ok != (len(f.Fields) > 0) || len(bad.GetFieldViolations()) != len(f.Fields) {
		t.Fatalf("BadRequest: %v for fields %v", bad, f.Fields)
	}
	pre, ok := detail[*errdetails.PreconditionFailure](sent)
	if want := f.Kind() == fault.FailedPrecondition; ok != want {
		t.Fatalf("PreconditionFailure: %v, want one: %v", pre, want)
	}
	if ok && pre.GetViolations()[0].GetType() != string(f.Reason) {
		t.Fatalf("PreconditionFailure: %v", pre)
	}
	retry, ok := detail[*errdetails.RetryInfo](sent)
	if f.Kind() == fault.Unavailable && (!ok || retry.GetRetryDelay().AsDuration() <= 0) {
		t.Fatalf("RetryInfo: %v", retry)
	}
	if got := status.Code(sent); got == codes.Unknown || got == codes.OK {
		t.Fatalf("code %v", got)
	}
}

func TestErrorsThatAreNotFaults(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		code   codes.Code
		reason fault.Reason
		masked bool
	}{
		"unknown":           {errors.New("pq: password of bob is wrong"), codes.Internal, fault.ReasonInternal, true},
		"canceled":          {fmt.Errorf("read: %w", context.Canceled), codes.Canceled, fault.ReasonCanceled, false},
		"deadline":          {fmt.Errorf("read: %w", context.DeadlineExceeded), codes.DeadlineExceeded, fault.ReasonDeadlineExceeded, false},
		"a foreign status":  {status.Error(codes.NotFound, "secret table"), codes.Internal, fault.ReasonInternal, true},
		"refused":           {status.Error(codes.Unavailable, "dial tcp"), codes.Unavailable, fault.ServiceUnavailable, false},
		"unimplemented":     {status.Error(codes.Unimplemented, "method GetNote not implemented"), codes.Unimplemented, fault.UnknownMethod, false},
		"canceled upstream": {status.Error(codes.Canceled, "x"), codes.Canceled, fault.ReasonCanceled, false},
		"late upstream":     {status.Error(codes.DeadlineExceeded, "x"), codes.DeadlineExceeded, fault.ReasonDeadlineExceeded, false},
	} {
		t.Run(name, func(t *testing.T) {
			sent := wire(t, grpcerr.ToStatus(c.err, call))
			if status.Code(sent) != c.code || fault.ReasonOf(grpcerr.FromStatus(sent, call)) != c.reason || len(infos(sent)) != 1 {
				t.Fatalf("got %v with %v", sent, infos(sent))
			}
			if grpcerr.Masked(c.err) != c.masked {
				t.Fatalf("Masked = %v", !c.masked)
			}
			if c.masked {
				if strings.Contains(sent.Error(), c.err.Error()) || infos(sent)[0].GetMetadata()["request_id"] != "r-7" {
					t.Fatalf("not masked: %v %v", sent, infos(sent))
				}
			}
		})
	}
}

func TestNil(t *testing.T) {
	if grpcerr.ToStatus(nil, call) != nil || grpcerr.FromStatus(nil, call) != nil || grpcerr.Masked(nil) {
		t.Fatal("nil is not an error")
	}
}

// A backend's status, forwarded or returned by a client without our chain,
// leaves the gateway as it came.
func TestForwardedStatusPassesUnchanged(t *testing.T) {
	first := wire(t, grpcerr.ToStatus(fault.New(fault.NoteNotFound, fault.Meta{"note": "n"}, "no note n"), call))
	again := grpcerr.ToStatus(fmt.Errorf("recall: %w", first), grpcerr.Call{RequestID: "other"})
	if diff := cmp.Diff(status.Convert(first).Proto(), status.Convert(again).Proto(), protocmp.Transform()); diff != "" {
		t.Fatal(diff)
	}
	asFault := grpcerr.ToStatus(grpcerr.FromStatus(first, call), grpcerr.Call{RequestID: "other"})
	if diff := cmp.Diff(status.Convert(first).Proto(), status.Convert(asFault).Proto(), protocmp.Transform()); diff != "" {
		t.Fatal(diff)
	}
}

func TestInternalKeepsTheFirstRequestID(t *testing.T) {
	first := wire(t, grpcerr.ToStatus(errors.New("boom"), grpcerr.Call{RequestID: "backend"}))
	received := grpcerr.FromStatus(first, call)
	if grpcerr.Masked(received) || !grpcerr.Masked(fault.New(fault.ReasonInternal, nil, "a bug")) {
		t.Error("an error is logged twice, or never")
	}
	again := grpcerr.ToStatus(received, grpcerr.Call{RequestID: "gateway"})
	if id := infos(again)[0].GetMetadata()["request_id"]; id != "backend" {
		t.Fatalf("request_id = %q", id)
	}
}

// A reason this build does not know keeps its code and metadata when passed on.
func TestReasonOfANewerServer(t *testing.T) {
	st, err := status.New(codes.OutOfRange, "the tide is out").WithDetails(
		&errdetails.ErrorInfo{Reason: "TIDE_OUT", Domain: "ideai", Metadata: map[string]string{"sea": "north"}})
	if err != nil {
		t.Fatal(err)
	}
	got := grpcerr.FromStatus(st.Err(), call)
	if fault.ReasonOf(got) != "TIDE_OUT" {
		t.Fatal(got)
	}
	again := grpcerr.ToStatus(got, call)
	if diff := cmp.Diff(st.Proto(), status.Convert(again).Proto(), protocmp.Transform()); diff != "" {
		t.Fatal(diff)
	}
}

func TestTransportErrors(t *testing.T) {
	for code, want := range map[codes.Code]fault.Reason{
		codes.Unavailable:       fault.ServiceUnavailable,
		codes.DeadlineExceeded:  fault.ReasonDeadlineExceeded,
		codes.Canceled:          fault.ReasonCanceled,
		codes.Unimplemented:     fault.UnknownMethod,
		codes.ResourceExhausted: fault.MessageTooLarge,
		codes.Unauthenticated:   fault.ReasonUnauthenticated,
		codes.Unknown:           fault.ReasonInternal,
	} {
		cause := status.Error(code, "transport")
		got, _ := fault.As(grpcerr.FromStatus(cause, call))
		if got.Reason != want || !errors.Is(got, cause) {
			t.Errorf("%v becomes %v", code, got)
		}
		for _, k := range want.MetaKeys() {
			if _, ok := got.Meta[k]; !ok {
				t.Errorf("%v lacks %q", want, k)
			}
		}
	}
}

// Proto strings must be UTF-8: file names and damaged texts are not always.
func TestInvalidUTF8(t *testing.T) {
	f := fault.New(fault.Damaged, fault.Meta{"name": "a\xff.md", "line": "1"}, "a\xff.md is damaged").
		WithFields(fault.Field{Path: "\xfe", Message: "\xfd"})
	got := wire(t, grpcerr.ToStatus(f, call))
	if infos(got)[0].GetMetadata()["name"] != "a\uFFFD.md" {
		t.Fatal(infos(got))
	}
}

func TestDetailThatCannotBeSent(t *testing.T) {
	f := fault.New(fault.Damaged, fault.Meta{"name": "a", "line": "1"}, "a is damaged")
	for _, d := range []any{wrapperspb.String("\xff"), (*wrapperspb.StringValue)(nil), "not a message"} {
		got := wire(t, grpcerr.ToStatus(f.WithDetail(d), call))
		if _, ok := detail[*errdetails.PreconditionFailure](got); !ok || len(infos(got)) != 1 || len(status.Convert(got).Details()) != 2 {
			t.Errorf("%v: %v", d, status.Convert(got).Details())
		}
	}
}

// A fault without all its keys still sends each of them.
func TestKeysAreFixed(t *testing.T) {
	got := grpcerr.ToStatus(fault.New(fault.TooLarge, fault.Meta{"name": "n", "stray": "x"}, "too large"), call)
	want := map[string]string{"name": "n", "bytes": "", "limit": ""}
	if diff := cmp.Diff(want, infos(got)[0].GetMetadata()); diff != "" {
		t.Fatal(diff)
	}
}
