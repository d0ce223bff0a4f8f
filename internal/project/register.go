package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/idea-ide/ideai/internal/fault"
)

// Registration is what Register did.
type Registration struct {
	Project  Project
	Worktree string // the worktree of the path
	Created  bool   // false when it was registered before
}

// Register registers the project of a path anywhere inside its source tree.
// Doing it again changes nothing. The id is wantID, else the one in the
// project's own settings, else the slug of its folder's name; a wanted id that
// another project has fails with ID_REUSED, another one gets a suffix. An
// entry whose folder is gone gives its id away, which repairs a moved project.
func (r *Registry) Register(path, wantID string) (Registration, error) {
	if wantID != "" && !ValidID(wantID) {
		e := fault.New(fault.InvalidField, nil, "%q cannot be a project id; use 1 to 63 of a-z, 0-9, '.', '_' and '-', beginning and ending with a letter or digit", wantID)
		return Registration{}, e.WithFields(fault.Field{Path: "project_id", Message: e.Msg})
	}
	at, err := locate(path)
	if err != nil {
		return Registration{}, err
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return Registration{}, unwritable(r.dir, err)
	}
	// Another process may take the id between the look and the link; then the
	// look is repeated.
	for {
		done, retry, err := r.tryRegister(at, wantID)
		if !retry {
			return done, err
		}
	}
}

func (r *Registry) tryRegister(at place, wantID string) (_ Registration, retry bool, _ error) {
	all, err := r.List()
	if err != nil {
		return Registration{}, false, err
	}
	if p, ok := registered(all, at); ok {
		if wantID != "" && wantID != p.ID {
			return Registration{}, false, reused(wantID, "%s is registered as %s already; run `ideai project remove %s` first to give it another id", p.Root, p.ID, p.ID)
		}
		return Registration{Project: p, Worktree: p.worktreeAt(at.here)}, false, nil
	}
	id, stale, err := r.chooseID(all, at.root, wantID)
	if err != nil {
		return Registration{}, false, err
	}
	if stale {
		err = r.repoint(id, at.root)
	} else {
		err = os.Symlink(at.root, filepath.Join(r.dir, id))
	}
	if errors.Is(err, fs.ErrExist) {
		return Registration{}, true, nil
	}
	if err != nil {
		return Registration{}, false, unwritable(r.dir, err)
	}
	p := r.read(id)
	return Registration{Project: p, Worktree: p.worktreeAt(at.here), Created: true}, false, nil
}

// registered finds the project that has this very root, or shares its bare
// repository.
func registered(all []Project, at place) (Project, bool) {
	for _, p := range all {
		if p.Problem == "" && (p.Root == at.root || at.bare && p.worktreeAt(at.here) != MainWorktree) {
			return p, true
		}
	}
	return Project{}, false
}

// chooseID returns a free id, or one whose entry is stale.
func (r *Registry) chooseID(all []Project, root, wantID string) (id string, stale bool, err error) {
	byID := make(map[string]Project, len(all))
	for _, p := range all {
		byID[p.ID] = p
	}
	base := wantID
	if base == "" {
		n, err := readNames(root)
		if err != nil {
			return "", false, err
		}
		if base = n.ID; base == "" {
			base = Slug(filepath.Base(root))
		}
		if base == "" {
			base = "project"
		}
	}
	for n := 1; ; n++ {
		id := numbered(base, n)
		p, taken := byID[id]
		if !taken {
			return id, false, nil
		}
		if r.gone(id) {
			return id, true, nil
		}
		if wantID != "" {
			return "", false, reused(wantID, "the id %s belongs to %s; choose another", wantID, p.Root)
		}
	}
}

// gone reports whether an entry is a link whose folder does not exist.
func (r *Registry) gone(id string) bool {
	entry := filepath.Join(r.dir, id)
	info, err := os.Lstat(entry)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	_, err = os.Stat(entry)
	return errors.Is(err, fs.ErrNotExist)
}

// repoint replaces a stale entry in one step.
func (r *Registry) repoint(id, root string) error {
	next := filepath.Join(r.dir, "."+id+".new")
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(root, next); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(r.dir, id))
}

// Remove forgets a project; its files stay. An entry that is a real folder or
// a mount is refused: it is not ours to remove.
func (r *Registry) Remove(id string) error {
	p, err := r.Get(id)
	if err != nil {
		return err
	}
	entry := filepath.Join(r.dir, p.ID)
	info, err := os.Lstat(entry)
	if err != nil {
		return unreadable(entry, err)
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return fault.New(fault.StoreReadOnly, fault.Meta{"path": entry}, "%s is a folder, not a link that ideai made; unmount or move it by hand", entry)
	}
	if err := os.Remove(entry); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unwritable(entry, err)
	}
	return nil
}

func reused(id, format string, args ...any) error {
	return fault.New(fault.IDReused, fault.Meta{"id": id}, format, args...)
}

func unwritable(path string, err error) error {
	return fault.New(fault.StoreReadOnly, fault.Meta{"path": path},
		"%s cannot be written (%v); check its permissions and its disk", path, cause(err)).Wrap(err)
}
