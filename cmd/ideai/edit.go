package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/merge3"
)

// draft is a document that a person edits.
type draft struct {
	name string // of the copy, with its ending
	text string // as read
	etag string
	// unchanged answers an edit that changed nothing.
	unchanged proto.Message
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
func (a *app) edit(ctx context.Context, d draft) (answer proto.Message, changed bool, err error) {
	path, err := a.copyToEdit(d.name, d.text)
	if err != nil {
		return nil, false, err
	}
	if err := a.runEditor(ctx, path); err != nil {
		return nil, false, &keptError{err, path}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, false, err
	}
	mine := string(data)
	if mine == d.text {
		return d.unchanged, false, os.Remove(path)
	}
	base, etag := d.text, d.etag
	for range saveAttempts {
		m, err := d.save(ctx, mine, etag)
		if err == nil {
			return m, true, os.Remove(path)
		}
		if fault.ReasonOf(err) != fault.StaleEtag {
			return nil, false, &keptError{err, path}
		}
		theirs, now, err2 := d.current(ctx)
		if err2 != nil {
			return nil, false, &keptError{errors.Join(err, err2), path}
		}
		merged, ok := merge3.Merge(base, mine, theirs)
		if !ok {
			return nil, false, &keptError{err, path}
		}
		a.remark("someone else changed %s meanwhile; both changes were joined", d.name)
		base, mine, etag = theirs, merged, now
	}
	return nil, false, &keptError{fault.New(fault.StaleEtag, fault.Meta{"current_etag": etag},
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
