// Package storefile keeps documents and streams in files that people read,
// edit and merge.
//
// A document's key is its path below the store's folder, byte for byte; a
// stream x is the file x.jsonl. Nothing else is stored: every index is a cache
// that is rebuilt when it does not fit.
//
// Everything is opened below one source tree. A link inside the tree may point
// inside it; one that leads out is refused with the fault OUTSIDE_PROJECT.
//
// A document is replaced by writing a temporary file beside it, syncing it,
// exchanging the two names and syncing the folder. What was displaced is
// compared with what the caller expected, so that a save an editor made
// meanwhile is put back, or kept beside as NAME.conflict-HASH. Where the system
// cannot exchange names (other systems than Linux, some file systems) the file
// is compared a last time and then replaced: a save between those two steps,
// microseconds apart, is lost.
//
// Names the store keeps for itself are not keys: those ending in .jsonl, and
// those containing .jsonl. or beginning with .ideai-.
package storefile
