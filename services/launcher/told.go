package launchersvc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	contextv1 "github.com/idea-ide/ideai/gen/idea/context/v1"
	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
	typev1 "github.com/idea-ide/ideai/gen/idea/type/v1"
	"github.com/idea-ide/ideai/internal/store"
)

// told is what a launch was told, section by section, with what is needed to
// compose it again. It is immutable. It is kept beside the launch's record, in
// a document of its own that only its person reads, and goes with the record:
// at most keptRecords documents of maxTold bytes of text each.
type told struct {
	Format   int           `json:"format"`
	Digest   string        `json:"digest"`
	Tokens   int32         `json:"tokens"`
	Sections []toldSection `json:"sections"`

	// Request is the launch's own, without the person's arguments.
	Request  *launcherv1.PrepareLaunchRequest `json:"-"`
	Headless bool                             `json:"headless"`
	Side     string                           `json:"side"`
}

// toldSection is one section as it was told.
type toldSection struct {
	Report *typev1.SectionReport `json:"-"`
	Sha256 string                `json:"sha256"`
	Text   string                `json:"text"`
	// Missing tells that the text is not kept: all of them exceeded maxTold.
	Missing bool `json:"missing,omitempty"`
}

// maxTold is how many bytes of a context's text are kept, escaped as they are
// stored. Beyond it the largest sections are known by their digest only.
const maxTold = 384 << 10

func newTold(ec *contextv1.EffectiveContext) *told {
	t := &told{Format: 1, Digest: ec.GetDigest(), Tokens: ec.GetTokens()}
	for _, s := range ec.GetSections() {
		sum := sha256.Sum256([]byte(s.GetText()))
		t.Sections = append(t.Sections, toldSection{Report: s.GetReport(), Sha256: hex.EncodeToString(sum[:]), Text: s.GetText()})
	}
	for t.size() > maxTold {
		t.dropLargest()
	}
	return t
}

func (t *told) size() int {
	total := 0
	for _, s := range t.Sections {
		total += storedSize(s.Text)
	}
	return total
}

// storedSize is at least what a text takes in JSON.
func storedSize(text string) int {
	const escape = len(`\u2028`)
	size := len(`""`)
	for _, r := range text {
		switch {
		case r == '\n', r == '"', r == '\\', r == '\t':
			size += 2
		case r < ' ', r == '\u2028', r == '\u2029', r == utf8.RuneError:
			size += escape
		default:
			size += utf8.RuneLen(r)
		}
	}
	return size
}

func (t *told) dropLargest() {
	largest := 0
	for i := range t.Sections {
		if len(t.Sections[i].Text) > len(t.Sections[largest].Text) {
			largest = i
		}
	}
	t.Sections[largest].Text, t.Sections[largest].Missing = "", true
}

// of is the told of a launch's plan.
func (b *planner) told() *told {
	t := newTold(b.context)
	t.Request = proto.CloneOf(b.req)
	t.Request.PassthroughArgs = nil
	t.Request.AgentId, t.Request.ProfileId, t.Request.Workspace = b.agent, b.profile.ID, workspacesOut[b.workspace]
	t.Headless, t.Side = b.headless, b.side
	return t
}

// again is what the same launch would be told with another context.
func (t *told) again(ec *contextv1.EffectiveContext) *told {
	n := newTold(ec)
	n.Request, n.Headless, n.Side = t.Request, t.Headless, t.Side
	return n
}

func (t *told) section(kind typev1.SectionKind) *toldSection {
	for i := range t.Sections {
		if t.Sections[i].Report.GetKind() == kind {
			return &t.Sections[i]
		}
	}
	return nil
}

func (t *told) reports() []*typev1.SectionReport {
	out := make([]*typev1.SectionReport, len(t.Sections))
	for i := range t.Sections {
		out[i] = t.Sections[i].Report
	}
	return out
}

// toldKey is where a launch's told is kept: among the records, but none.
func toldKey(launchID string) string { return recordsFolder + "/" + launchID + toldSuffix }

const toldSuffix = ".context"

// toldDoc is the document of a told, its messages as proto JSON.
type toldDoc struct {
	*told
	Request json.RawMessage   `json:"request"`
	Reports []json.RawMessage `json:"reports"`
}

func (t *told) encode() ([]byte, error) {
	doc := toldDoc{told: t}
	var err error
	if doc.Request, err = protojson.Marshal(t.Request); err != nil {
		return nil, err
	}
	for _, s := range t.Sections {
		report, err := protojson.Marshal(s.Report)
		if err != nil {
			return nil, err
		}
		doc.Reports = append(doc.Reports, report)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err = enc.Encode(doc)
	return []byte(b.String()), err
}

func decodeTold(data []byte) (*told, error) {
	doc := toldDoc{told: &told{}}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	t := doc.told
	if t == nil || t.Format != 1 || len(doc.Reports) != len(t.Sections) {
		return nil, errors.New("not the context of a launch")
	}
	lenient := protojson.UnmarshalOptions{DiscardUnknown: true}
	t.Request = &launcherv1.PrepareLaunchRequest{}
	if err := lenient.Unmarshal(doc.Request, t.Request); err != nil {
		return nil, err
	}
	for i := range t.Sections {
		t.Sections[i].Report = &typev1.SectionReport{}
		if err := lenient.Unmarshal(doc.Reports[i], t.Sections[i].Report); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// toldOf returns what a launch was told, nil when that is not kept. It looks
// into the store for launches from before a restart and those that are over.
func (s *Service) toldOf(ctx context.Context, d *desk, id string) (*told, error) {
	d.mu.Lock()
	l := d.launches[id]
	var t *told
	if l != nil {
		t = l.told
	}
	d.mu.Unlock()
	if l == nil || t != nil {
		return t, nil
	}
	docs, _, err := s.deps.Stores.Runtime(ctx, d.project)
	if err != nil {
		return nil, err
	}
	doc, err := docs.Get(ctx, toldKey(id))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, storeFault(err)
	}
	if t, err = decodeTold(doc.Data); err != nil {
		s.deps.Logger.WarnContext(ctx, "context of a launch not read", "project", d.project, "launch", id, "error", err)
		return nil, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if l.told == nil && d.launches[id] == l {
		l.told, l.toldStored = t, true
	}
	return t, nil
}

// writeTold stores what a launch was told when that is not yet done.
func (d *desk) writeTold(ctx context.Context, docs store.Docs, id string) error {
	d.mu.Lock()
	l := d.launches[id]
	var t *told
	if l != nil && !l.toldStored {
		t = l.told
	}
	d.mu.Unlock()
	if t == nil {
		return nil
	}
	data, err := t.encode()
	if err != nil {
		return err
	}
	if _, err := docs.Put(ctx, toldKey(id), data, store.Any); err != nil && !errors.Is(err, store.ErrTooLarge) {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	l.toldStored = l.toldStored || l.told == t
	return nil
}
