package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/host"
)

func (a *app) contextCommand() *cobra.Command {
	cmd := group("context", "Context: what agents are told at launch")
	cmd.AddCommand(a.contextShow(), a.contextRules(), a.contextEdit())
	return cmd
}

func (a *app) contextShow() *cobra.Command {
	var agent, profile, task string
	var sections bool
	cmd := &cobra.Command{
		Use: "show", Short: "Show the context an agent would get now", Args: cobra.NoArgs,
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, _ []string) error {
			if profile == "" {
				var err error
				var missing *host.NotInstalledError
				profile, err = a.chooseProfile(cmd.Context(), s, at, agent)
				if errors.As(err, &missing) {
					profile, err = missing.Profile, nil // to look needs no CLI
				}
				if err != nil {
					return err
				}
			}
			r, err := s.launcher.PreviewContext(cmd.Context(), &launcherv1.PreviewContextRequest{
				ProjectId: at.project, WorktreeId: at.worktree, AgentId: agent, ProfileId: profile, Task: task, Locale: a.locale(),
			})
			if err != nil {
				return err
			}
			return a.show(r, func() {
				var texts []string
				var reports []*typev1.SectionReport
				for _, section := range r.GetContext().GetSections() {
					texts = append(texts, strings.TrimRight(section.GetText(), "\n"))
					reports = append(reports, section.GetReport())
				}
				if sections {
					a.sections(reports, r.GetContext().GetTokens())
				} else {
					a.block(strings.Join(texts, "\n\n"))
				}
				a.warnings(r.GetWarnings())
			})
		}),
	}
	f := cmd.Flags()
	f.StringVar(&agent, "agent", "", "the agent (default: the project's)")
	f.StringVar(&profile, "profile", "", "the profile, such as claude (default: the agent's)")
	f.StringVar(&task, "task", "", "what the agent is to do, for recall")
	f.BoolVar(&sections, "sections", false, "only the table of sections with their tokens and sources")
	_ = cmd.RegisterFlagCompletionFunc("agent", a.complete(agentIDs))
	return cmd
}

// sections accounts for an effective context, one row for each source.
func (a *app) sections(reports []*typev1.SectionReport, total int32) {
	var rows [][]any
	for _, r := range reports {
		budget := "-"
		if r.GetBudgetTokens() > 0 {
			budget = fmt.Sprint(r.GetBudgetTokens())
		}
		rows = append(rows, []any{a.tr(sectionNames[r.GetKind()]), r.GetTokens(), budget, a.sources(r.GetSources())})
		for _, l := range r.GetLeftOut() {
			rows = append(rows, []any{"", "", "", a.leftOut(l)})
		}
	}
	a.table([]string{"section", "tokens", "budget", "sources"}, rows)
	a.say("%d tokens in all", total)
}

func (a *app) leftOut(l *typev1.LeftOut) string {
	name, why := l.GetName(), a.tr(leftOutReasons[l.GetReason()])
	if l.GetCount() > 0 {
		name = fmt.Sprintf(a.tr("%d more notes, by idea_memory_recall only"), l.GetCount())
	}
	if l.GetLimitTokens() > 0 {
		why = fmt.Sprintf(a.tr("the list of names has %d tokens"), l.GetLimitTokens())
	}
	return a.tr("left out") + ": " + name + " (" + why + ")"
}

// shownSources is how many sources of a section a table names; JSON has all.
const shownSources = 6

func (a *app) sources(sources []*typev1.Source) string {
	var names []string
	for i, s := range sources {
		if i == shownSources && len(sources) > shownSources+1 {
			names = append(names, fmt.Sprintf(a.tr("%d more"), len(sources)-i))
			break
		}
		names = append(names, fmt.Sprintf("%s (%d)", s.GetName(), s.GetTokens()))
	}
	return strings.Join(names, ", ")
}

var sectionNames = map[typev1.SectionKind]string{
	typev1.SectionKind_SECTION_KIND_RULES:        "rules",
	typev1.SectionKind_SECTION_KIND_PERSONA:      "persona",
	typev1.SectionKind_SECTION_KIND_CAPABILITIES: "capabilities",
	typev1.SectionKind_SECTION_KIND_MEMORY:       "memory",
	typev1.SectionKind_SECTION_KIND_STATE:        "state",
	typev1.SectionKind_SECTION_KIND_HANDOFF:      "handoff",
}

var leftOutReasons = map[typev1.LeftOutReason]string{
	typev1.LeftOutReason_LEFT_OUT_REASON_BUDGET:      "budget spent",
	typev1.LeftOutReason_LEFT_OUT_REASON_READ_BY_CLI: "the CLI reads it itself",
	typev1.LeftOutReason_LEFT_OUT_REASON_UNTRUSTED:   "not trusted yet",
	typev1.LeftOutReason_LEFT_OUT_REASON_UNUSABLE:    "cannot be used as it is",
	typev1.LeftOutReason_LEFT_OUT_REASON_MISSING:     "missing",
	typev1.LeftOutReason_LEFT_OUT_REASON_SHORTENED:   "shortened",
	typev1.LeftOutReason_LEFT_OUT_REASON_UNAVAILABLE: "its service does not answer",
	typev1.LeftOutReason_LEFT_OUT_REASON_INDEX:       "the list of names is full",
}

func (a *app) warnings(ws []*launcherv1.Warning) {
	for _, w := range ws {
		a.remark("%s", a.fileProblem(w.GetMessage()))
	}
}

func (a *app) contextRules() *cobra.Command {
	return &cobra.Command{
		Use: "rules", Short: "Show the project's rules", Args: cobra.NoArgs,
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, _ []string) error {
			r, err := getRules(cmd.Context(), s, at)
			if err != nil {
				return err
			}
			serves := ""
			if r.Source == nil {
				if serves, err = servingRules(cmd.Context(), s, at); err != nil {
					return err
				}
			}
			return a.show(r, func() {
				switch {
				case serves != "":
					a.say("%s serves as the rules, there is no .ideai/CONTEXT.md; `ideai context edit` makes one that goes on using it", serves)
					return
				case r.Source == nil:
					a.say("no rules; `ideai context edit` makes them")
					return
				}
				a.block(r.GetSource())
				if p := r.GetRules().GetProblem(); p != "" {
					a.remark("%s", a.fileProblem(p))
				}
			})
		}),
	}
}

func getRules(ctx context.Context, s *session, at place) (*contextv1.GetRulesResponse, error) {
	return s.context.GetRules(ctx, &contextv1.GetRulesRequest{ProjectId: at.project, WorktreeId: at.worktree})
}

// servingRules returns the file that serves as the rules of a project without
// a CONTEXT.md, "" when none does.
func servingRules(ctx context.Context, s *session, at place) (string, error) {
	r, err := s.context.ListRuleFiles(ctx, &contextv1.ListRuleFilesRequest{ProjectId: at.project, WorktreeId: at.worktree})
	if err != nil {
		return "", err
	}
	for _, f := range r.GetFiles() {
		if f.GetSection() == typev1.SectionKind_SECTION_KIND_RULES {
			return f.GetPath(), nil
		}
	}
	return "", nil
}

func (a *app) contextEdit() *cobra.Command {
	return &cobra.Command{
		Use: "edit", Short: "Edit the project's rules in $EDITOR", Args: cobra.NoArgs,
		RunE: a.withPlace(func(cmd *cobra.Command, s *session, at place, _ []string) error {
			r, err := getRules(cmd.Context(), s, at)
			if err != nil {
				return err
			}
			text := r.GetSource()
			if r.Source == nil {
				serves, err := servingRules(cmd.Context(), s, at)
				if err != nil {
					return err
				}
				if serves != "" { // a CONTEXT.md that does not name it would end that
					text = "---\nrules_from: [" + serves + "]\n---\n"
				}
			}
			m, changed, err := a.edit(cmd.Context(), draft{
				name: "CONTEXT.md", text: text, etag: r.GetRules().GetEtag(),
				unchanged: &contextv1.SaveRulesResponse{Rules: r.GetRules()},
				save: func(ctx context.Context, text, etag string) (proto.Message, error) {
					return s.context.SaveRules(ctx, &contextv1.SaveRulesRequest{
						ProjectId: at.project, WorktreeId: at.worktree, Rules: &contextv1.Rules{Etag: etag}, Source: &text,
					})
				},
				current: func(ctx context.Context) (string, string, error) {
					r, err := getRules(ctx, s, at)
					return r.GetSource(), r.GetRules().GetEtag(), err
				},
			})
			return a.edited(m, changed, err, "CONTEXT.md")
		}),
	}
}
