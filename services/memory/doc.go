// Package memorysvc keeps a project's notes and recalls the few that help one
// agent with one task.
//
// It owns the documents below memory/ in the versioned store of each worktree:
// Markdown files with front matter, one fact each, written by people and
// merged by git. The files are the truth; all else here is a cache of them.
//
// Words. A note's id is the lower-case NFC stem of its file. A problem is one
// thing wrong with a file; an excluded note is listed with its problems and
// never recalled. A shelf is the loaded notes of one worktree with their
// search index, kept current by watching the store.
//
// Invariants.
//   - A save changes only what it says: front-matter keys unknown here, their
//     order, comments, line endings and the habit of the last line stay.
//   - A save never replaces a version its caller has not seen.
//   - A note is searchable when its save returns, and gone when its delete does.
//   - One bad file never hides another: each loads, or is listed with what to do.
//   - While a file is caught half-written, its last usable version is recalled.
//   - Worktrees share nothing.
package memorysvc
