package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idea-ide/ideai/host"
	"github.com/idea-ide/ideai/internal/prove"
	"github.com/idea-ide/ideai/provider"
)

// cliFound is what doctor found of one CLI.
type cliFound struct {
	Profile   string              `json:"profile"`
	Installed bool                `json:"installed"`
	Path      string              `json:"path,omitempty"`
	Version   string              `json:"version,omitempty"`
	Tried     string              `json:"tried"`            // the version that the catalogue rests on
	Proof     string              `json:"proof,omitempty"`  // arrived or missing, for this version and environment
	Proved    *time.Time          `json:"proved,omitempty"` // when
	LoggedIn  provider.LoginState `json:"loggedIn,omitempty"`
	Others    []string            `json:"others,omitempty"` // further programs of the name on PATH
}

// checkCLIs looks at every CLI of the catalogue.
func (e *examination) checkCLIs(ctx context.Context) {
	node := nodeVersion(ctx)
	for _, p := range provider.Builtin().Profiles() {
		e.CLIs = append(e.CLIs, e.checkCLI(ctx, p, node))
	}
	installed := 0
	for _, c := range e.CLIs {
		if c.Installed {
			installed++
		}
	}
	if installed == 0 {
		e.problem("PATH", 0, fmt.Sprintf(e.tr("none of the CLIs is there: %s; install one"), strings.Join(profileIDs(), ", ")))
	}
}

func (e *examination) checkCLI(ctx context.Context, p *provider.Profile, node int) cliFound {
	c := cliFound{Profile: p.ID, Tried: p.VerifiedVersion}
	facts, err := e.facts(ctx, p.ID)
	if missing := (*host.NotInstalledError)(nil); errors.As(err, &missing) {
		return c
	}
	c.Installed = true
	if err != nil {
		e.problem(p.ID, 0, err.Error())
		return c
	}
	c.Path, c.Version = facts.GetCliPath(), facts.GetCliVersion()
	c.Others = othersOnPath(p.Binary, c.Path)
	if len(c.Others) > 0 {
		e.hint(p.ID, fmt.Sprintf(e.tr("there are several on your PATH; %s is used, not %s"), c.Path, strings.Join(c.Others, ", ")))
	}
	if p.Node > 0 && node > 0 && node < p.Node {
		e.problem(p.ID, 0, fmt.Sprintf(e.tr("it needs Node %d or later, and the Node on your PATH is %d; install a later one"), p.Node, node))
	}
	if c.Version == "" {
		e.problem(p.ID, 0, fmt.Sprintf(e.tr("it does not tell its version; see what this says: %s %s"), c.Path, strings.Join(p.Version.Args, " ")))
		return c
	}
	for _, conflict := range p.Conflicts {
		for _, name := range conflict.Env {
			if e.getenv(name) != "" {
				e.hint(p.ID, fmt.Sprintf(e.tr("%s is set in your environment: %s"), name, conflict.Why))
			}
		}
	}
	e.checkProof(p, &c)
	c.LoggedIn, _ = p.Login.State(runtime.GOOS, e.getenv, func(path string) bool { _, err := os.Stat(path); return err == nil })
	if c.LoggedIn == provider.LoggedOut {
		e.hint(p.ID, fmt.Sprintf(e.tr("you are not logged in; run: %s"), p.Login.Command))
	}
	return c
}

// checkProof tells how sure it is that a context reaches this version.
func (e *examination) checkProof(p *provider.Profile, c *cliFound) {
	records := prove.Known(e.config.StateDir, p, c.Version, os.Environ())
	for _, r := range records {
		if r.Arrived {
			continue
		}
		c.Proof, c.Proved = "missing", &r.Time
		e.problem(p.ID, 0, fmt.Sprintf(e.tr("the context did not arrive whole by %s (%s); `ideai doctor --prove %s` shows what is missing"),
			r.Carrier, e.day(r.Time), p.ID))
		return
	}
	switch {
	case len(records) > 0:
		c.Proof, c.Proved = "arrived", &records[0].Time
	case c.Version != p.VerifiedVersion && p.Prove != nil:
		e.hint(p.ID, fmt.Sprintf(e.tr("version %s was not tried, %s was; try it, offline: ideai doctor --prove %s"), c.Version, p.VerifiedVersion, p.ID))
	case c.Version != p.VerifiedVersion:
		e.hint(p.ID, fmt.Sprintf(e.tr("version %s was not tried, %s was; ask the agent which rules it was given"), c.Version, p.VerifiedVersion))
	}
}

// othersOnPath are the programs of a name that a shell would find after the
// first one, links to the same program aside.
func othersOnPath(name, first string) []string {
	seen := []string{real(first)}
	var out []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil || !filepath.IsAbs(path) {
			continue
		}
		if r := real(path); !slices.Contains(seen, r) {
			seen = append(seen, r)
			out = append(out, path)
		}
	}
	return out
}

func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}

// nodeTimeout bounds asking Node for its version.
const nodeTimeout = 5 * time.Second

var nodeMajor = regexp.MustCompile(`^v(\d+)\.`)

// nodeVersion is the major version of the Node on PATH, 0 when it cannot be
// told.
func nodeVersion(ctx context.Context) int {
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	path, err := exec.LookPath("node")
	if err != nil || !filepath.IsAbs(path) {
		return 0
	}
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	out, _ := cmd.Output()
	m := nodeMajor.FindSubmatch(out)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}
