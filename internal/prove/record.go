package prove

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/provider"
)

// maxRecords is how many records of a profile are kept, the newest first.
const maxRecords = 200

// Record is what a run showed of one cell, as it is kept.
type Record struct {
	Version string `json:"version"`
	// Conditions identify what the catalogue put into the launch and the
	// person's variables that change how it arrives: with others, the record
	// says nothing.
	Conditions string             `json:"conditions"`
	Carrier    string             `json:"carrier"`
	Workspace  provider.Workspace `json:"workspace"`
	Resumed    bool               `json:"resumed"`
	Terminal   bool               `json:"terminal"`
	Arrived    bool               `json:"arrived"`
	Problems   []string           `json:"problems,omitempty"`
	Time       time.Time          `json:"time"`
}

func (r *Record) sameCell(o Record) bool {
	return r.Version == o.Version && r.Conditions == o.Conditions && r.Carrier == o.Carrier &&
		r.Workspace == o.Workspace && r.Resumed == o.Resumed && r.Terminal == o.Terminal
}

// Save keeps results below stateDir, for a version that is known. Newer ones
// replace those of the same cell; a run that came to nothing, because the CLI
// failed or took too long, leaves none. Writing at the same time from two processes
// keeps the records of one of them.
func Save(stateDir string, p *provider.Profile, version string, env []string, results []Result, now time.Time) error {
	if version == "" || p.Prove == nil {
		return nil
	}
	records := load(stateDir, p.ID)
	for i := range results {
		r := &results[i]
		record := Record{Version: version, Conditions: conditions(p, r.carrier, env), Carrier: r.Carrier, Workspace: r.Workspace,
			Resumed: r.Resumed, Terminal: r.Terminal, Arrived: r.Arrived(), Time: now.UTC().Truncate(time.Second)}
		for _, problem := range r.Problems {
			record.Problems = append(record.Problems, strings.TrimSpace(string(problem.Kind)+" "+problem.Subject))
		}
		records = slices.DeleteFunc(records, record.sameCell)
		if r.conclusive() {
			records = append(records, record)
		}
	}
	slices.SortStableFunc(records, func(a, b Record) int { return b.Time.Compare(a.Time) })
	data, err := json.MarshalIndent(records[:min(len(records), maxRecords)], "", "  ")
	if err != nil {
		return err
	}
	return replace(recordFile(stateDir, p.ID), append(data, '\n'))
}

func recordFile(stateDir, profile string) string {
	return filepath.Join(stateDir, "proofs", profile+".json")
}

// load reads what is kept. The file may be deleted at any time; one that
// cannot be read counts as none.
func load(stateDir, profile string) []Record {
	var out []Record
	data, err := os.ReadFile(recordFile(stateDir, profile))
	if err != nil || json.Unmarshal(data, &out) != nil {
		return nil
	}
	return out
}

func replace(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err := cmp.Or(err, temp.Close()); err != nil {
		_ = os.Remove(temp.Name())
		return err
	}
	return os.Rename(temp.Name(), path)
}

// conditions identifies what else a proof depends on.
func conditions(p *provider.Profile, c *provider.Carrier, env []string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", p.Prove.Kept(env)))
	return p.Fingerprint(c) + "-" + hex.EncodeToString(sum[:8])
}

// Known returns the records that hold for a version of the CLI in an
// environment, the newest first.
func Known(stateDir string, p *provider.Profile, version string, env []string) []Record {
	if version == "" || p.Prove == nil {
		return nil
	}
	var out []Record
	valid := map[string]bool{}
	for i := range p.Carriers {
		valid[conditions(p, &p.Carriers[i], env)] = true
	}
	for _, r := range load(stateDir, p.ID) {
		if r.Version == version && valid[r.Conditions] {
			out = append(out, r)
		}
	}
	return out
}

// Facts are the records as a host tells them to a server: one for each kind of
// launch that uses the very same door in the same way.
func Facts(stateDir string, p *provider.Profile, version string, env []string) []*launcherv1.Proof {
	known := Known(stateDir, p, version, env)
	if len(known) == 0 {
		return nil
	}
	var out []*launcherv1.Proof
	for i := range p.Carriers {
		c := &p.Carriers[i]
		with := conditions(p, c, env)
		for _, r := range known {
			if r.Conditions != with || r.Carrier != c.Name || r.Workspace != c.Workspace {
				continue
			}
			for _, kind := range c.Kinds {
				if resumes(kind) == r.Resumed {
					out = append(out, &launcherv1.Proof{Kind: kinds[kind], Workspace: workspaces[r.Workspace], Carrier: r.Carrier,
						Terminal: r.Terminal, Arrived: r.Arrived, ProveTime: timestamppb.New(r.Time)})
				}
			}
		}
	}
	return out
}

// resumes reports whether a kind of launch goes on with a session of the CLI.
func resumes(kind provider.Kind) bool {
	return kind == provider.NativeResume || kind == provider.StructuredTurn
}

var kinds = map[provider.Kind]typev1.LaunchKind{
	provider.Fresh:          typev1.LaunchKind_LAUNCH_KIND_FRESH,
	provider.Continue:       typev1.LaunchKind_LAUNCH_KIND_CONTINUE,
	provider.NativeResume:   typev1.LaunchKind_LAUNCH_KIND_NATIVE_RESUME,
	provider.Swap:           typev1.LaunchKind_LAUNCH_KIND_SWAP,
	provider.Rotation:       typev1.LaunchKind_LAUNCH_KIND_ROTATION,
	provider.StructuredTurn: typev1.LaunchKind_LAUNCH_KIND_STRUCTURED_TURN,
	provider.Headless:       typev1.LaunchKind_LAUNCH_KIND_HEADLESS,
}
