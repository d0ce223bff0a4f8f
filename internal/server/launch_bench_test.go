package server_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
	words := newBenchWords()
	root := s.Project("shop", words.files(1000))
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
		req.Task = "review " + words.text(11)
		resp, err := client.PrepareLaunch(b.Context(), req)
		if err != nil {
			b.Fatal(err)
		}
		return resp.GetPlan()
	}
	launch(0) // may find the notes still being read
	if plan := launch(-1); len(plan.GetWarnings()) > 0 || plan.GetContextTokens() < 1000 {
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

// benchWords are words as a text has them: few common ones and many rare ones.
type benchWords struct {
	words []string
	zipf  *rand.Zipf
}

func newBenchWords() *benchWords {
	source := rand.New(rand.NewPCG(1, 2))
	syllables := []string{"pay", "ment", "car", "in", "voi", "ce", "mi", "gra", "tion", "ca", "che", "ses", "sion", "log", "de", "ploy", "dex", "que", "sche", "ma"}
	w := &benchWords{zipf: rand.NewZipf(source, 1.1, 8, 3999)}
	for range 4000 {
		word := ""
		for range 2 + source.IntN(3) {
			word += syllables[source.IntN(len(syllables))]
		}
		w.words = append(w.words, word)
	}
	return w
}

func (w *benchWords) next() string { return w.words[w.zipf.Uint64()] }

func (w *benchWords) text(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(w.next())
		b.WriteString([]string{" ", " ", " ", " ", " ", ", ", " ", " ", " ", " ", " ", ".\n"}[i%12])
	}
	return b.String()
}

// files is a project with rules, three personas, a skill and n notes of some
// 200 words.
func (w *benchWords) files(n int) map[string]string {
	files := map[string]string{
		".ideai/CONTEXT.md":             "# Rules\n\n" + w.text(300),
		".ideai/skills/deploy/SKILL.md": "---\nname: deploy\ndescription: Deploys the shop.\n---\nRun the script.\n",
	}
	for _, agent := range []string{"reviewer", "tester", "writer"} {
		files[".ideai/agents/"+agent+".md"] = "---\ndescription: The " + agent + ".\nrecall: [" + w.next() + "]\n---\n" + w.text(150)
	}
	for i := range n {
		files[fmt.Sprintf(".ideai/memory/note-%d.md", i)] = fmt.Sprintf("---\nname: note-%d\ndescription: %q\nmetadata:\n  type: project\n---\n# %s\n\n%s",
			i, strings.TrimSpace(w.text(8)), w.next(), w.text(200))
	}
	return files
}
