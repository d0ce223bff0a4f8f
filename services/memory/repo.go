package memorysvc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// folder is where notes live in a worktree's versioned store.
const folder = "memory"

const extension = ".md"

// keyFor is the key of a new note.
func keyFor(id string) string { return folder + "/" + id + extension }

// keptBeside is the name of a file that the store kept beside a note when two
// wrote it at the same time.
var keptBeside = regexp.MustCompile(`^(.+)\.conflict-[0-9a-f]+(?:-[0-9a-z]+)?$`)

// original returns the name of the file that a kept one stands beside.
func original(key string) (string, bool) {
	m := keptBeside.FindStringSubmatch(path.Base(key))
	if m == nil {
		return "", false
	}
	return m[1], true
}

// stemOf returns the stem of a note's file, and whether the key is one of a
// note at all: a Markdown file right in the folder, not hidden. A version kept
// beside one is its own note, which is only listed.
func stemOf(key string) (string, bool) {
	dir, name := path.Split(key)
	if dir != folder+"/" || name[0] == '.' {
		return "", false
	}
	if note, ok := original(key); ok && strings.EqualFold(path.Ext(note), extension) {
		return name, true
	}
	ext := path.Ext(name)
	if !strings.EqualFold(ext, extension) {
		return "", false
	}
	return strings.TrimSuffix(name, ext), true
}

// idOf returns the id of a file's stem. A stem that cannot be an id gets a
// stand-in under which the file is listed; ok is false then.
func idOf(stem string) (id string, ok bool) {
	id = CanonicalID(stem)
	if ValidID(id) {
		return id, true
	}
	sum := sha256.Sum256([]byte(stem))
	id = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r == '\\' || unicode.Is(unicode.C, r) {
			return '-'
		}
		return r
	}, id), "-")
	for len(id) > MaxID-10 {
		runes := []rune(id)
		id = string(runes[:len(runes)-1])
	}
	return id + "~" + hex.EncodeToString(sum[:4]), false
}

// noteFault turns an error of the store, met while working on note id, into a
// fault. Faults and context errors pass as they are.
func noteFault(id string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return notFound(id).Wrap(err)
	case errors.Is(err, store.ErrTooLarge):
		return fault.New(fault.TooLarge, fault.Meta{"name": id, "bytes": "0", "limit": strconv.Itoa(store.MaxDoc)},
			"note %q is larger than the store keeps; split it in two", id).Wrap(err)
	case errors.Is(err, store.ErrBadKey) && !isFault(err):
		return badField("note.note_id", "cannot be the name of a file: "+err.Error()).Wrap(err)
	}
	return placeFault(err)
}

// placeFault turns an error of the store that concerns no single note into a
// fault.
func placeFault(err error) error {
	switch {
	case errors.Is(err, store.ErrClosed):
		return fault.New(fault.Draining, nil, "the server is going down; try again").Wrap(err)
	case errors.Is(err, store.ErrLagged):
		return lagged().Wrap(err)
	case errors.Is(err, store.ErrBadKey) && !isFault(err):
		return fault.New(fault.StoreUnavailable, fault.Meta{"path": ".ideai/" + folder},
			"the notes cannot be kept: .ideai or .ideai/%s is not a folder; move away what is there", folder).Wrap(err)
	}
	return err
}

func isFault(err error) bool { _, ok := fault.As(err); return ok }

func notFound(id string) *fault.Error {
	return fault.New(fault.NoteNotFound, fault.Meta{"note": id}, "there is no note %q; list the notes to see their names", id)
}

func lagged() *fault.Error {
	return fault.New(fault.WatchLagged, nil, "the watcher fell behind; watch again")
}

func badField(field, msg string) *fault.Error {
	return fault.New(fault.InvalidField, nil, "%s: %s", field, msg).WithFields(fault.Field{Path: field, Message: msg})
}

func damaged(id string, line int, msg string) *fault.Error {
	return fault.New(fault.Damaged, fault.Meta{"name": id, "line": strconv.Itoa(line)}, "note %q cannot be used: %s", id, msg)
}
