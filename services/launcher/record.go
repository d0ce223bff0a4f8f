package launchersvc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/store"
)

// recordsFolder is where launch records are kept in a project's runtime store.
const recordsFolder = "run/launches"

// reserved are the names that launches may not have: the side directories of
// launches are siblings of the records and of the stores' locks.
var reserved = []string{"launches", "locks"}

// storedRecord is a launch record's document.
type storedRecord struct {
	Format  int             `json:"format"`
	Request string          `json:"request"` // digest of the request
	Launch  json.RawMessage `json:"launch"`
}

func recordKey(launchID string) string { return recordsFolder + "/" + launchID + ".json" }

// newRecord is the record of a plan: what was sent, without the texts, without
// secrets, and of the person's own arguments the flags' names and sizes.
func newRecord(plan *launcherv1.LaunchPlan, own []string) *launcherv1.Launch {
	r := &launcherv1.Launch{
		LaunchId:      plan.GetLaunchId(),
		Identity:      plan.GetIdentity(),
		ProfileId:     plan.GetProfileId(),
		Kind:          plan.GetKind(),
		State:         launcherv1.LaunchState_LAUNCH_STATE_PREPARED,
		Injection:     plan.GetInjection(),
		ContextDigest: plan.GetContextDigest(),
		ContextTokens: plan.GetContextTokens(),
		Sections:      plan.GetSections(),
		Argv:          recordArgv(plan.GetArgv(), own),
		Warnings:      plan.GetWarnings(),
	}
	secrets := [][]byte{}
	for _, e := range plan.GetEnv() {
		r.EnvNames = append(r.EnvNames, e.GetName())
		if e.GetSecret() {
			secrets = append(secrets, []byte(e.GetValue()))
		}
	}
	for _, f := range plan.GetFiles() {
		file := &launcherv1.LaunchFile{Path: f.GetPath(), SizeBytes: int64(len(f.GetContent()))}
		if !containsAny(f.GetContent(), secrets) {
			sum := sha256.Sum256(f.GetContent())
			file.Sha256 = hex.EncodeToString(sum[:])
		}
		r.Files = append(r.Files, file)
	}
	return r
}

func containsAny(content []byte, secrets [][]byte) bool {
	for _, s := range secrets {
		if len(s) > 0 && bytes.Contains(content, s) {
			return true
		}
	}
	return false
}

// What a record keeps of an argv: prompts can be long, and a document cannot.
const (
	maxRecordArg  = 1 << 10
	maxRecordArgv = 64 << 10
)

// recordArgv keeps the plan's own arguments as they are. Of the person's it
// keeps names of flags and sizes: values may be prompts, settings or keys.
func recordArgv(argv []*typev1.Arg, own []string) []string {
	out := make([]string, 0, len(argv))
	total := 0
	for i, a := range argv {
		value := a.GetValue()
		switch {
		case a.GetSecret():
			value = "(secret)"
		case i > 0 && slices.Contains(own, value):
			value = recordOwnArg(value)
		case len(value) > maxRecordArg || total > maxRecordArgv:
			value = strings.ToValidUTF8(value[:min(len(value), maxRecordArg/8)], "") + "…"
		}
		total += len(value)
		out = append(out, value)
	}
	return out
}

func recordOwnArg(arg string) string {
	flag, value, found := strings.Cut(arg, "=")
	if !strings.HasPrefix(arg, "-") {
		flag, value, found = "", arg, true
	}
	if !found {
		return arg
	}
	shown := fmt.Sprintf("(%d bytes)", len(value)) // a digest would be a way to guess it
	if flag == "" {
		return shown
	}
	return flag + "=" + shown
}

// load reads the records of a desk. Launches that seemed alive keep their
// instances for a while, for their hosts to attach again. A record that cannot
// be read is passed over and stays.
func (s *Service) load(ctx context.Context, d *desk) error {
	docs, _, err := s.deps.Stores.Runtime(ctx, d.project)
	if err != nil {
		return storeFault(err)
	}
	until := s.deps.Clock().Add(holdTime)
	found := map[string]*launch{}
	for doc, err := range docs.List(ctx, recordsFolder) {
		if err != nil {
			return storeFault(err)
		}
		if path.Ext(doc.Key) != ".json" {
			continue
		}
		l, err := parseRecord(doc)
		if err != nil {
			s.deps.Logger.WarnContext(ctx, "launch record not read", "project", d.project, "key", doc.Key, "error", err)
			continue
		}
		if l.record.GetState() != launcherv1.LaunchState_LAUNCH_STATE_LOST {
			l.until = until
		}
		l.stored = true
		found[l.id()] = l
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.launches = found
	return nil
}

func parseRecord(doc store.Doc) (*launch, error) {
	if doc.Err != nil {
		return nil, doc.Err
	}
	var stored storedRecord
	if err := json.Unmarshal(doc.Data, &stored); err != nil {
		return nil, err
	}
	r := &launcherv1.Launch{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(stored.Launch, r); err != nil {
		return nil, err
	}
	if recordKey(r.GetLaunchId()) != doc.Key || r.GetCreateTime() == nil {
		return nil, errors.New("it does not name its own launch")
	}
	l := &launch{record: r, request: stored.Request, ready: make(chan struct{})}
	close(l.ready)
	return l, nil
}

// requestDigest identifies a request: equal requests of one person have equal
// digests.
func requestDigest(person string, req proto.Message) (string, error) {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(req)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	h.Write([]byte(person))
	h.Write([]byte{0})
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// recorder collects the records that wait to be written, off the path of the
// calls that change them.
type recorder struct {
	wake chan struct{}

	mu    sync.Mutex
	dirty map[dirtyRecord]struct{}
}

type dirtyRecord struct {
	desk *desk
	id   string
}

func newRecorder() recorder {
	return recorder{wake: make(chan struct{}, 1), dirty: map[dirtyRecord]struct{}{}}
}

// mark asks for records to be written soon, or removed when their desk has
// them no more.
func (r *recorder) mark(d *desk, ids ...string) {
	r.remember(d, ids...)
	r.rouse()
}

func (r *recorder) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *recorder) remember(d *desk, ids ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		r.dirty[dirtyRecord{d, id}] = struct{}{}
	}
}

func (r *recorder) take() map[dirtyRecord]struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.dirty
	r.dirty = map[dirtyRecord]struct{}{}
	return taken
}

const (
	// writeDelay lets the changes of a moment be one write, and keeps it out of
	// the way of the launch that made them.
	writeDelay = 200 * time.Millisecond
	sweepEvery = 30 * time.Second
	lastFlush  = 5 * time.Second
)

// Run writes launch records until ctx ends, and then the last ones. Records
// that cannot be written are tried again with the next sweep, unless the files
// are read-only; launches go on meanwhile.
func (s *Service) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	var due <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastFlush)
			defer cancel()
			s.flush(last)
			if n := len(s.records.take()); n > 0 {
				s.deps.Logger.ErrorContext(last, "launch records lost", "count", n)
			}
			return nil
		case <-ticker.C:
			s.sweep()
		case <-s.records.wake:
			if due == nil {
				due = time.After(writeDelay)
			}
		case <-due:
			due = nil
			s.flush(ctx)
		}
	}
}

func (s *Service) sweep() {
	s.mu.Lock()
	desks := make([]*desk, 0, len(s.desks))
	for _, d := range s.desks {
		desks = append(desks, d)
	}
	s.mu.Unlock()
	now := s.deps.Clock()
	for _, d := range desks {
		s.records.remember(d, d.sweep(now)...)
	}
	s.records.rouse() // also for what could not be written before
}

func (s *Service) flush(ctx context.Context) {
	for r := range s.records.take() {
		err := s.write(ctx, r.desk, r.id)
		if err == nil || fault.ReasonOf(err) == fault.ProjectNotFound {
			continue
		}
		if fault.ReasonOf(err) != fault.StoreReadOnly {
			s.records.remember(r.desk, r.id)
		}
		if ctx.Err() == nil {
			s.deps.Logger.WarnContext(ctx, "launch record not written", "project", r.desk.project, "launch", r.id, "error", err)
		}
	}
}

// write makes the stored record of a launch follow the desk.
func (s *Service) write(ctx context.Context, d *desk, id string) error {
	docs, _, err := s.deps.Stores.Runtime(ctx, d.project)
	if err != nil {
		return err
	}
	record, request := d.toStore(id)
	if record == nil {
		return errors.Join(remove(ctx, docs, toldKey(id)), remove(ctx, docs, recordKey(id)))
	}
	if err := d.writeTold(ctx, docs, id); err != nil {
		return err
	}
	err = putRecord(ctx, docs, record, request)
	if errors.Is(err, store.ErrTooLarge) {
		short := proto.CloneOf(record)
		short.Sections, short.Warnings = nil, nil
		return putRecord(ctx, docs, short, request)
	}
	return err
}

func remove(ctx context.Context, docs store.Docs, key string) error {
	if err := docs.Delete(ctx, key, store.Any); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}

// toStore returns what is to be kept of a launch, nil when the desk has it no
// more. From here on it counts as stored, so that it is removed one day.
func (d *desk) toStore(id string) (record *launcherv1.Launch, request string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.launches[id]; l != nil {
		l.stored = true
		return l.record, l.request
	}
	return nil, ""
}

func putRecord(ctx context.Context, docs store.Docs, record *launcherv1.Launch, request string) error {
	launch, err := protojson.Marshal(record)
	if err != nil {
		return err
	}
	data, err := json.Marshal(storedRecord{Format: 1, Request: request, Launch: launch})
	if err != nil {
		return err
	}
	_, err = docs.Put(ctx, recordKey(record.GetLaunchId()), data, store.Any)
	return err
}
