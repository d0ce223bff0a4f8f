package launchersvc

import (
	"slices"

	"google.golang.org/protobuf/proto"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
)

// A host that starts the CLI for every turn says what the session was told
// last, so that nothing is told twice.

// unchanged reports whether the session has this context already.
func (b *planner) unchanged() bool {
	digest := b.req.GetIfContextDigest()
	return digest != "" && digest == b.context.GetDigest()
}

// stableUnchanged reports whether the volatile sections alone are sent: only
// where they come beside what the session keeps, and do not replace it.
func (b *planner) stableUnchanged() bool {
	digest := b.req.GetIfStableDigest()
	return digest != "" && digest == b.context.GetStableDigest() && !b.unchanged() && b.carrier.KeptInSession
}

// toSend is what the injection has to carry.
func (b *planner) toSend() *contextv1.EffectiveContext {
	if !b.stableUnchanged() {
		return b.context
	}
	out := proto.CloneOf(b.context)
	out.Sections = slices.DeleteFunc(out.Sections, func(s *contextv1.Section) bool { return s.GetReport().GetStable() })
	return out
}
