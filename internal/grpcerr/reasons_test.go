package grpcerr_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

const prefix = "REASON_"

func TestReasonsEqualTheProtoEnum(t *testing.T) {
	for n, name := range typev1.Reason_name {
		if n == 0 {
			continue
		}
		if !slices.Contains(fault.Reasons(), fault.Reason(strings.TrimPrefix(name, prefix))) {
			t.Errorf("fault has no %s", name)
		}
	}
	for _, r := range fault.Reasons() {
		if _, ok := typev1.Reason_value[prefix+string(r)]; !ok {
			t.Errorf("the proto has no %s%s", prefix, r)
		}
	}
}

func TestOnlyInternalIsInternal(t *testing.T) {
	for _, r := range fault.Reasons() {
		if (r.Kind() == fault.Internal) != (r == fault.ReasonInternal) {
			t.Errorf("%s is of kind %d", r, r.Kind())
		}
	}
}

var enumValue = regexp.MustCompile(`(?m)((?:^ *//.*\n)+)^ *REASON_([A-Z_]+) = [1-9][0-9]*;`)
var bracketed = regexp.MustCompile(`\[([a-z_, ]*)\]\s*$`)

// The published comment of each reason names the metadata keys it comes with.
func TestMetaKeysEqualTheProtoComments(t *testing.T) {
	src, err := os.ReadFile("../../proto/idea/type/v1/reason.proto")
	if err != nil {
		t.Fatal(err)
	}
	found := enumValue.FindAllStringSubmatch(string(src), -1)
	if len(found) != len(fault.Reasons()) {
		t.Fatalf("%d commented values in the proto, %d reasons", len(found), len(fault.Reasons()))
	}
	for _, m := range found {
		reason := fault.Reason(m[2])
		keys := bracketed.FindStringSubmatch(m[1])
		if keys == nil {
			t.Errorf("the comment of %s does not end with its [keys]", reason)
			continue
		}
		want := strings.FieldsFunc(keys[1], func(r rune) bool { return r == ',' || r == ' ' })
		if !slices.Equal(want, reason.MetaKeys()) {
			t.Errorf("%s: the proto says %q, fault says %q", reason, want, reason.MetaKeys())
		}
	}
}
