package contextsvc

import (
	"github.com/idea-ide/ideai/internal/page"
	"github.com/idea-ide/ideai/provider"
)

// Profiles lists the profiles by id. They come from the catalogue and the
// user's own configuration, never from a project.
func (s *Service) Profiles(p Page) ([]*provider.Profile, string, error) {
	return page.Slice(s.deps.Catalogue.Profiles(), func(f *provider.Profile) string { return f.ID }, p.Size, p.Token, "profiles")
}

// Profile returns one profile, or PROFILE_NOT_FOUND.
func (s *Service) Profile(id string) (*provider.Profile, error) {
	return s.deps.Catalogue.Profile(id)
}
