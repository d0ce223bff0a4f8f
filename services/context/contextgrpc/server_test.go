package contextgrpc_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	optionsv1 "github.com/idea-ide/ideai/gen/idea/options/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/rpc"
	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/storefile"
	"github.com/idea-ide/ideai/internal/store/storemem"
	"github.com/idea-ide/ideai/internal/tokens"
	"github.com/idea-ide/ideai/provider"
	contextsvc "github.com/idea-ide/ideai/services/context"
	"github.com/idea-ide/ideai/services/context/contextgrpc"
	"github.com/idea-ide/ideai/services/context/contexttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var counter = tokens.NewCounter()

func TestAPIOnMemory(t *testing.T) {
	contexttest.Run(t, func(t *testing.T) contextv1.ContextServiceClient {
		files := contextsvc.NewFiles(only(t.TempDir()))
		return contextv1.NewContextServiceClient(serve(t, storemem.Opener(), files, rpc.ServerConfig{}))
	})
}

func TestAPIOnFiles(t *testing.T) {
	contexttest.Run(t, func(t *testing.T) contextv1.ContextServiceClient { return onFiles(t, rpc.ServerConfig{}) })
}

// only is a registry of one project.
func only(dir string) func(context.Context, string, string) (string, error) {
	return func(_ context.Context, project, worktree string) (string, error) {
		switch {
		case project != contexttest.Project:
			return "", fault.New(fault.ProjectNotFound, fault.Meta{"project": project}, "no project %s; register it", project)
		case worktree != "":
			return "", fault.New(fault.WorktreeNotFound, fault.Meta{"project": project, "worktree": worktree}, "no worktree %s", worktree)
		}
		return dir, nil
	}
}

func onFiles(t *testing.T, cfg rpc.ServerConfig) contextv1.ContextServiceClient {
	t.Helper()
	tree := only(t.TempDir())
	stores := storefile.NewOpener("context", tree)
	t.Cleanup(func() {
		if err := stores.Close(); err != nil {
			t.Error(err)
		}
	})
	return contextv1.NewContextServiceClient(serve(t, stores, contextsvc.NewFiles(tree), cfg))
}

// serve runs the service behind an in-memory pipe whose clients are the owner.
func serve(t *testing.T, stores store.Opener, files contextsvc.Files, cfg rpc.ServerConfig) *grpc.ClientConn {
	t.Helper()
	s, err := contextsvc.New(contextsvc.Config{}, contextsvc.Deps{Stores: stores, Files: files, Catalogue: provider.Builtin(), Tokens: counter})
	if err != nil {
		t.Fatal(err)
	}
	server, pipe := rpc.NewServer(cfg), rpc.NewOwnerPipe()
	contextgrpc.Register(server, s)
	served := make(chan error, 1)
	go func() { served <- server.Serve(pipe) }()
	conn, err := pipe.Dial(rpc.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return conn
}

// calls are valid calls of every method.
func calls(project, worktree string) map[string]proto.Message {
	return map[string]proto.Message{
		"GetSettings":   &contextv1.GetSettingsRequest{ProjectId: project, WorktreeId: worktree},
		"SaveSettings":  &contextv1.SaveSettingsRequest{ProjectId: project, WorktreeId: worktree, Settings: &contextv1.Settings{}},
		"GetRules":      &contextv1.GetRulesRequest{ProjectId: project, WorktreeId: worktree},
		"SaveRules":     &contextv1.SaveRulesRequest{ProjectId: project, WorktreeId: worktree, Rules: &contextv1.Rules{}},
		"ListPersonas":  &contextv1.ListPersonasRequest{ProjectId: project, WorktreeId: worktree},
		"GetPersona":    &contextv1.GetPersonaRequest{ProjectId: project, WorktreeId: worktree, AgentId: "a"},
		"SavePersona":   &contextv1.SavePersonaRequest{ProjectId: project, WorktreeId: worktree, Persona: &contextv1.Persona{AgentId: "a"}},
		"DeletePersona": &contextv1.DeletePersonaRequest{ProjectId: project, WorktreeId: worktree, AgentId: "a"},
		"ListSkills":    &contextv1.ListSkillsRequest{ProjectId: project, WorktreeId: worktree},
		"GetSkill":      &contextv1.GetSkillRequest{ProjectId: project, WorktreeId: worktree, SkillId: "a"},
		"SaveSkill":     &contextv1.SaveSkillRequest{ProjectId: project, WorktreeId: worktree, Skill: &contextv1.Skill{SkillId: "a"}},
		"ComposeContext": &contextv1.ComposeContextRequest{
			ProjectId: project, WorktreeId: worktree, AgentId: "a", ProfileId: "claude",
		},
		"WatchDocuments":  &contextv1.WatchDocumentsRequest{ProjectId: project, WorktreeId: worktree},
		"ListRuleFiles":   &contextv1.ListRuleFilesRequest{ProjectId: project, WorktreeId: worktree},
		"ListProfiles":    &contextv1.ListProfilesRequest{},
		"GetProfile":      &contextv1.GetProfileRequest{ProfileId: "claude"},
		"RenderInjection": &contextv1.RenderInjectionRequest{Context: &contextv1.EffectiveContext{}, ProfileId: "claude", Kind: 1, SideDirectory: "/s", ProjectRoot: "/p"},
	}
}

// eachMethod calls every method of the service.
func eachMethod(ctx context.Context, t *testing.T, conn grpc.ClientConnInterface, requests map[string]proto.Message, check func(method string, request proto.Message, err error)) {
	t.Helper()
	methods := contextv1.File_idea_context_v1_context_proto.Services().Get(0).Methods()
	for i := range methods.Len() {
		m := methods.Get(i)
		request, ok := requests[string(m.Name())]
		if !ok {
			t.Errorf("no request for %s", m.Name())
			continue
		}
		out, err := protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
		if err != nil {
			t.Fatal(err)
		}
		check(string(m.Name()), request, conn.Invoke(ctx, "/"+contextv1.ContextService_ServiceDesc.ServiceName+"/"+string(m.Name()), request, out.New().Interface()))
	}
}

// An agent calls nothing here: its context reaches it by its host.
func TestAgentsCallNothing(t *testing.T) {
	key, err := auth.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	token, err := key.Issuer().Issue(auth.Claims{
		Surfaces: []optionsv1.Surface{optionsv1.Surface_SURFACE_AGENT}, Person: "ada",
		Project: contexttest.Project, Worktree: "main", Agent: "dev", Instance: "dev",
	}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	conn := serve(t, storemem.Opener(), contextsvc.NewFiles(only(t.TempDir())), rpc.ServerConfig{Verifier: key.Verifier()})
	eachMethod(auth.WithToken(t.Context(), token), t, conn, calls(contexttest.Project, ""), func(method string, _ proto.Message, err error) {
		if fault.ReasonOf(err) != fault.CallerNotAllowed {
			t.Errorf("%s: %v, want CALLER_NOT_ALLOWED", method, err)
		}
	})
}

// A project or worktree nobody knows is said so by every method that has one.
func TestUnknownPlaces(t *testing.T) {
	tree := only(t.TempDir())
	stores := storefile.NewOpener("context", tree)
	t.Cleanup(func() { _ = stores.Close() })
	conn := serve(t, stores, contextsvc.NewFiles(tree), rpc.ServerConfig{})
	for _, place := range []struct {
		project, worktree string
		reason            fault.Reason
	}{{"nobody", "", fault.ProjectNotFound}, {contexttest.Project, "nowhere", fault.WorktreeNotFound}} {
		eachMethod(t.Context(), t, conn, calls(place.project, place.worktree), func(method string, request proto.Message, err error) {
			if request.ProtoReflect().Descriptor().Fields().ByName("project_id") == nil {
				return
			}
			if fault.ReasonOf(err) != place.reason {
				t.Errorf("%s: %v, want %s", method, err, place.reason)
			}
		})
	}
}
