package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/idea-ide/ideai/internal/fault"
)

// Project is a registered source tree.
type Project struct {
	ID string
	// Root is the real path of the main checkout, or of the plain folder. For
	// an entry whose folder is gone it is the path it was registered with.
	Root string
	// Worktrees has the main checkout first, then the linked ones by id.
	Worktrees []Worktree
	// Problem says why the project cannot be used now and what to do; "" when
	// it can.
	Problem string
}

// Worktree is one checkout of a project.
type Worktree struct {
	ID     string
	Root   string // real path
	Branch string // "" when detached or without git
}

// Worktree returns the worktree of an id; "" means the main checkout.
func (p Project) Worktree(id string) (Worktree, bool) {
	if id == "" {
		id = MainWorktree
	}
	for _, w := range p.Worktrees {
		if w.ID == id {
			return w, true
		}
	}
	return Worktree{}, false
}

func (p Project) worktreeAt(root string) string {
	for _, w := range p.Worktrees {
		if w.Root == root {
			return w.ID
		}
	}
	return MainWorktree
}

// Registry is a folder of projects. Every call looks at the folder, so that
// several processes may use one registry; only the real path of a folder is
// remembered, as long as the entry leads to that very folder. Its methods may
// be called from several goroutines at once.
type Registry struct {
	dir   string
	known sync.Map // id -> lead
}

// lead is where an entry led when it was last followed.
type lead struct {
	target string // of the link, "" for a real folder
	info   fs.FileInfo
	root   string
}

// OpenRegistry returns the registry kept in dir, which Register makes when it
// is not there.
func OpenRegistry(dir string) *Registry { return &Registry{dir: dir} }

// List returns the projects by id, also those that cannot be used now.
func (r *Registry) List() ([]Project, error) {
	entries, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(r.dir, err)
	}
	var out []Project
	for _, e := range entries {
		if ValidID(e.Name()) {
			out = append(out, r.read(e.Name()))
		}
	}
	return out, nil
}

// Get returns the project of an id or, when no entry has that id, the one
// project that claims it as an alias. The result's ID is the entry's. A
// project that cannot be used now is returned with its Problem.
func (r *Registry) Get(id string) (Project, error) {
	if !ValidID(id) {
		return Project{}, fault.New(fault.ProjectNotFound, fault.Meta{"project": id}, "%q is not the id of a project; `ideai project list` shows them", id)
	}
	if _, err := os.Lstat(filepath.Join(r.dir, id)); err == nil {
		return r.read(id), nil
	}
	all, err := r.List()
	if err != nil {
		return Project{}, err
	}
	claims := slices.DeleteFunc(all, func(p Project) bool { return !slices.Contains(p.Aliases(), id) })
	switch len(claims) {
	case 0:
		return Project{}, fault.New(fault.ProjectNotFound, fault.Meta{"project": id}, "no project %s is registered; run `ideai init` in its folder", id)
	case 1:
		return claims[0], nil
	}
	return Project{}, fault.New(fault.ProjectNotFound, fault.Meta{"project": id},
		"the alias %s is claimed by both %s and %s; use their own ids", id, claims[0].ID, claims[1].ID)
}

// Aliases returns the other names that a project's own settings claim, none
// when they cannot be read.
func (p Project) Aliases() []string {
	if p.Problem != "" {
		return nil
	}
	n, err := readNames(p.Root)
	if err != nil {
		return nil
	}
	return n.Aliases
}

// Resolve returns the registered project of a path anywhere inside it, and the
// worktree the path is in.
func (r *Registry) Resolve(path string) (Project, string, error) {
	at, err := locate(path)
	if err != nil {
		return Project{}, "", err
	}
	all, err := r.List()
	if err != nil {
		return Project{}, "", err
	}
	p, ok := match(all, at)
	if !ok {
		return Project{}, "", fault.New(fault.ProjectNotFound, fault.Meta{"project": at.root},
			"%s is not registered; run `ideai init` there", at.root)
	}
	return p, p.worktreeAt(at.here), nil
}

// match finds the usable project that a place belongs to. Without git that is
// also a project around it; the innermost wins.
func match(all []Project, at place) (best Project, ok bool) {
	for _, p := range all {
		if p.Problem != "" {
			continue
		}
		if p.Root == at.root || at.bare && p.worktreeAt(at.here) != MainWorktree {
			return p, true
		}
		if at.common == "" && within(at.here, p.Root) && len(p.Root) > len(best.Root) {
			best, ok = p, true
		}
	}
	return best, ok
}

// Tree returns the real path of a worktree; "" means the main checkout. It
// takes ids, no aliases, so that one project has one key everywhere.
func (r *Registry) Tree(_ context.Context, project, worktree string) (string, error) {
	if worktree == "" || worktree == MainWorktree {
		// The commonest question, asked before every use of a store.
		if p := (Project{ID: project}); ValidID(project) && r.find(&p) && p.Problem == "" {
			return p.Root, nil
		}
	}
	p, err := r.Get(project)
	if err != nil {
		return "", err
	}
	switch {
	case p.ID != project:
		return "", fault.New(fault.ProjectNotFound, fault.Meta{"project": project}, "%s is another name of the project %s; use that", project, p.ID)
	case p.Problem != "":
		return "", fault.New(fault.ProjectNotFound, fault.Meta{"project": project}, "the project %s cannot be used: %s", project, p.Problem)
	}
	w, ok := p.Worktree(worktree)
	if !ok {
		return "", fault.New(fault.WorktreeNotFound, fault.Meta{"project": project, "worktree": worktree},
			"the project %s has no worktree %s; `ideai project show %s` lists them", project, worktree, project)
	}
	return w.Root, nil
}

// read describes one entry, which exists.
func (r *Registry) read(id string) Project {
	p := Project{ID: id}
	if r.find(&p); p.Problem == "" {
		p.Worktrees = worktrees(p.Root)
	}
	return p
}

// find fills in where an entry leads, or why that is of no use. ok is false
// when there is no such entry.
func (r *Registry) find(p *Project) (ok bool) {
	entry := filepath.Join(r.dir, p.ID)
	target, err := os.Readlink(entry)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	p.Root = entry
	if target != "" {
		p.Root = target
	}
	info, err := os.Stat(entry)
	switch was, seen := r.known.Load(p.ID); {
	case errors.Is(err, fs.ErrNotExist):
		p.Problem = p.Root + " is gone; if it moved, run `ideai init --id " + p.ID + "` in its new folder, else `ideai project remove " + p.ID + "`"
		return true
	case err == nil && seen && was.(lead).target == target && os.SameFile(was.(lead).info, info):
		p.Root = was.(lead).root
		return true
	case err == nil:
		err = r.follow(p, entry, lead{target: target, info: info})
	}
	if err != nil {
		p.Problem = fmt.Sprintf("%s cannot be read (%v); check its permissions and its disk", p.Root, cause(err))
	}
	return true
}

// follow finds the real path of an entry's folder and remembers it.
func (r *Registry) follow(p *Project, entry string, l lead) error {
	root, err := filepath.EvalSymlinks(entry)
	if err != nil {
		return err
	}
	p.Root, l.root = root, root
	if err := readable(root); err != nil {
		return err
	}
	r.known.Store(p.ID, l)
	return nil
}

// readable tells why a folder cannot be read.
func readable(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		return &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	return err
}
