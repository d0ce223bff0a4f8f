package project

import (
	"cmp"
	"slices"
)

// worktrees lists the checkouts of a project whose main root is known. git
// files that cannot be followed from here, as in a container that mounts one
// checkout only, leave the main checkout alone.
func worktrees(root string) []Worktree {
	main := Worktree{ID: MainWorktree, Root: root}
	r, ok, err := openRepository(root)
	if err != nil || !ok {
		return []Worktree{main}
	}
	main.Branch = branch(r.gitDir)
	linked := r.linkedWorktrees()
	out := make([]Worktree, 0, 1+len(linked))
	ids := worktreeIDs(linked)
	for i, l := range linked {
		out = append(out, Worktree{ID: ids[i], Root: l.root, Branch: branch(l.gitDir)})
	}
	slices.SortFunc(out, func(a, b Worktree) int { return cmp.Compare(a.ID, b.ID) })
	return slices.Insert(out, 0, main)
}

// worktreeIDs gives each linked worktree the slug of its name. A name that is
// its own slug always keeps it; others that would share one are told apart by
// a mark of their name.
func worktreeIDs(linked []linkedWorktree) []string {
	count := map[string]int{MainWorktree: 1}
	for _, l := range linked {
		count[Slug(l.name)]++
	}
	ids := make([]string, len(linked))
	for i, l := range linked {
		slug := Slug(l.name)
		ids[i] = slug
		exact := slug == l.name && slug != MainWorktree
		if slug == "" || count[slug] > 1 && !exact {
			ids[i] = marked(slug, l.name)
		}
	}
	return ids
}
