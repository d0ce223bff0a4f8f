package server_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/rpc"
	"github.com/idea-ide/ideai/internal/server/servertest"
	"github.com/idea-ide/ideai/services/launcher/launchertest"
)

// BenchmarkPrepareLaunch prepares launches with every service in one process
// and a project of 1,000 notes, each launch with a task of its own. The client
// is in the process too.
func BenchmarkPrepareLaunch(b *testing.B) {
	s := servertest.Start(b)
	root := s.Project("shop", benchFiles(1000))
	conn, err := s.Dial(rpc.ClientConfig{})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	client := launcherv1.NewLauncherServiceClient(conn)
	if _, err := client.SetTrust(b.Context(), &launcherv1.SetTrustRequest{ProjectId: "shop", Trusted: true}); err != nil {
		b.Fatal(err)
	}
	launch := func(i int) *launcherv1.LaunchPlan {
		req := launchertest.Request("shop", fmt.Sprintf("l%d", i), root)
		req.AgentId = "reviewer"
		req.Task = fmt.Sprintf("review how %s and %s work together in module %d", words[i%len(words)], words[(i/7)%len(words)], i)
		resp, err := client.PrepareLaunch(b.Context(), req)
		if err != nil {
			b.Fatal(err)
		}
		return resp.GetPlan()
	}
	if plan := launch(0); len(plan.GetWarnings()) > 0 || plan.GetContextTokens() < 1000 {
		b.Fatalf("%d tokens, warnings %v", plan.GetContextTokens(), plan.GetWarnings())
	}
	var took []time.Duration
	for i := 1; b.Loop(); i++ {
		began := time.Now()
		plan := launch(i)
		took = append(took, time.Since(began))
		if _, err := client.ReportLaunch(b.Context(), &launcherv1.ReportLaunchRequest{
			ProjectId: "shop", LaunchId: plan.GetLaunchId(),
			Event: &launcherv1.ReportLaunchRequest_Exited{Exited: &launcherv1.LaunchExited{}},
		}); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	at := func(p float64) float64 { return float64(took[int(p*float64(len(took)-1))].Microseconds()) / 1000 }
	b.ReportMetric(at(0.50), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
}

var words = []string{"payment", "rounding", "cart", "invoice", "migration", "cache", "session", "login", "deploy", "index",
	"search", "retry", "queue", "worker", "schema", "upload", "thumbnail", "webhook", "currency", "discount"}

// benchFiles is a project with rules, three personas, a skill and n notes of
// some 200 words.
func benchFiles(n int) map[string]string {
	files := map[string]string{
		".ideai/CONTEXT.md":             "# Rules\n\n" + benchText(1, 300),
		".ideai/skills/deploy/SKILL.md": "---\nname: deploy\ndescription: Deploys the shop.\n---\nRun the script.\n",
	}
	for i, agent := range []string{"reviewer", "tester", "writer"} {
		files[".ideai/agents/"+agent+".md"] = "---\ndescription: The " + agent + ".\nrecall: [payment, cart]\n---\n" + benchText(i, 150)
	}
	for i := range n {
		files[fmt.Sprintf(".ideai/memory/note-%d.md", i)] = fmt.Sprintf("---\nname: note-%d\ndescription: How %s meets %s in module %d.\nmetadata:\n  type: project\n---\n%s",
			i, words[i%len(words)], words[(i*7+3)%len(words)], i, benchText(i, 200))
	}
	return files
}

func benchText(seed, n int) string {
	text := ""
	for i := range n {
		text += words[(seed*31+i*i*7+i)%len(words)]
		if i%12 == 11 {
			text += fmt.Sprintf(" in module %d.\n", (seed+i)%97)
		} else {
			text += " "
		}
	}
	return text + "\n"
}
