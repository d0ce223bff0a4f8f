package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"github.com/idea-ide/ideai/internal/fault"
)

const settingsFile = ".ideai/project.yaml"

// names are the keys of project.yaml that this package reads.
type names struct {
	ID      string   `yaml:"id"`
	Aliases []string `yaml:"aliases"`
}

// readNames reads a project's own id and aliases, empty when the file is
// absent. A link out of the project is refused, and so is an id that is none.
func readNames(root string) (names, error) {
	tree, err := os.OpenRoot(root)
	if err != nil {
		return names{}, unreadable(root, err)
	}
	defer func() { _ = tree.Close() }()
	f, err := tree.Open(settingsFile)
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

func parseNames(data []byte) (n names, err error) {
	// The YAML library panics on some input that no one writes by accident.
	defer func() {
		if recover() != nil {
			n, err = names{}, badSettings(1, "is not YAML that can be read; write it anew")
		}
	}()
	if err := yaml.Unmarshal(data, &n); err != nil {
		return names{}, badSettings(errorLine(err), "is not YAML that can be read: %s", yaml.FormatError(err, false, false))
	}
	for _, id := range append([]string{n.ID}, n.Aliases...) {
		if id != "" && !ValidID(id) {
			return names{}, badSettings(lineOf(data, "$.id"), "has the id %q; an id is 1 to 63 of a-z, 0-9, '.', '_' and '-', beginning and ending with a letter or digit", id)
		}
	}
	return n, nil
}

func badSettings(line int, format string, args ...any) error {
	return fault.New(fault.Damaged, fault.Meta{"name": settingsFile, "line": strconv.Itoa(line)},
		"%s, line %d, %s", settingsFile, line, fmt.Sprintf(format, args...))
}

func errorLine(err error) int {
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
		return at.GetToken().Position.Line
	}
	return 1
}

func lineOf(data []byte, path string) int {
	p, err := yaml.PathString(path)
	if err != nil {
		return 1
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return 1
	}
	node, err := p.FilterFile(file)
	if err != nil || node.GetToken() == nil {
		return 1
	}
	return node.GetToken().Position.Line
}
