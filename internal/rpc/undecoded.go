package rpc

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/idea-ide/ideai/internal/fault"
)

// undecodedField is the unknown field, of the highest number there is, that
// tells why a request could not be decoded.
const undecodedField = protowire.MaxValidNumber

// markUndecoded leaves a request that could not be decoded empty but for why,
// so that it passes to the validation, which refuses it. gRPC would answer an
// internal error before any interceptor, whoever sent the bytes.
func markUndecoded(v any, err error) error {
	m, ok := v.(proto.Message)
	if err == nil || !ok {
		return err
	}
	proto.Reset(m)
	m.ProtoReflect().SetUnknown(protowire.AppendString(protowire.AppendTag(nil, undecodedField, protowire.BytesType), err.Error()))
	return nil
}

// undecoded returns the refusal of a request that was marked.
func undecoded(m proto.Message) error {
	rest := []byte(m.ProtoReflect().GetUnknown())
	number, kind, n := protowire.ConsumeTag(rest)
	if n < 0 || number != undecodedField || kind != protowire.BytesType {
		return nil
	}
	why, _ := protowire.ConsumeString(rest[n:])
	return fault.New(fault.InvalidField, nil,
		"the bytes of the request are not a message of its method; send what the method's .proto says").Wrap(errors.New(why))
}
