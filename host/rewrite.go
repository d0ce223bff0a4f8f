package host

import (
	"io/fs"
	"os"
	"path/filepath"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	"github.com/idea-ide/ideai/internal/fault"
)

// Rewrite puts the files of a refresh into the running launch's own directory,
// which must carry the launch's mark. Each is replaced at once: a CLI that
// reads it meanwhile sees the old one or the new one. All are checked before
// the first is written. Of the options only the roots count.
func Rewrite(refresh *launcherv1.RefreshContextResponse, o Options) error {
	o.complete()
	if len(refresh.GetFiles()) == 0 {
		return nil
	}
	name, err := sideName(o.RunRoot, refresh.GetSideDirectory())
	if err != nil {
		return err
	}
	runRoot, err := openRunRoot(o.ProjectRoot, o.RunRoot)
	if err != nil {
		return err
	}
	defer func() { _ = runRoot.Close() }()
	s, err := openSide(runRoot, name, refresh)
	if err != nil {
		return err
	}
	defer func() { _ = s.dir.Close() }()
	names := make([]string, len(refresh.GetFiles()))
	for i, f := range refresh.GetFiles() {
		if names[i], err = s.inside(f); err != nil {
			return err
		}
	}
	for i, f := range refresh.GetFiles() {
		if parent := filepath.Dir(names[i]); parent != "." {
			if err := s.dir.MkdirAll(parent, 0o700); err != nil {
				return diskFault(f.GetPath(), err)
			}
		}
		if err := s.replace(names[i], f.GetContent(), fs.FileMode(f.GetMode())&fs.ModePerm); err != nil {
			return diskFault(f.GetPath(), err)
		}
	}
	return nil
}

// openSide opens the directory of a launch, if the mark says that it is its
// own.
func openSide(runRoot *os.Root, name string, refresh *launcherv1.RefreshContextResponse) (*sideDir, error) {
	info, err := runRoot.Lstat(name)
	if err == nil {
		m, ours := readMark(runRoot, fs.FileInfoToDirEntry(info))
		if ours && m.LaunchID == refresh.GetLaunchId() {
			dir, err := runRoot.OpenRoot(name)
			if err != nil {
				return nil, diskFault(refresh.GetSideDirectory(), err)
			}
			return &sideDir{runRoot: runRoot, dir: dir, name: name, path: refresh.GetSideDirectory(), mark: m}, nil
		}
	}
	return nil, fault.New(fault.LaunchNotFound, fault.Meta{"launch": refresh.GetLaunchId()},
		"%s is not the directory of the launch %s on this machine; nothing was written", refresh.GetSideDirectory(), refresh.GetLaunchId())
}
