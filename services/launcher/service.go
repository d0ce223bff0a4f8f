package launchersvc

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/build"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/project"
	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/provider"
)

// Config is what a person may set.
type Config struct {
	// PersonName is how the person is called in texts for agents; empty = a
	// neutral word.
	PersonName string
	// MemoryWait is how long a launch waits for notes before it goes on
	// without; 0 = two seconds, which a project of 10,000 notes needs the first
	// time.
	MemoryWait time.Duration
}

// Deps is what the service works with. All but Clock and Features are needed.
type Deps struct {
	Context  contextv1.ContextServiceClient
	Memory   memoryv1.MemoryServiceClient
	Projects *project.Registry
	// Stores gives each project's runtime store, for launch records.
	Stores store.Opener
	// State keeps what belongs to the server and not to a project: trust.
	State     store.Docs
	Catalogue *provider.Catalogue
	Issuer    *auth.Issuer
	Build     build.Info
	// Features are what this server can do, for clients to ask.
	Features []string
	// Tools are the bare names of the MCP tools that `ideai mcp` offers.
	Tools  []string
	Clock  func() time.Time // nil = time.Now
	Logger *slog.Logger
}

// Service prepares launches and keeps their records. Its methods may be called
// from several goroutines at once; their errors are faults.
type Service struct {
	config Config
	deps   Deps
	start  time.Time

	mu    sync.Mutex
	desks map[string]*desk // by project id

	records  recorder
	attached atomic.Int32
	watching atomic.Int32
	activity atomic.Int64 // unix nanoseconds
	draining chan struct{}
	drain    sync.Once
}

// New makes a service. It starts nothing; Run does the background work.
func New(config Config, deps Deps) (*Service, error) {
	if deps.Context == nil || deps.Memory == nil || deps.Projects == nil || deps.Stores == nil || deps.State == nil ||
		deps.Catalogue == nil || deps.Issuer == nil || deps.Logger == nil || len(deps.Tools) == 0 {
		return nil, errors.New("launcher: a dependency is missing")
	}
	if deps.Clock == nil {
		deps.Clock = time.Now
	}
	if config.MemoryWait == 0 {
		config.MemoryWait = 2 * time.Second
	}
	s := &Service{
		config:   config,
		deps:     deps,
		start:    deps.Clock(),
		desks:    map[string]*desk{},
		records:  newRecorder(),
		draining: make(chan struct{}),
	}
	s.touch()
	return s, nil
}

// Activity tells how busy the service is.
type Activity struct {
	Attached int       // launches that a host is attached to
	Last     time.Time // when a method last ran, or a launch was last attached
}

// Activity returns how busy the service is, so that an idle server can end.
func (s *Service) Activity() Activity {
	if s.watching.Load() > 0 {
		s.touch()
	}
	return Activity{Attached: int(s.attached.Load()), Last: time.Unix(0, s.activity.Load())}
}

func (s *Service) touch() { s.activity.Store(s.deps.Clock().UnixNano()) }

// enter begins a method: it counts as activity and is refused while draining.
func (s *Service) enter() error {
	s.touch()
	select {
	case <-s.draining:
		return draining()
	default:
		return nil
	}
}

func draining() error {
	return fault.New(fault.Draining, nil, "the server is going down; connect again and retry")
}

func invalid(path, format string, args ...any) error {
	e := fault.New(fault.InvalidField, nil, format, args...)
	return e.WithFields(fault.Field{Path: path, Message: e.Msg})
}
