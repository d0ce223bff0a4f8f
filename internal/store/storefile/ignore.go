package storefile

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

const ignoreFile = ".ideai/.gitignore"

// ignoreText keeps everything out of git, itself too, but the versioned names.
func ignoreText() string {
	var b strings.Builder
	b.WriteString("# Made by ideai: git keeps what is listed here, nothing else of this folder.\n*\n")
	for _, name := range versioned {
		if strings.Contains(name, ".") {
			b.WriteString("!/" + name + "\n")
		} else {
			b.WriteString("!/" + name + "/\n!/" + name + "/**\n")
		}
	}
	b.WriteString(tempPrefix + "*\n")
	return b.String()
}

// makeIgnore writes .ideai/.gitignore unless there is one, whatever it says.
func (s *Store) makeIgnore() error {
	f, err := s.root.OpenFile(ignoreFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(ignoreText())
	return errors.Join(err, f.Close())
}
