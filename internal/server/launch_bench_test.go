package server_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/frontmatter"
	"github.com/idea-ide/ideai/internal/rpc"
	"github.com/idea-ide/ideai/internal/server/servertest"
	"github.com/idea-ide/ideai/services/launcher/launchertest"
)

// BenchmarkPrepareLaunch prepares launches with every service in one process
// and a project of 1,000 notes, each launch with a task of its own. The client
// is in the process too.
func BenchmarkPrepareLaunch(b *testing.B) {
	s := servertest.Start(b)
	text := readSentences(b)
	root := s.Project("shop", text.files(1000))
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
		req.Task = text.next()
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

// sentences are those of the example project's notes: text as people write it.
type sentences struct {
	all    []string
	random *rand.Rand
}

func readSentences(b *testing.B) *sentences {
	b.Helper()
	s := &sentences{random: rand.New(rand.NewPCG(1, 2))}
	notes, err := filepath.Glob("../../examples/atelier/.ideai/memory/*.md")
	if err != nil {
		b.Fatal(err)
	}
	for _, note := range notes {
		data, err := os.ReadFile(note)
		if err != nil {
			b.Fatal(err)
		}
		doc, err := frontmatter.Parse(data)
		if err != nil {
			b.Fatal(err)
		}
		for _, line := range strings.FieldsFunc(doc.Body(), func(r rune) bool { return r == '.' || r == '\n' }) {
			if line = strings.Trim(line, " #-*"); len(line) > 20 {
				s.all = append(s.all, line)
			}
		}
	}
	if len(s.all) < 50 {
		b.Fatalf("%d sentences in %d notes", len(s.all), len(notes))
	}
	return s
}

func (s *sentences) next() string { return s.all[s.random.IntN(len(s.all))] }

// text is some words of whole sentences, with a name of code now and then.
func (s *sentences) text(words int) string {
	var b strings.Builder
	for n := 0; n < words; {
		line := s.next()
		n += len(strings.Fields(line))
		fmt.Fprintf(&b, "%s (`pkg%d.Do%d`).\n", line, s.random.IntN(40), s.random.IntN(400))
	}
	return b.String()
}

// files is a project with rules, three personas, a skill and n notes of some
// 200 words.
func (s *sentences) files(n int) map[string]string {
	files := map[string]string{
		".ideai/CONTEXT.md":             "# Rules\n\n" + s.text(300),
		".ideai/skills/deploy/SKILL.md": "---\nname: deploy\ndescription: Deploys the shop.\n---\nRun the script.\n",
	}
	for _, agent := range []string{"reviewer", "tester", "writer"} {
		files[".ideai/agents/"+agent+".md"] = "---\ndescription: The " + agent + ".\nrecall: [facture, panier]\n---\n" + s.text(150)
	}
	for i := range n {
		files[fmt.Sprintf(".ideai/memory/note-%d.md", i)] = fmt.Sprintf("---\nname: note-%d\ndescription: %q\nmetadata:\n  type: project\n---\n# %s\n\n%s",
			i, s.next(), s.next(), s.text(200))
	}
	return files
}
