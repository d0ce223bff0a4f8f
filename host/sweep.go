package host

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Sweep removes the side directories in a run root whose launch is over: the
// mark names a host and a CLI that both no longer run, and live, which knows
// more launches, does not claim the id. Of what carries no mark of its own name
// only the beginnings of a side directory are removed, after a day. It returns
// the ids of the launches it tidied up after.
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
		if !ours && begun(root, e) {
			m, ours = mark{LaunchID: e.Name()}, true
		}
		if !ours || m.Host.alive() || m.CLI.alive() || live(m.LaunchID) {
			continue
		}
		if err := removeSide(root, e.Name()); err != nil {
			failed = append(failed, err)
			continue
		}
		removed = append(removed, m.LaunchID)
	}
	return removed, errors.Join(failed...)
}

// begunAge is how old a directory must be that nobody got to mark.
const begunAge = 24 * time.Hour

// begun reports whether an entry is a side directory whose maker ended before
// it was marked: an old one, with nothing but what is written before the mark
// is in its place.
func begun(root *os.Root, entry fs.DirEntry) bool {
	info, err := entry.Info()
	if err != nil || !info.IsDir() || time.Since(info.ModTime()) < begunAge {
		return false
	}
	inside, err := fs.ReadDir(root.FS(), entry.Name())
	return err == nil && !slices.ContainsFunc(inside, func(e fs.DirEntry) bool { return e.Name() != markName+newSuffix })
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
