package host

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Sweep removes the side directories in a run root whose launch is over: the
// mark names a host and a CLI that both no longer run, and live, which knows
// more launches, does not claim the id. Whatever carries no mark of its own
// name is left alone. It returns the ids of the launches it tidied up after.
func Sweep(project, runRoot string, live func(launchID string) bool) ([]string, error) {
	if _, err := os.Lstat(runRoot); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	root, err := openRunRoot(project, runRoot)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	var removed []string
	var failed []error
	for _, e := range entries {
		m, ours := readMark(root, e)
		if !ours || m.Host.alive() || m.CLI.alive() || live(m.LaunchID) {
			continue
		}
		if err := root.RemoveAll(e.Name()); err != nil {
			failed = append(failed, err)
			continue
		}
		removed = append(removed, m.LaunchID)
	}
	return removed, errors.Join(failed...)
}

// readMark reads the mark of a directory; it counts only when it names the
// directory it lies in.
func readMark(root *os.Root, entry fs.DirEntry) (mark, bool) {
	var m mark
	if !entry.IsDir() { // a link is none
		return m, false
	}
	name := filepath.Join(entry.Name(), markName)
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4096 {
		return m, false
	}
	data, err := root.ReadFile(name)
	if err != nil || json.Unmarshal(data, &m) != nil {
		return m, false
	}
	return m, cmp.Or(m.Name, m.LaunchID) == entry.Name() && m.Host.Pid > 0
}
