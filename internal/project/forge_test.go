package project

import (
	"os"
	"path/filepath"
	"testing"
)

// Whatever the git files of a folder say, they cannot make it a part of a
// repository that does not know it.
func FuzzForgedGitFiles(f *testing.F) {
	for _, s := range [][4]string{
		{"gitdir: gd", "HEAD", "", ""},
		{"gitdir: gd", "../../victim/.git", "../.git", ""},
		{"gitdir: ../victim/.git", "", "", ""},
		{"gitdir: ../victim/.git/worktrees/known", "", "", ""},
		{"gitdir: gd", "..", "../.git", "[core]\n\tworktree = ../../victim\n"},
		{"gitdir: gd\nmore", "gd/..", "/", "[core]\nworktree=\"/\""},
		{"gitdir:", ".", ".", "[CORE]\nWorkTree = ../victim"},
	} {
		f.Add(s[0], s[1], s[2], s[3])
	}
	f.Fuzz(func(t *testing.T, dotGit, commondir, gitdir, config string) {
		base, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("HOME", filepath.Join(base, "home"))
		victim, work := filepath.Join(base, "victim"), filepath.Join(base, "work")
		for path, content := range map[string]string{
			victim + "/.git/HEAD":                      "ref: refs/heads/secret\n",
			victim + "/.git/worktrees/known/HEAD":      "ref: refs/heads/known\n",
			victim + "/.git/worktrees/known/commondir": "../..\n",
			victim + "/.git/worktrees/known/gitdir":    base + "/known/.git\n",
			base + "/known/.git":                       "gitdir: " + victim + "/.git/worktrees/known\n",
			base + "/home/x":                           "",
			work + "/.git":                             dotGit,
			work + "/gd/HEAD":                          "ref: refs/heads/x\n",
			work + "/gd/commondir":                     commondir,
			work + "/gd/gitdir":                        gitdir,
			work + "/gd/config":                        config,
		} {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		at, err := locate(work)
		if err == nil && !within(at.root, work) {
			t.Fatalf("%q, commondir %q, gitdir %q, config %q: the folder passes for a part of %s", dotGit, commondir, gitdir, config, at.root)
		}
		for _, w := range worktrees(work) {
			if !within(w.Root, work) {
				t.Fatalf("%q, commondir %q, gitdir %q: %s passes for a worktree of the folder", dotGit, commondir, gitdir, w.Root)
			}
		}
	})
}
