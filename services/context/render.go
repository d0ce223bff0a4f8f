package contextsvc

import (
	"path"
	"strings"

	"github.com/idea-ide/ideai/provider"
)

// Injection asks for an effective context in the form one CLI takes.
type Injection struct {
	Context   EffectiveContext // as Compose gave it
	Profile   string
	Kind      provider.Kind
	Workspace provider.Workspace // "" = project
	Strategy  provider.Strategy  // "" = the best verified one
	Carrier   string             // "" = the strategy's first
	Headless  bool
	// SideDirectory and ProjectRoot are absolute, as the host sees them.
	SideDirectory, ProjectRoot string
	CLIVersion                 string // "" = not known
	ItemLimit                  int64  // largest argv or environment string; 0 = Linux's
}

// Rendered is an injection, and the cell of the matrix it goes through.
type Rendered struct {
	Carrier      *provider.Carrier
	Piece        provider.Piece
	Verification provider.Verification
}

// Render renders a context for one CLI. It fails with INJECTION_UNSUPPORTED
// and INJECTION_TOO_LARGE, and with INVALID_FIELD for a context that is not as
// it was composed. Equal inputs give equal bytes; every file is inside the side
// directory.
func (s *Service) Render(in Injection) (Rendered, error) {
	profile, err := s.deps.Catalogue.Profile(in.Profile)
	if err != nil {
		return Rendered{}, err
	}
	text := in.Context.Text()
	switch {
	case digest(text) != in.Context.Digest:
		return Rendered{}, invalid("context.digest", "is not that of the sections; pass the context as it was composed")
	case !absolute(in.SideDirectory):
		return Rendered{}, invalid("side_directory", "must be an absolute path without . and ..")
	case !absolute(in.ProjectRoot):
		return Rendered{}, invalid("project_root", "must be an absolute path without . and ..")
	}
	carrier, err := s.carrier(profile, in)
	if err != nil {
		return Rendered{}, err
	}
	values := provider.Values{Side: in.SideDirectory, Project: in.ProjectRoot, Context: text, Language: in.Context.Language}
	piece, err := profile.Inject(carrier, in.Kind, values, in.ItemLimit)
	if err != nil {
		return Rendered{}, err
	}
	return Rendered{carrier, piece, carrier.Verification(in.CLIVersion)}, nil
}

// carrier picks the cell: the first that fits, a verified one before others
// unless one was asked for by name.
func (s *Service) carrier(profile *provider.Profile, in Injection) (*provider.Carrier, error) {
	want := provider.Want{
		Kind: in.Kind, Workspace: in.Workspace, Strategy: in.Strategy, Carrier: in.Carrier,
		Headless: in.Headless || in.Kind == provider.Headless,
	}
	first, err := profile.Choose(want)
	if err != nil || in.Carrier != "" || first.VerifiedVersion != "" {
		return first, err
	}
	for i := range profile.Carriers {
		c := &profile.Carriers[i]
		if c.VerifiedVersion != "" && c.Serves(want.Kind, first.Workspace, want.Headless) && (want.Strategy == "" || want.Strategy == c.Strategy) {
			return c, nil
		}
	}
	return first, nil
}

// absolute reports whether a path is absolute on the host, whichever system
// that runs: /x, C:\x, \\server\x.
func absolute(p string) bool {
	slashed := strings.ReplaceAll(p, `\`, "/")
	if len(slashed) > 2 && slashed[1] == ':' {
		slashed = slashed[2:]
	}
	return strings.HasPrefix(slashed, "/") && (path.Clean(slashed) == slashed || strings.HasPrefix(slashed, "//")) && !strings.Contains(p, "\x00")
}
