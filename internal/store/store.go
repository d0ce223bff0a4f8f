// Package store is the contract between the services and whatever keeps their
// data: small documents replaced whole, and append-only streams.
//
// It is shaped on the weakest cluster driver, never on files: one aggregate is
// one document, compare-and-set works on one document, there is no transaction
// over several and no ordered scan for free. storetest holds every driver to
// it; storemem keeps everything in memory, storefile in files.
package store

import (
	"context"
	"errors"
	"iter"
	"time"
)

// MaxDoc is the largest document, in bytes. Larger ones are refused with
// ErrTooLarge at Put; one found larger is listed with Doc.Err.
const MaxDoc = 512 << 10

// The errors of the contract. Drivers wrap them with detail; callers compare
// with errors.Is. Whatever else a driver returns is one of the fault reasons
// STORE_LOCKED, STORE_READ_ONLY, STORE_FULL, STORE_UNAVAILABLE, OUTSIDE_PROJECT.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("changed since it was read")
	ErrBadKey   = errors.New("bad key")
	ErrTooLarge = errors.New("document too large")
	ErrLagged   = errors.New("watcher fell behind")
	ErrClosed   = errors.New("store closed")
)

// Version identifies one state of a document. It is opaque: a content hash in
// one driver, a revision in another. Equal versions of a key are equal bytes.
type Version string

// What Put and Delete may expect beside an exact version.
const (
	Absent Version = "absent" // Put: the document must not exist
	Any    Version = "any"    // whatever is there
)

// Doc is one document. Data must not be changed by the caller.
type Doc struct {
	Key     string
	Data    []byte
	Version Version
	ModTime time.Time // zero where the driver does not know
	// Err is set by List and Watch for a document that is there and cannot be
	// read (too large, a link out of the store, no permission). Data is nil.
	Err error
}

// Event is one step of a watch: a document, a deletion, or the end of the
// snapshot.
type Event struct {
	Doc     Doc
	Deleted bool // Doc has the key only
	Synced  bool // the snapshot is complete; Doc is empty
}

// Docs keeps small documents, each replaced whole.
//
// Keys are segments joined by "/"; CheckKey says which are valid. All methods
// may be called from several goroutines at once. A mutation that returns nil
// is durable. One that fails with another error than those of the contract may
// or may not have happened.
type Docs interface {
	// Get returns one document, or ErrNotFound.
	Get(ctx context.Context, key string) (Doc, error)
	// List yields the documents below a prefix of whole segments ("" is all)
	// in key order. An error ends it. A concurrent change may or may not show.
	List(ctx context.Context, prefix string) iter.Seq2[Doc, error]
	// Put replaces a document whose version is as expected, else ErrConflict.
	// It returns the new version. A save that someone else made by other means
	// (an editor) meanwhile is never lost: it is a conflict, or kept beside.
	Put(ctx context.Context, key string, data []byte, expect Version) (Version, error)
	// Delete removes a document whose version is as expected, else ErrConflict;
	// ErrNotFound when there is none.
	Delete(ctx context.Context, key string, expect Version) error
	// Watch yields the documents below a prefix in key order, then Synced, then
	// changes until ctx ends or an error. It converges: versions may be
	// skipped, a delete of a document that was shown never is. A watcher that
	// does not keep up ends with ErrLagged; watching again is a new snapshot.
	Watch(ctx context.Context, prefix string) iter.Seq2[Event, error]
}

// Seq is the number of a record in its stream. Numbers increase; gaps are
// allowed. The first record has a number of 1 or more.
type Seq int64

// AnySeq lets Append go on wherever the stream ends.
const AnySeq Seq = -1

// Order is the direction of a Read.
type Order uint8

// The orders.
const (
	Forward Order = iota
	Backward
)

// Record is one record of a stream. Data must not be changed by the caller.
type Record struct {
	Seq  Seq
	Data []byte
	// Damaged is set for a place that cannot be read; Data has the raw bytes.
	// Records after it still come.
	Damaged bool
}

// Log keeps append-only streams. A stream exists once it has a record; its
// name follows the rules of keys. All methods may be called from several
// goroutines at once.
type Log interface {
	// Append adds records at the end, all or none, durable on return, and
	// returns the last one's number. after is the stream's expected last
	// number (0 for an empty one) or AnySeq; ErrConflict when it differs.
	Append(ctx context.Context, stream string, records [][]byte, after Seq) (Seq, error)
	// Read yields the records from a number on, forward or backward; from 0
	// means the beginning, or the end when backward.
	Read(ctx context.Context, stream string, from Seq, order Order) iter.Seq2[Record, error]
	// Tail yields the records after a number and then new ones, until ctx ends.
	Tail(ctx context.Context, stream string, after Seq) iter.Seq2[Record, error]
	// Bounds returns the first and last numbers; zeros for an empty stream.
	Bounds(ctx context.Context, stream string) (first, last Seq, err error)
	// Trim forgets records before a number. It may keep more.
	Trim(ctx context.Context, stream string, before Seq) error
}

// Opener gives a service the stores of a project. It keeps them open; opening
// one twice gives the same. Errors are faults: PROJECT_NOT_FOUND,
// WORKTREE_NOT_FOUND, STORE_LOCKED and the like.
type Opener interface {
	// Versioned is the `.ideai/` of one worktree: what git versions. An empty
	// worktree is the main checkout.
	Versioned(ctx context.Context, project, worktree string) (Docs, error)
	// Runtime is what all worktrees share and git ignores.
	Runtime(ctx context.Context, project string) (Docs, Log, error)
}
