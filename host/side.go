package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

// markName is the file that tells that a directory is a launch's own and who
// holds it.
const markName = ".ideai-launch.json"

// newSuffix ends the name of a file that is not yet in its place.
const newSuffix = ".new"

// mark is what markName holds.
type mark struct {
	LaunchID string  `json:"launch_id"`
	Name     string  `json:"name,omitempty"` // of the directory; "" = the launch id
	Host     process `json:"host"`
	CLI      process `json:"cli"` // zero until it is started
}

// sideDir is the directory of one launch, open below the run root.
type sideDir struct {
	runRoot *os.Root
	dir     *os.Root
	name    string
	path    string
	mark    mark
}

// openRunRoot opens the folder of side directories, creating it. Below the
// project it is reached without leaving the project by any link, since the
// project may be a stranger's.
func openRunRoot(project, runRoot string) (*os.Root, error) {
	rel, err := filepath.Rel(project, runRoot)
	if project == "" || err != nil || !filepath.IsLocal(rel) {
		if err := os.MkdirAll(runRoot, 0o700); err != nil {
			return nil, diskFault(runRoot, err)
		}
		root, err := os.OpenRoot(runRoot)
		if err != nil {
			return nil, diskFault(runRoot, err)
		}
		return root, nil
	}
	base, err := os.OpenRoot(project)
	if err != nil {
		return nil, diskFault(project, err)
	}
	defer func() { _ = base.Close() }()
	if err := base.MkdirAll(rel, 0o700); err != nil {
		return nil, diskFault(runRoot, err)
	}
	root, err := base.OpenRoot(rel)
	if err != nil {
		return nil, diskFault(runRoot, err)
	}
	return root, nil
}

// createSide makes the directory of a launch and marks it. One that exists is
// refused: it belongs to another launch.
func createSide(runRoot *os.Root, runRootPath, path, launchID string) (*sideDir, error) {
	name, err := sideName(runRootPath, path)
	if err != nil {
		return nil, err
	}
	self, err := describe(os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("read this process's start time: %w", err)
	}
	if err := runRoot.Mkdir(name, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("the side directory %s exists already; start again for a new launch: %w", path, err)
		}
		return nil, diskFault(path, err)
	}
	dir, err := runRoot.OpenRoot(name)
	if err != nil {
		_ = runRoot.Remove(name)
		return nil, diskFault(path, err)
	}
	s := &sideDir{runRoot: runRoot, dir: dir, name: name, path: path, mark: mark{LaunchID: launchID, Name: name, Host: self}}
	if err := s.writeMark(); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// sideName is the name of a side directory, which lies directly in the run
// root.
func sideName(runRootPath, path string) (string, error) {
	name, err := filepath.Rel(runRootPath, path)
	if err != nil || !filepath.IsLocal(name) || name == "." || strings.ContainsRune(name, filepath.Separator) {
		return "", fault.New(fault.OutsideProject, fault.Meta{"name": "side_directory", "target": path},
			"the plan's side directory %s is not directly in the run root %s; nothing was started", path, runRootPath)
	}
	return name, nil
}

// inside returns the path of a plan's file within the directory.
func (s *sideDir) inside(f *typev1.File) (string, error) {
	rel, err := filepath.Rel(s.path, f.GetPath())
	if err != nil || !filepath.IsLocal(rel) || rel == "." || rel == markName {
		return "", fault.New(fault.OutsideProject, fault.Meta{"name": "files", "target": f.GetPath()},
			"the plan's file %s is not inside the side directory %s; nothing was started", f.GetPath(), s.path)
	}
	return rel, nil
}

// write creates the plan's files. All must lie inside the directory.
func (s *sideDir) write(files []*typev1.File) error {
	for _, f := range files {
		rel, err := s.inside(f)
		if err != nil {
			return err
		}
		if parent := filepath.Dir(rel); parent != "." {
			if err := s.dir.MkdirAll(parent, 0o700); err != nil {
				return diskFault(f.GetPath(), err)
			}
		}
		if err := s.create(rel, f.GetContent(), fs.FileMode(f.GetMode())&fs.ModePerm); err != nil {
			return diskFault(f.GetPath(), err)
		}
	}
	// Keeps the directory out of the person's version control.
	if err := s.create(".gitignore", []byte("*\n"), 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		return diskFault(s.path, err)
	}
	return nil
}

// create writes a new file; mode holds whatever the umask says.
func (s *sideDir) create(rel string, content []byte, mode fs.FileMode) error {
	f, err := s.dir.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Chmod(mode), f.Close())
}

// started notes the CLI's process, so that a sweep leaves the directory alone
// while the CLI outlives ideai. A CLI that cannot be noted must not go on.
func (s *sideDir) started(pid int) error {
	p, err := describe(pid)
	if err != nil {
		return nil // it ended at once
	}
	s.mark.CLI = p
	return s.writeMark()
}

// writeMark replaces the mark at once, never in halves.
func (s *sideDir) writeMark() error {
	data, err := json.Marshal(s.mark)
	if err != nil {
		return err
	}
	if err := s.replace(markName, data, 0o600); err != nil {
		return diskFault(s.path, err)
	}
	return nil
}

// replace writes a file beside the old one and puts it in its place.
func (s *sideDir) replace(rel string, content []byte, mode fs.FileMode) error {
	temp := rel + newSuffix
	_ = s.dir.Remove(temp)
	if err := s.create(temp, content, mode); err != nil {
		return err
	}
	return s.dir.Rename(temp, rel)
}

// remove deletes the directory and what is in it, through no link.
func (s *sideDir) remove() {
	_ = s.dir.Close()
	_ = removeSide(s.runRoot, s.name)
}

// removeSide deletes a side directory, its mark last: should this process end
// in the middle, a sweep still knows whose the rest is.
func removeSide(runRoot *os.Root, name string) error {
	entries, err := fs.ReadDir(runRoot.FS(), name)
	if err != nil {
		return err
	}
	var failed []error
	for _, e := range entries {
		if e.Name() != markName {
			failed = append(failed, runRoot.RemoveAll(filepath.Join(name, e.Name())))
		}
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return runRoot.RemoveAll(name)
}
