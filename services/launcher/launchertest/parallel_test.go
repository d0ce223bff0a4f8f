package launchertest_test

import (
	"fmt"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/grpcerr"
	"github.com/idea-ide/ideai/services/launcher/launchertest"
)

func TestParallelLaunchesAreDistinct(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	const n = 64
	plans := make([]*launcherv1.LaunchPlan, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			resp, err := r.Owner.PrepareLaunch(t.Context(), launchertest.Request(id, fmt.Sprintf("l%d", i), root))
			if err != nil {
				t.Error(err)
				return
			}
			plans[i] = resp.GetPlan()
		})
	}
	group.Wait()
	seen := map[string]bool{}
	for _, p := range plans {
		for _, key := range []string{p.GetIdentity().GetInstanceId(), p.GetIdentity().GetConversationId(), p.GetSideDirectory(), launchertest.Env(p, "IDEAI_TOKEN")} {
			if key == "" || seen[key] {
				t.Errorf("%q is given twice", key)
			}
			seen[key] = true
		}
	}
	for i := range n {
		if want := fmt.Sprintf("dev-%d", i+1); i > 0 && !seen[want] {
			t.Errorf("nobody is %s", want)
		}
	}
}

func TestParallelSameRequestIsOneLaunch(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	const n = 32
	plans := make([]*launcherv1.LaunchPlan, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			resp, err := r.Owner.PrepareLaunch(t.Context(), launchertest.Request(id, "l1", root))
			if err != nil {
				t.Error(err)
				return
			}
			plans[i] = resp.GetPlan()
		})
	}
	group.Wait()
	for _, p := range plans[1:] {
		if !proto.Equal(p, plans[0]) {
			t.Fatalf("got %v and %v", p.GetIdentity(), plans[0].GetIdentity())
		}
	}
	if got := list(t, r, id); len(got) != 1 {
		t.Errorf("%d records", len(got))
	}
}

// Any mix of requests over few launch ids: the first that succeeds for an id
// decides, its repetition gets the same plan, every other one is refused.
func TestLaunchIDsAreIdempotent(t *testing.T) {
	r := launchertest.NewRig(t)
	id, root := shop(t, r, true)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		type answer struct {
			req  *launcherv1.PrepareLaunchRequest
			plan *launcherv1.LaunchPlan
			over bool
		}
		known := map[string]*answer{}
		draw := func() *launcherv1.PrepareLaunchRequest {
			req := launchertest.Request(id, fmt.Sprintf("r%d-%d", round, rapid.IntRange(0, 2).Draw(rt, "id")), root)
			req.ProfileId = rapid.SampledFrom([]string{"claude", "codex", "none"}).Draw(rt, "profile")
			req.Task = rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "task")
			req.Kind = rapid.SampledFrom([]typev1.LaunchKind{0, typev1.LaunchKind_LAUNCH_KIND_HEADLESS}).Draw(rt, "kind")
			return req
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			req := draw()
			before := known[req.GetLaunchId()]
			if before != nil && rapid.Bool().Draw(rt, "end") {
				report(t, r, exits(id, req.GetLaunchId()))
				before.over = true
			}
			resp, err := r.Owner.PrepareLaunch(t.Context(), req)
			reason := fault.ReasonOf(grpcerr.FromStatus(err, grpcerr.Call{}))
			switch {
			case before == nil && req.GetProfileId() == "none":
				if reason != fault.ProfileNotFound {
					rt.Fatalf("got %v", err)
				}
			case before == nil:
				if err != nil {
					rt.Fatal(err)
				}
				known[req.GetLaunchId()] = &answer{req: req, plan: resp.GetPlan()}
			case before.over || !proto.Equal(before.req, req):
				if reason != fault.IDReused {
					rt.Fatalf("got %v", err)
				}
			case !proto.Equal(before.plan, resp.GetPlan()):
				rt.Fatalf("got %v, want %v", resp.GetPlan(), before.plan)
			}
		}
		for launch := range known {
			report(t, r, exits(id, launch))
		}
	})
}
