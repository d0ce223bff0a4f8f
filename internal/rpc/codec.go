package rpc

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// frame is one message as it came, never decoded.
type frame struct{ data mem.BufferSlice }

// codec passes frames as bytes and hands all else to the proto codec.
type codec struct{}

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	if f, ok := v.(*frame); ok {
		data := f.data
		f.data = nil // gRPC frees what Marshal returns
		return data, nil
	}
	return encoding.GetCodecV2(proto.Name).Marshal(v)
}

func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	if f, ok := v.(*frame); ok {
		data.Ref() // gRPC frees data when Unmarshal returns
		f.data = data
		return nil
	}
	return markUndecoded(v, encoding.GetCodecV2(proto.Name).Unmarshal(data, v))
}

func (codec) Name() string { return proto.Name }
