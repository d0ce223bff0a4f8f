package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

func (a *app) doctorCommand() *cobra.Command {
	var clis []string
	var carrier string
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong on this machine", Args: cobra.NoArgs,
		Long: "Looks at the server, the project of this folder and the CLIs, and says what is wrong and what to do. It\nchanges nothing, and ends with 1 when something has to be mended.\n\n--prove runs an installed CLI offline, in a throw-away home and project, and looks whether each section of the\ncontext, the tools and a tool call reach its model; plans then say so for that very version.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(clis) > 0 {
				return a.proveCLIs(cmd.Context(), clis, carrier)
			}
			if carrier != "" {
				return usage("--carrier goes with --prove")
			}
			return a.examine(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&clis, "prove", nil, "prove offline that the context reaches the model of this CLI, such as claude")
	f.StringVar(&carrier, "carrier", "", "with --prove, only this carrier")
	_ = cmd.RegisterFlagCompletionFunc("prove", cobra.FixedCompletions(profileIDs(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// diagnosis is what doctor found.
type diagnosis struct {
	OK       bool         `json:"ok"` // there are no problems
	Version  string       `json:"version"`
	Server   serverFound  `json:"server"`
	StateDir string       `json:"stateDir"`
	Project  projectFound `json:"project"`
	CLIs     []cliFound   `json:"clis"`
	Problems []finding    `json:"problems"`
	Hints    []finding    `json:"hints"`
}

type serverFound struct {
	Running bool   `json:"running"`
	Address string `json:"address"`
	Build   string `json:"build,omitempty"`
	Version string `json:"version,omitempty"`
	Pid     int64  `json:"pid,omitempty"`
}

type projectFound struct {
	ID      string `json:"id,omitempty"` // empty when there is none
	Root    string `json:"root,omitempty"`
	Trusted bool   `json:"trusted"`
	Notes   int    `json:"notes"`
	Agents  int    `json:"agents"`
	Skills  int    `json:"skills"`
}

// finding is one thing that is wrong, or worth knowing.
type finding struct {
	About   string `json:"about"` // a path, a CLI, or a part of ideai
	Line    int32  `json:"line,omitempty"`
	Message string `json:"message"` // what is wrong; what to do
}

// examination is a diagnosis in the making.
type examination struct {
	*app
	diagnosis
}

func (e *examination) problem(about string, line int32, message string) {
	e.Problems = append(e.Problems, finding{about, line, message})
}

func (e *examination) hint(about, message string) {
	e.Hints = append(e.Hints, finding{About: about, Message: message})
}

// examine looks at everything and tells. It starts no server: without one it
// looks at the project from inside this process.
func (a *app) examine(ctx context.Context) error {
	e := &examination{app: a, diagnosis: diagnosis{StateDir: a.config.StateDir, Version: a.buildInfo().Version, Problems: []finding{}, Hints: []finding{}}}
	writable := e.checkStateDir()
	if s, err := e.connectToLook(ctx, writable); err != nil {
		e.problem(a.tr("server"), 0, a.explain(err))
	} else if s != nil {
		e.checkProject(ctx, s)
		s.close()
	}
	e.checkCLIs(ctx)
	e.OK = len(e.Problems) == 0
	if a.asJSON {
		data, err := json.Marshal(e.diagnosis)
		if err != nil {
			return err
		}
		if err := a.rawJSON(data); err != nil {
			return err
		}
	} else {
		e.show()
	}
	if !e.OK {
		return &codeError{exitError}
	}
	return nil
}

// checkStateDir tries to write where the server keeps what is its own.
func (e *examination) checkStateDir() bool {
	err := os.MkdirAll(e.StateDir, 0o700)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(e.StateDir, ".doctor-*"); err == nil {
			_, err = f.WriteString("x")
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}
	if err != nil {
		e.problem(e.StateDir, 0, fmt.Sprintf(e.tr("ideai cannot write there (%s); give yourself write permission, or set another state_dir"), err))
	}
	return err == nil
}

// connectToLook connects to the server that runs, else to one inside this
// process; nil when there can be none.
func (e *examination) connectToLook(ctx context.Context, writable bool) (*session, error) {
	e.Server.Address = e.config.Address
	if s, ok := e.connectRunning(ctx); ok {
		info, err := s.launcher.GetServerInfo(ctx, &launcherv1.GetServerInfoRequest{})
		if err != nil {
			s.close()
			return nil, err
		}
		e.Server = serverFound{Running: true, Address: e.config.Address, Build: info.GetBuildId(), Version: info.GetVersion(), Pid: info.GetPid()}
		if own := e.buildInfo(); own.ID != info.GetBuildId() {
			e.hint(e.tr("server"), fmt.Sprintf(e.tr("it is another build (%s, this is %s); the next command replaces an older one, and `ideai serve --stop` ends it now"), info.GetVersion(), own.Version))
		}
		return s, nil
	}
	if !writable {
		return nil, nil
	}
	cfg, agent, err := e.clientConfig()
	if err != nil {
		return nil, err
	}
	return e.connectInside(ctx, cfg, agent, "")
}

// checkProject looks at the project of the current folder and at every file of
// it that speaks to agents.
func (e *examination) checkProject(ctx context.Context, s *session) {
	at, err := e.place(ctx, s)
	if fault.ReasonOf(err) == fault.ProjectNotFound {
		e.hint(e.tr("project"), e.tr("this folder belongs to no project yet; `ideai init` makes it one"))
		return
	}
	if err != nil {
		e.problem(e.tr("project"), 0, e.explain(err))
		return
	}
	e.Project = projectFound{ID: at.project, Root: at.root(), Trusted: at.info.GetTrusted()}
	if p := at.info.GetProblem(); p != "" {
		e.problem(at.root(), 0, p)
		return
	}
	if !at.info.GetTrusted() && s.agent == nil {
		r, err := s.launcher.GetTrust(ctx, &launcherv1.GetTrustRequest{ProjectId: at.project, WorktreeId: at.worktree})
		if n := len(r.GetTrust().GetFiles()); err == nil && n > 0 {
			e.hint(at.project, fmt.Sprintf(e.tr("it is not trusted, so its %d files of rules are left out; `ideai trust` lists them and asks"), n))
		}
	}
	e.checkNotes(ctx, s, at)
	e.checkAgents(ctx, s, at)
	e.checkSkills(ctx, s, at)
	_, err = s.context.GetRules(ctx, &contextv1.GetRulesRequest{ProjectId: at.project, WorktreeId: at.worktree})
	e.failure(".ideai/CONTEXT.md", err)
	_, err = s.context.GetSettings(ctx, &contextv1.GetSettingsRequest{ProjectId: at.project, WorktreeId: at.worktree})
	e.failure(".ideai/project.yaml", err)
}

// failure notes an error as a problem of a file.
func (e *examination) failure(about string, err error) {
	if err != nil {
		e.problem(about, 0, e.explain(err))
	}
}

func (e *examination) checkNotes(ctx context.Context, s *session, at place) {
	all, err := allPages(func(token string) (*memoryv1.ListNotesResponse, error) {
		return s.memory.ListNotes(ctx, &memoryv1.ListNotesRequest{ProjectId: at.project, WorktreeId: at.worktree, PageSize: 1000, PageToken: token})
	})
	e.failure(".ideai/memory", err)
	e.Project.Notes = len(all.GetNotes())
	for _, n := range all.GetNotes() {
		file := filepath.Join(".ideai", "memory", n.GetNoteId()+".md")
		for _, p := range n.GetProblems() {
			if p.GetExcluded() {
				e.problem(file, p.GetLine(), p.GetMessage())
			} else {
				e.Hints = append(e.Hints, finding{file, p.GetLine(), p.GetMessage()})
			}
		}
	}
}

func (e *examination) checkAgents(ctx context.Context, s *session, at place) {
	all, err := allPages(func(token string) (*contextv1.ListPersonasResponse, error) {
		return s.context.ListPersonas(ctx, &contextv1.ListPersonasRequest{ProjectId: at.project, WorktreeId: at.worktree, PageSize: 1000, PageToken: token})
	})
	e.failure(".ideai/agents", err)
	e.Project.Agents = len(all.GetPersonas())
	for _, p := range all.GetPersonas() {
		if p.GetProblem() != "" {
			e.unusable(filepath.Join(".ideai", "agents", p.GetAgentId()+".md"), p.GetProblem())
		}
	}
}

func (e *examination) checkSkills(ctx context.Context, s *session, at place) {
	all, err := allPages(func(token string) (*contextv1.ListSkillsResponse, error) {
		return s.context.ListSkills(ctx, &contextv1.ListSkillsRequest{ProjectId: at.project, WorktreeId: at.worktree, PageSize: 1000, PageToken: token})
	})
	e.failure(".ideai/skills", err)
	e.Project.Skills = len(all.GetSkills())
	for _, sk := range all.GetSkills() {
		if sk.GetProblem() != "" {
			e.unusable(sk.GetPath(), sk.GetProblem())
		}
	}
}

// unusable notes what a service says of a file; often it begins with the file
// and the line.
func (e *examination) unusable(file, message string) {
	rest, ok := strings.CutPrefix(message, file+", line ")
	number, text, found := strings.Cut(rest, ": ")
	line, err := strconv.ParseInt(number, 10, 32)
	if !ok || !found || err != nil {
		e.problem(file, 0, message)
		return
	}
	e.problem(file, int32(line), text)
}
