package storefile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const maxLinks = 40

// real follows the links of a path below the tree, also absolute ones that stay
// inside, and returns the path without links. What does not exist has none.
//
// Links come with a repository, so not every one inside it is followed: none
// into .git, none of what ideai keeps for itself, and a document's only to a
// document of its kind, for a note must not show .env.
func (s *Store) real(name string) (string, error) {
	resolved, err := s.follow(name)
	if err != nil || resolved == name {
		return resolved, err
	}
	if slices.ContainsFunc(strings.Split(resolved, "/"), func(part string) bool { return strings.EqualFold(part, ".git") }) {
		return "", refusedLink(name, resolved)
	}
	if folder, own := s.ownFolder(name); own {
		base, err := s.follow(folder)
		if err != nil {
			return "", err
		}
		if resolved != path.Join(base, strings.TrimPrefix(name, folder)) {
			return "", refusedLink(name, resolved)
		}
		return resolved, nil
	}
	if kind := path.Ext(name); kind != "" && kind != path.Ext(resolved) {
		return "", refusedLink(name, resolved)
	}
	return resolved, nil
}

// plain reports whether a path below the tree has no links.
func (s *Store) plain(name string) bool {
	resolved, err := s.follow(name)
	return err == nil && resolved == name
}

// ownFolder returns the folder below which a path is ideai's own, if it is.
func (s *Store) ownFolder(name string) (string, bool) {
	for _, folder := range []string{s.sub, Folder} {
		if below, ok := strings.CutPrefix(name, folder+"/"); ok {
			top, _, _ := strings.Cut(below, "/")
			return folder, !slices.Contains(versioned, top)
		}
	}
	return "", false
}

func (s *Store) follow(name string) (string, error) {
	done, rest := "", strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			done = path.Dir(done)
			if done == "." {
				done = ""
			}
			continue
		}
		next := path.Join(done, part)
		info, err := s.root.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return path.Join(append([]string{next}, rest...)...), nil
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink == 0:
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
		}
		target, err := s.root.Readlink(next)
		if err != nil {
			return "", err
		}
		inside, ok := s.inside(done, target)
		if !ok {
			return "", outside(next, target)
		}
		if filepath.IsAbs(target) {
			done = ""
		}
		rest = append(strings.Split(inside, "/"), rest...)
	}
	if done == "" {
		done = "."
	}
	return done, nil
}

// inside returns a link's target as slash-separated steps from the folder dir,
// or from the tree when it is absolute, unless it leads out of the tree.
func (s *Store) inside(dir, target string) (string, bool) {
	if !filepath.IsAbs(target) {
		steps := filepath.ToSlash(target)
		depth := 0
		if dir != "" {
			depth = strings.Count(dir, "/") + 1
		}
		for step := range strings.SplitSeq(steps, "/") {
			switch step {
			case "", ".":
			case "..":
				depth--
			default:
				depth++
			}
			if depth < 0 {
				return "", false
			}
		}
		return steps, true
	}
	rel, err := filepath.Rel(s.tree, target)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// place is a name in an open folder, both free of links.
type place struct {
	path string // from the tree, for messages
	base string
	root *os.Root
	dir  *os.File
}

func (p *place) close() {
	_ = p.dir.Close()
	_ = p.root.Close()
}

// place opens the folder of a path, made when absent if create is set.
func (s *Store) place(name string, create bool) (*place, error) {
	resolved, err := s.real(name)
	if err != nil {
		return nil, err
	}
	dir, base := path.Split(resolved)
	dir = path.Clean("./" + dir)
	root, err := s.root.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) && create {
		if err = s.makeFolders(dir); err == nil {
			root, err = s.root.OpenRoot(dir)
		}
	}
	if err != nil {
		return nil, err
	}
	f, err := root.Open(".")
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return &place{path: resolved, base: base, root: root, dir: f}, nil
}

// makeFolders makes a folder and those above it, durably.
func (s *Store) makeFolders(dir string) error {
	made := ""
	for part := range strings.SplitSeq(dir, "/") {
		parent := made
		made = path.Join(made, part)
		if err := s.step("mkdir"); err != nil {
			return err
		}
		err := s.root.Mkdir(made, s.folderMode(made))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := s.syncFolder(path.Clean("./" + parent)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) syncFolder(dir string) error {
	if err := s.step("syncdir"); err != nil {
		return err
	}
	f, err := s.root.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return syncDir(f)
}

// versioned are the names below the store's folder that git keeps. They are for
// everyone to read; the rest is the person's own.
var versioned = []string{"project.yaml", "CONTEXT.md", "agents", "skills", "memory"}

func (s *Store) shared(name string) bool {
	below, ok := strings.CutPrefix(name, s.sub+"/")
	if !ok {
		return true
	}
	top, _, _ := strings.Cut(below, "/")
	return slices.Contains(versioned, top)
}

func (s *Store) folderMode(name string) fs.FileMode {
	if s.shared(name) {
		return 0o755
	}
	return 0o700
}

func (s *Store) fileMode(name string) fs.FileMode {
	if s.shared(name) {
		return 0o644
	}
	return 0o600
}
