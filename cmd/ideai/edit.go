package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/frontmatter"
	"github.com/idea-ide/ideai/internal/merge3"
)

// entry is one value of a document's front matter: a string or a list.
type entry struct {
	value any
	path  []string
}

// document writes front matter, entries without a value left out, and a body.
func document(body string, entries []entry) string {
	doc := frontmatter.New()
	for _, e := range entries {
		switch v := e.value.(type) {
		case string:
			if v == "" {
				continue
			}
		case []string:
			if len(v) == 0 {
				continue
			}
		}
		// The values come from a service that validated them.
		_ = doc.Set(e.value, e.path...)
	}
	doc.SetBody(body)
	return string(doc.Bytes())
}

// damaged is the fault for front matter that cannot be read.
func damaged(name string, err error) error {
	line, msg := 1, err.Error()
	var at *frontmatter.Error
	if errors.As(err, &at) {
		line, msg = at.Line, at.Msg
	}
	return fault.New(fault.Damaged, fault.Meta{"name": name, "line": strconv.Itoa(line)},
		"%s, line %d: %s", name, line, msg)
}

// draft is a document that a person edits.
type draft struct {
	name string // of the copy, with its ending
	text string // as read
	etag string
	// save stores a text over the state of an etag.
	save func(ctx context.Context, text, etag string) (proto.Message, error)
	// current reads the document again, after someone else changed it.
	current func(ctx context.Context) (text, etag string, err error)
}

// saveAttempts bounds how often a save is merged with what others saved.
const saveAttempts = 5

// edit opens a copy in the person's editor and saves what they made of it. When
// someone else saved meanwhile, the two are merged; where that cannot be done,
// or saving fails otherwise, the person's text stays in a file that is named.
// A nil message means that nothing was changed.
func (a *app) edit(ctx context.Context, d draft) (proto.Message, error) {
	path, err := a.copyToEdit(d.name, d.text)
	if err != nil {
		return nil, err
	}
	if err := a.runEditor(ctx, path); err != nil {
		return nil, &keptError{err, path}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	mine := string(data)
	if mine == d.text {
		return nil, os.Remove(path)
	}
	base, etag := d.text, d.etag
	for range saveAttempts {
		m, err := d.save(ctx, mine, etag)
		if err == nil {
			return m, os.Remove(path)
		}
		if fault.ReasonOf(err) != fault.StaleEtag {
			return nil, &keptError{err, path}
		}
		theirs, now, err2 := d.current(ctx)
		if err2 != nil {
			return nil, &keptError{errors.Join(err, err2), path}
		}
		merged, ok := merge3.Merge(base, mine, theirs)
		if !ok {
			return nil, &keptError{err, path}
		}
		a.remark("someone else changed %s meanwhile; both changes were joined", d.name)
		base, mine, etag = theirs, merged, now
	}
	return nil, &keptError{fault.New(fault.StaleEtag, fault.Meta{"current_etag": etag},
		"%s changes faster than it can be saved; try again later", d.name), path}
}

// copyToEdit writes the copy below the state directory, where it survives when
// it has to be kept.
func (a *app) copyToEdit(name, text string) (string, error) {
	dir := filepath.Join(a.config.StateDir, "edits")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	ext := filepath.Ext(name)
	stem := fmt.Sprintf("%s.%s.*%s", name[:len(name)-len(ext)], time.Now().Format("20060102-150405"), ext)
	f, err := os.CreateTemp(dir, stem)
	if err != nil {
		return "", err
	}
	_, werr := f.WriteString(text)
	return f.Name(), errors.Join(werr, f.Close())
}

// runEditor runs $VISUAL or $EDITOR as a shell would, so that it may have
// arguments, and waits for it.
func (a *app) runEditor(ctx context.Context, path string) error {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		editor = "vi"
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$@"`, editor, path) //nolint:gosec // the person's own editor
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, a.err, a.err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the editor %q failed (%w); nothing was saved", editor, err)
	}
	return nil
}
