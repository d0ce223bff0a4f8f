package launchersvc

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sergi/go-diff/diffmatchpatch"

	launcherv1 "github.com/idea-ide/ideai/gen/idea/launcher/v1"
)

const (
	// aroundLines is how many equal lines are shown at each side of a change.
	aroundLines  = 3
	maxDiffLines = 2000
	maxDiffLine  = 4096
	// diffTime bounds the search for a small difference; a larger one is as
	// true.
	diffTime = 500 * time.Millisecond
)

// DiffContext tells how what a launch was told differs from what it would be
// told now, or from what another launch was told.
func (s *Service) DiffContext(ctx context.Context, req *launcherv1.DiffContextRequest) (*launcherv1.DiffContextResponse, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	d, err := s.deskOf(ctx, req.GetProjectId())
	if err != nil {
		return nil, err
	}
	before, err := s.recorded(ctx, d, req.GetLaunchId())
	if err != nil {
		return nil, err
	}
	var after *told
	if other := req.GetOtherLaunchId(); other != "" {
		after, err = s.recorded(ctx, d, other)
	} else {
		r := &refresh{before: before}
		err = s.recompose(ctx, r)
		after = r.after
	}
	if err != nil {
		return nil, err
	}
	out := &launcherv1.DiffContextResponse{DigestBefore: before.Digest, DigestAfter: after.Digest}
	for _, c := range changes(before, after) {
		out.Sections = append(out.Sections, sectionDiff(c, before.section(c.GetSection()), after.section(c.GetSection())))
	}
	return out, nil
}

// recorded returns what a launch was told, whether it lives or not.
func (s *Service) recorded(ctx context.Context, d *desk, id string) (*told, error) {
	d.mu.Lock()
	_, err := d.find(id)
	d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	t, err := s.toldOf(ctx, d, id)
	if err == nil && t == nil {
		err = toldUnknown(id)
	}
	return t, err
}

func sectionDiff(c *launcherv1.ContextChange, before, after *toldSection) *launcherv1.SectionDiff {
	out := &launcherv1.SectionDiff{Change: c}
	var a, b string
	for _, side := range []struct {
		section *toldSection
		text    *string
	}{{before, &a}, {after, &b}} {
		if side.section == nil {
			continue
		}
		if side.section.Missing {
			out.TextMissing = true
			return out
		}
		*side.text = withFinalNewline(side.section.Text)
	}
	out.Lines, out.Truncated = diffLines(a, b)
	return out
}

// lineOverhead is what a CLI that shows a change adds to each line: a number.
const lineOverhead = 8

// changeSize is about how many bytes a CLI that shows a change has to show.
func changeSize(before, after *told) (size int64) {
	for _, c := range changes(before, after) {
		d := sectionDiff(c, before.section(c.GetSection()), after.section(c.GetSection()))
		if d.GetTextMissing() || d.GetTruncated() {
			return math.MaxInt64
		}
		for _, l := range d.GetLines() {
			if l.GetOp() == launcherv1.DiffOp_DIFF_OP_SAME || l.GetOp() == launcherv1.DiffOp_DIFF_OP_ADDED {
				size += int64(len(l.GetText()) + lineOverhead)
			}
		}
	}
	return size
}

// withFinalNewline makes a last line equal to the same line before others.
func withFinalNewline(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// diffLines are the lines that differ, those around them, and the number of
// lines between.
func diffLines(before, after string) (lines []*launcherv1.DiffLine, truncated bool) {
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = diffTime
	a, b, index := dmp.DiffLinesToChars(before, after)
	diffs := dmp.DiffCharsToLines(dmp.DiffMain(a, b, false), index)
	add := func(op launcherv1.DiffOp, text string) {
		if len(lines) >= maxDiffLines {
			truncated = true
			return
		}
		if len(text) > maxDiffLine {
			text = strings.ToValidUTF8(text[:maxDiffLine-len("…")], "") + "…"
		}
		lines = append(lines, &launcherv1.DiffLine{Op: op, Text: text})
	}
	for i, d := range diffs {
		part := strings.Split(strings.TrimSuffix(d.Text, "\n"), "\n")
		switch d.Type {
		case diffmatchpatch.DiffInsert:
			for _, l := range part {
				add(launcherv1.DiffOp_DIFF_OP_ADDED, l)
			}
		case diffmatchpatch.DiffDelete:
			for _, l := range part {
				add(launcherv1.DiffOp_DIFF_OP_REMOVED, l)
			}
		case diffmatchpatch.DiffEqual:
			head, tail := aroundLines, aroundLines
			if i == 0 {
				head = 0
			}
			if i == len(diffs)-1 {
				tail = 0
			}
			if head+tail >= len(part) {
				head, tail = len(part), 0
			}
			for _, l := range part[:head] {
				add(launcherv1.DiffOp_DIFF_OP_SAME, l)
			}
			if skipped := len(part) - head - tail; skipped > 0 {
				add(launcherv1.DiffOp_DIFF_OP_SKIPPED, strconv.Itoa(skipped))
			}
			for _, l := range part[len(part)-tail:] {
				add(launcherv1.DiffOp_DIFF_OP_SAME, l)
			}
		}
	}
	return lines, truncated
}
