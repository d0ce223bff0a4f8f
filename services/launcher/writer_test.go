package launchersvc

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/timestamppb"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	memoryv1 "github.com/idea-ide/ideai/gen/idea/memory/v1"
	"github.com/idea-ide/ideai/internal/auth"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/project"
	"github.com/idea-ide/ideai/internal/store"
	"github.com/idea-ide/ideai/internal/store/storemem"
	"github.com/idea-ide/ideai/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fragile is an opener that can be broken.
type fragile struct {
	store.Opener
	broken atomic.Pointer[fault.Error]
	opened atomic.Int32
}

func (f *fragile) Runtime(ctx context.Context, project string) (store.Docs, store.Log, error) {
	f.opened.Add(1)
	if err := f.broken.Load(); err != nil {
		return nil, nil, err
	}
	return f.Opener.Runtime(ctx, project)
}

// writing runs fn beside a service whose stores can be broken, and that has
// one launch of the project shop on its desk.
func writing(t *testing.T, fn func(s *Service, d *desk, stores *fragile, log *bytes.Buffer, stop func())) {
	key, err := auth.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		stores := &fragile{Opener: storemem.Opener()}
		var log bytes.Buffer
		s, err := New(Config{}, Deps{
			Context: contextv1.NewContextServiceClient(nil), Memory: memoryv1.NewMemoryServiceClient(nil),
			Projects: project.OpenRegistry(t.TempDir()), Stores: stores, State: storemem.New(), Catalogue: provider.Builtin(),
			Issuer: key.Issuer(), Tools: []string{"t"}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		d, err := s.desk(t.Context(), "shop")
		if err != nil {
			t.Fatal(err)
		}
		l, _, err := d.begin("l1", "digest")
		if err != nil {
			t.Fatal(err)
		}
		d.finish(l, made{plan: &launcherv1.LaunchPlan{}}, &launcherv1.Launch{LaunchId: "l1", CreateTime: timestamppb.Now()}, time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- s.Run(ctx) }()
		fn(s, d, stores, &log, func() {
			cancel()
			if err := <-ran; err != nil {
				t.Error(err)
			}
		})
	})
}

func written(t *testing.T, stores *fragile) bool {
	t.Helper()
	docs, _, err := stores.Opener.Runtime(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	_, err = docs.Get(t.Context(), "run/launches/l1.json")
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestRecordIsWrittenSoon(t *testing.T) {
	writing(t, func(s *Service, d *desk, stores *fragile, _ *bytes.Buffer, stop func()) {
		before := stores.opened.Load()
		for range 5 {
			s.records.mark(d, "l1")
		}
		synctest.Wait()
		if written(t, stores) {
			t.Error("the record is in the way of the launch that made it")
		}
		pass(writeDelay)
		if !written(t, stores) || stores.opened.Load() != before+1 {
			t.Errorf("%d writes for the changes of one moment", stores.opened.Load()-before)
		}
		stop()
	})
}

func TestRecordIsWrittenBeforeTheStop(t *testing.T) {
	writing(t, func(s *Service, d *desk, stores *fragile, _ *bytes.Buffer, stop func()) {
		s.records.mark(d, "l1")
		stop()
		if !written(t, stores) {
			t.Error("the stop lost a record")
		}
	})
}

func TestRecordThatCannotBeWrittenIsTriedAgain(t *testing.T) {
	writing(t, func(s *Service, d *desk, stores *fragile, log *bytes.Buffer, stop func()) {
		stores.broken.Store(fault.New(fault.StoreFull, fault.Meta{"path": "x"}, "the disk is full"))
		s.records.mark(d, "l1")
		pass(time.Second)
		if !strings.Contains(log.String(), "the disk is full") {
			t.Error("the log does not tell")
		}
		stores.broken.Store(nil)
		pass(sweepEvery + writeDelay)
		if !written(t, stores) {
			t.Error("nobody tried again")
		}
		stop()
	})
}

func TestRecordOfAReadOnlyProjectIsNotTriedForEver(t *testing.T) {
	writing(t, func(s *Service, d *desk, stores *fragile, log *bytes.Buffer, stop func()) {
		stores.broken.Store(fault.New(fault.StoreReadOnly, fault.Meta{"path": "x"}, "the files are read-only"))
		s.records.mark(d, "l1")
		pass(5 * time.Second)
		pass(20 * sweepEvery)
		if got := strings.Count(log.String(), "launch record not written"); got != 2 { // of the launch, and once it is lost
			t.Errorf("the log tells it %d times", got)
		}
		stop()
	})
}

func TestRecordsLostAtTheStopAreSaid(t *testing.T) {
	writing(t, func(s *Service, d *desk, stores *fragile, log *bytes.Buffer, stop func()) {
		stores.broken.Store(fault.New(fault.StoreFull, fault.Meta{"path": "x"}, "the disk is full"))
		s.records.mark(d, "l1")
		stop()
		if !strings.Contains(log.String(), "launch records lost") {
			t.Error("the log does not tell")
		}
	})
}

func TestLostLaunchIsWrittenAsLost(t *testing.T) {
	writing(t, func(s *Service, d *desk, stores *fragile, _ *bytes.Buffer, stop func()) {
		s.records.mark(d, "l1")
		pass(2*holdTime + writeDelay)
		docs, _, err := stores.Runtime(t.Context(), "shop")
		if err != nil {
			t.Fatal(err)
		}
		doc, err := docs.Get(t.Context(), "run/launches/l1.json")
		if err != nil || !bytes.Contains(doc.Data, []byte("LAUNCH_STATE_LOST")) {
			t.Errorf("%s %v", doc.Data, err)
		}
		stop()
	})
}
