package project

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/idea-ide/ideai/internal/fault"
)

// maxPointer bounds the small files of git that name a path or a branch.
const maxPointer = 8 << 10

// repository is one checkout of a git repository, as its files describe it.
type repository struct {
	checkout string // real path of the folder that holds .git
	gitDir   string // real path of this checkout's own git folder
	common   string // real path of the folder that all worktrees share
}

// linked reports whether the checkout was made by `git worktree add`.
func (r repository) linked() bool { return r.gitDir != r.common }

// findRepository looks for the checkout that holds dir, a real path, upwards
// and before any folder that stop refuses. ok is false when there is none.
func findRepository(dir string, stop func(string) bool) (r repository, ok bool, err error) {
	for ; !stop(dir); dir = filepath.Dir(dir) {
		r, ok, err = openRepository(dir)
		if ok || err != nil {
			return r, ok, err
		}
	}
	return repository{}, false, nil
}

// openRepository reads the .git of one folder. ok is false when the folder has
// none that git would take for a repository.
func openRepository(checkout string) (repository, bool, error) {
	dotGit := filepath.Join(checkout, ".git")
	info, err := os.Lstat(dotGit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return repository{}, false, nil
	case err != nil:
		return repository{}, false, unreadable(dotGit, err)
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(dotGit)
		return repository{}, false, fault.New(fault.OutsideProject, fault.Meta{"name": dotGit, "target": target},
			"%s is a symbolic link to %s and would give this folder the identity of another project; use a checkout with a .git of its own", dotGit, target)
	case info.IsDir():
		_, err := os.Stat(filepath.Join(dotGit, "HEAD"))
		return repository{checkout: checkout, gitDir: dotGit, common: dotGit}, err == nil, nil
	}
	return openPointer(checkout, dotGit)
}

// openPointer follows a .git that is a file: a linked worktree, a submodule or
// a repository whose git folder was put elsewhere.
func openPointer(checkout, dotGit string) (repository, bool, error) {
	line, err := readPointer(dotGit)
	if err != nil {
		return repository{}, false, unreadable(dotGit, err)
	}
	target, found := strings.CutPrefix(line, "gitdir:")
	if !found {
		return repository{}, false, damaged(dotGit, "does not begin with \"gitdir:\"; restore it or remove it")
	}
	gitDir, err := realFrom(checkout, strings.TrimSpace(target))
	if err != nil {
		return repository{}, false, damaged(dotGit, "names "+strings.TrimSpace(target)+", which is not there; run `git worktree repair` in the main checkout")
	}
	r := repository{checkout: checkout, gitDir: gitDir, common: gitDir}
	rel, err := readPointer(filepath.Join(gitDir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return r, true, nil
	}
	if err == nil {
		r.common, err = realFrom(gitDir, rel)
	}
	if err != nil {
		return repository{}, false, damaged(filepath.Join(gitDir, "commondir"), "does not name the repository; run `git worktree repair` in the main checkout")
	}
	if filepath.Dir(gitDir) != filepath.Join(r.common, "worktrees") || !pointsBack(gitDir, dotGit) {
		return repository{}, false, damaged(dotGit, "names a repository that does not know this worktree; run `git worktree repair` here")
	}
	return r, true, nil
}

// pointsBack reports whether a linked worktree's git folder names dotGit. The
// folder lies in the repository itself, so only who may write there can claim a
// worktree of it; what does not point back may be made to look like one.
func pointsBack(gitDir, dotGit string) bool {
	back, err := readPointer(filepath.Join(gitDir, "gitdir"))
	if err != nil {
		return false
	}
	real, err := realFrom(gitDir, back)
	return err == nil && real == dotGit
}

// main returns the folder that stands for the whole repository: its main
// checkout or, in a bare clone, the folder around it that git commands use.
// ok is false for a bare repository that has none.
func (r repository) main() (root string, ok bool) {
	if !r.linked() {
		return r.checkout, true
	}
	parent := filepath.Dir(r.common)
	if filepath.Base(r.common) == ".git" {
		return parent, true
	}
	candidates := []string{parent}
	if wt := configWorktree(r.common); wt != "" {
		if real, err := realFrom(r.common, wt); err == nil {
			candidates = append(candidates, real)
		}
	}
	for _, dir := range candidates {
		if m, ok, err := openRepository(dir); err == nil && ok && m.gitDir == r.common {
			return dir, true
		}
	}
	return "", false
}

// linkedWorktree is an entry of <common>/worktrees whose checkout is there.
type linkedWorktree struct {
	name   string
	root   string
	gitDir string
}

// linkedWorktrees lists the live linked worktrees of a checkout's repository by
// name, the checkout itself apart. Those whose folder is gone or belongs to
// something else by now are skipped, and so are those that would not say the
// checkout stands for their repository: a folder may point to any repository.
func (r repository) linkedWorktrees() []linkedWorktree {
	common := r.common
	entries, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil {
		return nil
	}
	var out []linkedWorktree
	for _, e := range entries {
		gitDir := filepath.Join(common, "worktrees", e.Name())
		back, err := readPointer(filepath.Join(gitDir, "gitdir"))
		if err != nil {
			continue
		}
		dotGit, err := realFrom(gitDir, back)
		if err != nil {
			continue
		}
		w, ok, err := openRepository(filepath.Dir(dotGit))
		if !ok || err != nil || w.gitDir != gitDir || w.checkout == r.checkout {
			continue
		}
		if main, known := w.main(); known && main == r.checkout || !known && r.linked() {
			out = append(out, linkedWorktree{name: e.Name(), root: w.checkout, gitDir: gitDir})
		}
	}
	return out
}

// branch returns the branch that is checked out, "" when HEAD is detached or
// kept where its file does not tell (reftable).
func branch(gitDir string) string {
	line, err := readPointer(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return ""
	}
	name, found := strings.CutPrefix(line, "ref: refs/heads/")
	if !found || name == ".invalid" || len(name) > 512 {
		return ""
	}
	return name
}

// configWorktree returns core.worktree of a repository's config file.
func configWorktree(common string) string {
	f, err := regular(os.OpenFile(filepath.Join(common, "config"), readNow, 0))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	inCore, value := false, ""
	lines := bufio.NewScanner(io.LimitReader(f, 1<<20))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			inCore = strings.EqualFold(line, "[core]")
			continue
		}
		key, v, found := strings.Cut(line, "=")
		if inCore && found && strings.EqualFold(strings.TrimSpace(key), "worktree") {
			value = strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return value
}

// readNow opens for reading without waiting: a pipe in a repository must not
// hold up every other project.
const readNow = os.O_RDONLY | syscall.O_NONBLOCK

var errNotRegular = errors.New("not a regular file")

// regular closes and refuses what is not a regular file.
func regular(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: errNotRegular}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// readPointer reads the first line of a small file.
func readPointer(path string) (string, error) {
	f, err := regular(os.OpenFile(path, readNow, 0))
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxPointer))
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimRight(line, "\r"), nil
}

// realFrom returns the real path of p, which is absolute or relative to base.
func realFrom(base, p string) (string, error) {
	if !filepath.IsAbs(p) {
		p = filepath.Join(base, p)
	}
	return filepath.EvalSymlinks(p)
}

func damaged(path, what string) error {
	return fault.New(fault.Damaged, fault.Meta{"name": path, "line": "1"}, "%s %s", path, what)
}

func unreadable(path string, err error) error {
	return fault.New(fault.StoreUnavailable, fault.Meta{"path": path},
		"%s cannot be read (%v); check its permissions and its disk", path, cause(err)).Wrap(err)
}

// cause drops the path that os errors repeat.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
