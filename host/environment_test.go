package host

import (
	"slices"
	"testing"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
)

// A variable that is a list keeps the person's own items.
func TestAListKeepsThePersonsOwnItems(t *testing.T) {
	plan := &launcherv1.LaunchPlan{Env: []*typev1.EnvVar{
		{Name: "LIST", Value: "/ours", ListSeparator: ","}, {Name: "PLAIN", Value: "ours"}, {Name: "NEW", Value: "/ours", ListSeparator: ","},
	}}
	got := environment([]string{"LIST=/first", "PLAIN=theirs", "LIST=/a,/b", "NEW="}, plan)
	if want := []string{"LIST=/a,/b,/ours", "PLAIN=ours", "NEW=/ours"}; !slices.Equal(got, want) {
		t.Errorf("environment %q, want %q", got, want)
	}
}
