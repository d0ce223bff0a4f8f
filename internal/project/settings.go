package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/idea-ide/ideai/internal/fault"
	"github.com/idea-ide/ideai/internal/frontmatter"
)

const settingsFile = ".ideai/project.yaml"

// names are the keys of project.yaml that this package reads.
type names struct {
	ID      string
	Aliases []string
}

// readNames reads a project's own id and aliases, empty when the file is
// absent. A link out of the project is refused, and so is an id that is none.
func readNames(root string) (names, error) {
	tree, err := os.OpenRoot(root)
	if err != nil {
		return names{}, unreadable(root, err)
	}
	defer func() { _ = tree.Close() }()
	f, err := regular(tree.OpenFile(settingsFile, readNow, 0))
	if name, _ := link(root); errors.Is(err, fs.ErrNotExist) && name == "" {
		return names{}, nil
	}
	if err != nil {
		return names{}, notOpened(root, err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return names{}, unreadable(filepath.Join(root, settingsFile), err)
	}
	return parseNames(data)
}

// notOpened explains why the settings did not open: a link out of the project,
// or whatever the system says.
func notOpened(root string, err error) error {
	if name, target := link(root); name != "" {
		return fault.New(fault.OutsideProject, fault.Meta{"name": name, "target": target},
			"%s is a link to %s, which is out of the project or missing; replace it by the file itself", name, target).Wrap(err)
	}
	return unreadable(filepath.Join(root, settingsFile), err)
}

// link returns the first part of the settings' path that is a symbolic link.
func link(root string) (name, target string) {
	for _, name := range []string{".ideai", settingsFile} {
		if target, err := os.Readlink(filepath.Join(root, name)); err == nil {
			return name, target
		}
	}
	return "", ""
}

func parseNames(data []byte) (names, error) {
	doc, err := frontmatter.ParseYAML(data)
	var broken *frontmatter.Error
	if errors.As(err, &broken) {
		return names{}, badSettings(broken.Line, "cannot be read: %s; mend this line", broken.Msg)
	}
	id, isText := doc.String("id")
	if line := doc.Line("id"); line > 0 && (!isText || id != "" && !ValidID(id)) {
		return names{}, badSettings(line, "the id %q is not valid; an id is 1 to 63 of a-z, 0-9, '.', '_' and '-', beginning and ending with a letter or digit", id)
	}
	aliases, isList := doc.Strings("aliases")
	if line := doc.Line("aliases"); line > 0 && (!isList || !all(aliases, ValidID)) {
		return names{}, badSettings(line, "aliases must be a list of ids; write aliases: [one, two]")
	}
	return names{ID: id, Aliases: aliases}, nil
}

func all(list []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !ok(s) })
}

func badSettings(line int, format string, args ...any) error {
	return fault.New(fault.Damaged, fault.Meta{"name": settingsFile, "line": strconv.Itoa(line)},
		"%s, line %d: %s", settingsFile, line, fmt.Sprintf(format, args...))
}
