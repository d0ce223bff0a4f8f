package changes_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/changes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A key that is not settled is passed over, and shown when it is marked again.
func TestUnsettled(t *testing.T) {
	var feed changes.Feed
	settled := false
	src := changes.Source{
		Feed: &feed,
		Keys: func(context.Context) ([]string, error) { return []string{"a"}, nil },
		Read: func(_ context.Context, key string) (store.Doc, error) {
			if !settled {
				return store.Doc{}, changes.ErrUnsettled
			}
			return store.Doc{Key: key, Version: "1"}, nil
		},
	}
	var got []string
	for e, err := range changes.Watch(t.Context(), "", src) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Synced:
			got = append(got, "synced")
			feed.Mark("a")
			feed.Mark("b/not/below")
			settled = true
		default:
			got = append(got, e.Doc.Key)
		}
		if len(got) == 3 {
			break
		}
	}
	if want := []string{"synced", "a", "b/not/below"}; !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
}

// A document that cannot be read is shown with its error, once.
func TestUnreadable(t *testing.T) {
	var feed changes.Feed
	broken := errors.New("no permission")
	reads := 0
	src := changes.Source{
		Feed: &feed,
		Keys: func(context.Context) ([]string, error) { return []string{"a"}, nil },
		Read: func(_ context.Context, key string) (store.Doc, error) {
			if reads++; reads < 3 {
				feed.Mark("a")
				return store.Doc{Key: key, Err: broken}, nil
			}
			return store.Doc{Key: key, Version: "1"}, nil
		},
	}
	var events []store.Event
	for e, err := range changes.Watch(t.Context(), "", src) {
		if err != nil {
			t.Fatal(err)
		}
		if events = append(events, e); len(events) == 3 {
			break
		}
	}
	if !errors.Is(events[0].Doc.Err, broken) || !events[1].Synced || events[2].Doc.Version != "1" {
		t.Fatalf("%+v", events)
	}
}

func TestFailures(t *testing.T) {
	bad := errors.New("bad")
	keys := func(context.Context) ([]string, error) { return []string{"a"}, nil }
	for name, src := range map[string]changes.Source{
		"keys": {Keys: func(context.Context) ([]string, error) { return nil, bad }},
		"read": {Keys: keys, Read: func(context.Context, string) (store.Doc, error) { return store.Doc{}, bad }},
	} {
		src.Feed = &changes.Feed{}
		var last error
		for _, err := range changes.Watch(t.Context(), "", src) {
			last = err
		}
		if !errors.Is(last, bad) {
			t.Errorf("%s: %v", name, last)
		}
	}
}

// Marks collapse while the watcher is busy, and exceed its buffer only when they
// are of different keys.
func TestBuffer(t *testing.T) {
	var feed changes.Feed
	src := changes.Source{
		Feed: &feed, Buffer: 2,
		Keys: func(context.Context) ([]string, error) { return nil, nil },
		Read: func(_ context.Context, key string) (store.Doc, error) { return store.Doc{Key: key, Version: "1"}, nil },
	}
	var got []string
	var last error
	for e, err := range changes.Watch(t.Context(), "", src) {
		switch {
		case err != nil:
			last = err
		case e.Synced:
			for range 10 {
				feed.Mark("a")
				feed.Mark("b")
			}
		default:
			if got = append(got, e.Doc.Key); len(got) == 2 {
				feed.Mark("c")
				feed.Mark("d")
				feed.Mark("e")
			}
		}
	}
	if !slices.Equal(got, []string{"a", "b"}) || !errors.Is(last, store.ErrLagged) {
		t.Fatalf("%q, then %v", got, last)
	}
}

func TestClosed(t *testing.T) {
	var feed changes.Feed
	feed.Close(store.ErrClosed)
	feed.Close(errors.New("another reason"))
	feed.Mark("a")
	src := changes.Source{Feed: &feed, Keys: func(context.Context) ([]string, error) { return nil, nil }}
	var last error
	for _, err := range changes.Watch(t.Context(), "", src) {
		last = err
	}
	if !errors.Is(last, store.ErrClosed) {
		t.Fatal(last)
	}
}
