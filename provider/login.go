package provider

import (
	"errors"
	"slices"
	"strings"
)

// LoginState says whether a person is logged in to a CLI, as far as can be
// told without looking into anything.
type LoginState string

// The states of a login.
const (
	LoggedIn     LoginState = "yes"
	LoggedOut    LoginState = "no"
	LoginUnknown LoginState = "unknown"
)

// Login says how the presence of a login shows. The content of a credential is
// never looked at.
type Login struct {
	// Env names variables any of which stands for a login.
	Env []string `yaml:"env"`
	// Files say where the credential file lies: the first whose variable is
	// set. ~/ stands for the home, $NAME/ for what a variable names.
	Files []string `yaml:"files"`
	// Maybe says in the same way where settings lie that can name another way
	// in: where they are, no credential file means unknown.
	Maybe []string `yaml:"maybe"`
	// Elsewhere names operating systems on which credentials may also lie
	// where no file shows, such as a key chain: there, no file means unknown.
	Elsewhere []string `yaml:"elsewhere"`
	// Command is what a person runs to log in.
	Command string `yaml:"command"`
}

// State tells whether the person is logged in, on an operating system of Go's
// name, and by which variable or file.
func (l *Login) State(os string, getenv func(string) string, exists func(path string) bool) (state LoginState, by string) {
	for _, name := range l.Env {
		if getenv(name) != "" {
			return LoggedIn, "$" + name
		}
	}
	credential := place(l.Files, getenv)
	if credential != "" && exists(credential) {
		return LoggedIn, credential
	}
	settings := place(l.Maybe, getenv)
	if credential == "" || slices.Contains(l.Elsewhere, os) || settings != "" && exists(settings) {
		return LoginUnknown, ""
	}
	return LoggedOut, ""
}

// place is the first of the files whose variable is set, "" for none.
func place(files []string, getenv func(string) string) string {
	for _, f := range files {
		name, rest, _ := strings.Cut(f, "/")
		base := getenv(strings.TrimPrefix(name, "$"))
		if name == "~" {
			base = getenv("HOME")
		}
		if base != "" {
			return strings.TrimSuffix(base, "/") + "/" + rest
		}
	}
	return ""
}

func (l *Login) check() error {
	for _, f := range slices.Concat(l.Files, l.Maybe) {
		name, rest, _ := strings.Cut(f, "/")
		if rest == "" || name != "~" && !strings.HasPrefix(name, "$") {
			return errors.New("a file begins with ~/ or $NAME/")
		}
	}
	return nil
}
