package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/idea-ide/ideai/internal/fault"
)

const (
	conflictTries = 200 // another writer got on at each of them
	unknownTries  = 3
)

// Update reads a document, lets fn change it and writes the result, and starts
// again when someone else wrote in between. It returns the document as written.
//
// fn may run several times, must not change data and has no other effect than
// its result; its error ends the update and is returned as it is. Equal bytes
// are not written. When the store fails without telling whether the write
// happened, Update looks: equal bytes are a success. ErrConflict after 200
// lost races.
func Update(ctx context.Context, docs Docs, key string, fn func(data []byte, exists bool) ([]byte, error)) (Doc, error) {
	unknown := 0
	for try := range conflictTries {
		if err := pause(ctx, try); err != nil {
			return Doc{}, err
		}
		current, expect, err := read(ctx, docs, key)
		if err != nil {
			return Doc{}, err
		}
		data, err := fn(slices.Clip(current.Data), expect != Absent)
		if err != nil {
			return Doc{}, err
		}
		if expect != Absent && bytes.Equal(data, current.Data) {
			return current, nil
		}
		version, err := docs.Put(ctx, key, data, expect)
		switch {
		case err == nil:
			return Doc{Key: key, Data: data, Version: version}, nil
		case errors.Is(err, ErrConflict):
			continue
		case settled(err):
			return Doc{}, err
		}
		now, nowVersion, readErr := read(ctx, docs, key)
		switch {
		case readErr != nil:
			return Doc{}, err
		case nowVersion != Absent && bytes.Equal(now.Data, data):
			return now, nil
		case nowVersion != expect:
			return Doc{}, err // it may have happened and been replaced since
		}
		if unknown++; unknown == unknownTries {
			return Doc{}, err
		}
	}
	return Doc{}, fmt.Errorf("%s: %w, %d times in a row", key, ErrConflict, conflictTries)
}

// read returns a document and what a Put that replaces it must expect.
func read(ctx context.Context, docs Docs, key string) (Doc, Version, error) {
	doc, err := docs.Get(ctx, key)
	if errors.Is(err, ErrNotFound) {
		return Doc{Key: key}, Absent, nil
	}
	return doc, doc.Version, err
}

// settled reports whether a failed Put certainly did nothing and would do
// nothing again.
func settled(err error) bool {
	for _, e := range []error{ErrBadKey, ErrTooLarge, ErrClosed} {
		if errors.Is(err, e) {
			return true
		}
	}
	reason := fault.ReasonOf(err)
	return reason == fault.StoreReadOnly || reason == fault.OutsideProject || reason == fault.StoreLocked
}

// pause waits a little before a retry, longer and more at random the more
// races were lost.
func pause(ctx context.Context, try int) error {
	if try < 2 {
		return ctx.Err()
	}
	limit := min(time.Millisecond<<min(try, 6), 50*time.Millisecond)
	timer := time.NewTimer(rand.N(limit))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
