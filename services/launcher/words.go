package launchersvc

import (
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/provider"
)

// The catalogue's words and the protos' for the same things.
var (
	kindsOut = map[provider.Kind]typev1.LaunchKind{
		provider.Fresh:          typev1.LaunchKind_LAUNCH_KIND_FRESH,
		provider.Continue:       typev1.LaunchKind_LAUNCH_KIND_CONTINUE,
		provider.NativeResume:   typev1.LaunchKind_LAUNCH_KIND_NATIVE_RESUME,
		provider.Swap:           typev1.LaunchKind_LAUNCH_KIND_SWAP,
		provider.Rotation:       typev1.LaunchKind_LAUNCH_KIND_ROTATION,
		provider.StructuredTurn: typev1.LaunchKind_LAUNCH_KIND_STRUCTURED_TURN,
		provider.Headless:       typev1.LaunchKind_LAUNCH_KIND_HEADLESS,
	}
	kindsIn = inverse(kindsOut)

	strategiesOut = map[provider.Strategy]typev1.Strategy{
		provider.ConventionFile: typev1.Strategy_STRATEGY_CONVENTION_FILE,
		provider.Flag:           typev1.Strategy_STRATEGY_FLAG,
		provider.Stdin:          typev1.Strategy_STRATEGY_STDIN,
		provider.Env:            typev1.Strategy_STRATEGY_ENV,
	}
	strategiesIn = inverse(strategiesOut)

	workspacesOut = map[provider.Workspace]typev1.Workspace{
		provider.Project:      typev1.Workspace_WORKSPACE_PROJECT,
		provider.RunDirectory: typev1.Workspace_WORKSPACE_RUN_DIRECTORY,
	}

	appliesOut = map[provider.Applies]typev1.Applies{
		provider.NextTurn:  typev1.Applies_APPLIES_NEXT_TURN,
		provider.AtResume:  typev1.Applies_APPLIES_AT_RESUME,
		provider.AtRestart: typev1.Applies_APPLIES_AT_RESTART,
	}

	dialogsOut = map[provider.DialogKind]launcherv1.DialogKind{
		provider.DialogTrust:       launcherv1.DialogKind_DIALOG_KIND_TRUST,
		provider.DialogLogin:       launcherv1.DialogKind_DIALOG_KIND_LOGIN,
		provider.DialogMCPApproval: launcherv1.DialogKind_DIALOG_KIND_MCP_APPROVAL,
	}
)

func inverse[K, V comparable](m map[K]V) map[V]K {
	out := make(map[V]K, len(m))
	for k, v := range m {
		out[v] = k
	}
	return out
}
