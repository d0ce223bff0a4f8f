package launchertest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/services/launcher/launchertest"
)

// BenchmarkPrepareLaunch measures the launcher's own part: the services it
// calls are fakes, reached over pipes with the whole chain.
func BenchmarkPrepareLaunch(b *testing.B) {
	r := launchertest.NewRig(b)
	id, root := shop(b, r, true)
	notes := make([]*memoryv1.RecalledNote, 40)
	for i := range notes {
		notes[i] = &memoryv1.RecalledNote{NoteId: fmt.Sprintf("note-%d", i), Description: "what it answers", Form: typev1.NoteForm_NOTE_FORM_POINTER}
	}
	r.Memory.Set(nil, notes...)
	prepare(b, r, launchertest.Request(id, "warm", root))
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		req := launchertest.Request(id, fmt.Sprintf("l%d", i), root)
		began := time.Now()
		prepare(b, r, req)
		took = append(took, time.Since(began))
		report(b, r, exits(id, req.GetLaunchId()))
	}
	ReportPercentiles(b, took)
}

// ReportPercentiles reports the median and the 99th percentile in milliseconds.
func ReportPercentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	at := func(p float64) float64 { return float64(took[int(p*float64(len(took)-1))].Microseconds()) / 1000 }
	b.ReportMetric(at(0.50), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
}
