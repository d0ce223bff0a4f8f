package contextsvc

import (
	"context"
	"errors"

	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/provider"
)

// Config is what the user may set.
type Config struct {
	// Language of headings and texts where neither the project nor the host
	// says one: en or fr; empty means en.
	Language string
	// Budgets of projects that name none; zero values mean DefaultBudgets.
	Budgets Budgets
}

// Deps is what the service works with. All are required.
type Deps struct {
	// Stores opens the projects' .ideai/ folders.
	Stores store.Opener
	// Files reads the worktrees' other files, for rules_from.
	Files Files
	// Catalogue has the profiles.
	Catalogue *provider.Catalogue
	// Tokens counts; it is safe for concurrent use and remembers by content.
	Tokens Counter
}

// Counter counts the tokens of a text.
type Counter interface{ Count(text string) int }

// Place is a worktree of a project; an empty worktree is the main checkout.
type Place struct{ Project, Worktree string }

// Service composes contexts and keeps their documents. Its methods may be
// called from several goroutines at once.
type Service struct {
	config Config
	deps   Deps
	cache  cache
}

// New checks its arguments and starts nothing.
func New(config Config, deps Deps) (*Service, error) {
	switch {
	case deps.Stores == nil, deps.Files == nil, deps.Catalogue == nil, deps.Tokens == nil:
		return nil, errors.New("contextsvc: a dependency is missing")
	case config.Language == "":
		config.Language = english
	}
	if _, ok := languages[config.Language]; !ok {
		return nil, errors.New("contextsvc: language must be en or fr")
	}
	if err := config.Budgets.check(); err != nil {
		return nil, err
	}
	config.Budgets = config.Budgets.or(DefaultBudgets)
	return &Service{config: config, deps: deps}, nil
}

// Run has no background work to do; it returns when ctx ends.
func (s *Service) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
