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
// A stream's file holds one framed line a record, with its number and checksum,
// and never changes but at the end. Appends that wait at the same time are
// written and synced together. The records of one append count only together; an
// end that was never finished is cut off and kept in NAME.jsonl.torn beside. A
// damaged place is read as such, and everything after it is still found. A file
// of lines that are not framed is somebody else's: it is read, and appends go to
// a new file. Places are found by halving, so there is no index to go stale.
//
// One process a service may write a tree: Open takes a lock and a second Open
// fails with STORE_LOCKED, which names the holder.
//
// Names the store keeps for itself are not keys: those ending in .jsonl, and
// those containing .jsonl. or beginning with .ideai-.
package storefile
