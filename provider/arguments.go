package provider

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idea-ide/ideai/internal/fault"
)

// Arguments tells how the CLI reads its arguments, as far as ideai must know.
// A flag in none of the lists is a switch without a value.
type Arguments struct {
	Value    []string `yaml:"value"`    // flags that take one value
	Optional []string `yaml:"optional"` // flags that take a value unless a flag follows
	Variadic []string `yaml:"variadic"` // flags that take every value up to the next flag
	Config   []string `yaml:"config"`   // those of Value that take key=value
	Headless []string `yaml:"headless"` // flags of the print mode
	// HeadlessPrompt tells that a prompt beside the flags is answered in the
	// print mode too.
	HeadlessPrompt bool     `yaml:"headless_prompt"`
	Interactive    []string `yaml:"interactive"` // flags that keep the terminal in spite of a prompt or command
	Prompt         []string `yaml:"prompt"`      // flags that take a value whose value is the first prompt
	// Folder tells that the first value is no prompt but the folder to start in.
	Folder   bool      `yaml:"folder"`
	Resume   []string  `yaml:"resume"` // flags that continue a session
	Fork     []string  `yaml:"fork"`   // flags that continue a copy of it
	Newest   []string  `yaml:"newest"` // flags that stand for a session id
	Info     []string  `yaml:"info"`   // flags that only print something
	Manage   []string  `yaml:"manage"` // subcommands that start no session
	Commands []Command `yaml:"commands"`
}

// Command is a subcommand; a nested one has a space in its name.
type Command struct {
	Names    []string `yaml:"names"`
	Headless bool     `yaml:"headless"`
	Resume   bool     `yaml:"resume"` // its first value is a session id
	Fork     bool     `yaml:"fork"`
}

// Conflict is a group of the person's arguments or variables that does not go together
// with a launch, or with some carriers only.
type Conflict struct {
	Flags    []string `yaml:"flags"`
	Config   []string `yaml:"config"`   // keys given by a flag of Arguments.Config
	Env      []string `yaml:"env"`      // variables of the person's environment
	Carriers []string `yaml:"carriers"` // empty = the whole launch
	Why      string   `yaml:"why"`      // completes "… cannot be used here: "
}

// Invocation is what a person's arguments ask for.
type Invocation struct {
	// Kind is Fresh, NativeResume or Headless.
	Kind Kind
	// Headless tells that the CLI will not use the terminal.
	Headless bool
	// Manage tells that no session begins (help, login, settings): the CLI is
	// started as it is, without a context.
	Manage bool
	// Session is the id to resume, "" for the newest one or a choice.
	Session string
	// Fork tells that the resumed session is copied.
	Fork bool
	// Prompt is the first prompt, "" when it comes by other ways.
	Prompt string
	// Env names those of Profile.ConflictEnv that the person has set. ReadArgs
	// leaves it to the caller.
	Env []string

	flags  []string // as written, without values
	config []string // keys
}

// ReadArgs understands the person's arguments as the CLI would. It never
// fails: what the profile does not know is a switch or a prompt.
func (p *Profile) ReadArgs(args []string) Invocation {
	r := argReader{spec: &p.Arguments, rest: args}
	r.read()
	return r.result()
}

// CheckArgs fails with ARGUMENT_CONFLICT when the person's arguments cannot go
// together with a launch by ideai at all.
func (p *Profile) CheckArgs(inv Invocation) error { return p.conflict(inv, "") }

// conflict returns the first conflict of the arguments with a carrier, or with
// the launch when carrier is empty.
func (p *Profile) conflict(inv Invocation, carrier string) error {
	for _, c := range p.Conflicts {
		if carrier == "" && len(c.Carriers) > 0 || carrier != "" && !slices.Contains(c.Carriers, carrier) {
			continue
		}
		if arg, found := c.meets(inv, p.Arguments.Config); found {
			return fault.New(fault.ArgumentConflict, fault.Meta{"profile": p.ID, "argument": arg},
				"%s cannot be used here: %s", arg, c.Why)
		}
	}
	return nil
}

func (c *Conflict) meets(inv Invocation, configFlags []string) (string, bool) {
	for _, f := range inv.flags {
		if slices.Contains(c.Flags, f) {
			return f, true
		}
	}
	for _, name := range inv.Env {
		if slices.Contains(c.Env, name) {
			return name, true
		}
	}
	for _, key := range inv.config {
		for _, k := range c.Config {
			// A value for a table replaces what lies in it.
			if key == k || strings.HasPrefix(key, k+".") || strings.HasPrefix(k, key+".") {
				return configFlags[0] + " " + key, true
			}
		}
	}
	return "", false
}

// ConflictEnv names the variables that matter when the person has set them.
func (p *Profile) ConflictEnv() []string {
	var names []string
	for _, c := range p.Conflicts {
		names = append(names, c.Env...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (p *Profile) checkConflicts() error {
	for _, c := range p.Conflicts {
		if c.Why == "" || len(c.Flags)+len(c.Config)+len(c.Env) == 0 {
			return fmt.Errorf("a conflict needs why, and flags, config or env")
		}
		if len(c.Config) > 0 && len(p.Arguments.Config) == 0 {
			return fmt.Errorf("conflict %v: arguments.config is empty", c.Config)
		}
		for _, name := range c.Carriers {
			if !slices.ContainsFunc(p.Carriers, func(o Carrier) bool { return o.Name == name }) {
				return fmt.Errorf("conflict %v %v: there is no carrier %q", c.Flags, c.Config, name)
			}
		}
	}
	return nil
}

// Argv puts our arguments before the person's own, which stay as they are. The
// first element of the result is binary.
func Argv(binary string, ours []Arg, person []string) []Arg {
	out := make([]Arg, 0, 1+len(ours)+len(person))
	out = append(append(out, Arg{Value: binary}), ours...)
	for _, a := range person {
		out = append(out, Arg{Value: a})
	}
	return out
}

// argReader walks over arguments.
type argReader struct {
	spec    *Arguments
	rest    []string
	command Command
	path    string // of the command
	manage  bool
	flags   []string
	config  []string
	session string
	prompt  string   // of a flag
	values  []string // what is no flag and no command
}

func (r *argReader) read() {
	for len(r.rest) > 0 && !r.manage {
		arg := r.next()
		switch {
		case arg == "--":
			r.values = append(r.values, r.rest...)
			return
		case len(arg) > 1 && arg[0] == '-':
			r.flag(arg)
		case !r.enter(arg):
			r.values = append(r.values, arg)
		}
	}
}

func (r *argReader) next() string {
	arg := r.rest[0]
	r.rest = r.rest[1:]
	return arg
}

// enter goes into a subcommand, if arg is one where it stands.
func (r *argReader) enter(arg string) bool {
	if len(r.values) > 0 {
		return false
	}
	path := strings.TrimPrefix(r.path+" "+arg, " ")
	if slices.Contains(r.spec.Manage, path) {
		r.manage = true
		return true
	}
	for _, c := range r.spec.Commands {
		if slices.Contains(c.Names, path) {
			r.command, r.path = c, c.Names[0]
			return true
		}
	}
	return false
}

func (r *argReader) flag(arg string) {
	name, value, attached := strings.Cut(arg, "=")
	if short := len(name) > 2 && name[1] != '-'; short && !r.known(name) {
		r.cluster(arg)
		return
	}
	r.flags = append(r.flags, name)
	switch {
	case attached:
	case slices.Contains(r.spec.Value, name):
		value = r.take()
	case slices.Contains(r.spec.Optional, name) && r.valueFollows():
		value = r.next()
	case slices.Contains(r.spec.Variadic, name):
		for r.valueFollows() {
			r.next()
		}
	}
	r.keep(name, value)
}

// cluster reads -abc as -a -b -c, or as -a with the value bc.
func (r *argReader) cluster(arg string) {
	for i := 1; i < len(arg); i++ {
		name, tail := "-"+arg[i:i+1], arg[i+1:]
		r.flags = append(r.flags, name)
		takes := slices.Contains(r.spec.Value, name) || slices.Contains(r.spec.Optional, name)
		switch {
		case takes && tail != "":
			r.keep(name, strings.TrimPrefix(tail, "="))
			return
		case slices.Contains(r.spec.Value, name):
			r.keep(name, r.take())
		case takes && r.valueFollows():
			r.keep(name, r.next())
		}
	}
}

// keep remembers the values that matter.
func (r *argReader) keep(name, value string) {
	if slices.Contains(r.spec.Config, name) {
		key, _, _ := strings.Cut(value, "=")
		r.config = append(r.config, strings.TrimSpace(key))
	}
	if slices.Contains(r.spec.Resume, name) && value != "" {
		r.session = value
	}
	if slices.Contains(r.spec.Prompt, name) {
		r.prompt = value
	}
}

func (r *argReader) take() string {
	if len(r.rest) == 0 {
		return ""
	}
	return r.next()
}

func (r *argReader) valueFollows() bool {
	return len(r.rest) > 0 && !strings.HasPrefix(r.rest[0], "-")
}

func (r *argReader) known(name string) bool {
	s := r.spec
	for _, list := range [][]string{s.Value, s.Optional, s.Variadic, s.Headless, s.Interactive, s.Resume, s.Fork, s.Newest, s.Info} {
		if slices.Contains(list, name) {
			return true
		}
	}
	return false
}

func (r *argReader) has(list []string) bool {
	return slices.ContainsFunc(r.flags, func(f string) bool { return slices.Contains(list, f) })
}

func (r *argReader) result() Invocation {
	inv := Invocation{
		Kind:    Fresh,
		Manage:  r.manage || r.has(r.spec.Info),
		Session: r.session,
		Fork:    r.command.Fork || r.has(r.spec.Fork),
		Prompt:  r.prompt,
		flags:   r.flags,
		config:  r.config,
	}
	values := r.values
	switch {
	case r.command.Resume && !r.has(r.spec.Newest) && len(values) > 0:
		inv.Session, values = values[0], values[1:]
	case r.spec.Folder && r.path == "" && len(values) > 0:
		values = values[1:]
	}
	if inv.Prompt == "" && len(values) > 0 && values[0] != "-" {
		inv.Prompt = strings.Join(values, " ")
	}
	prints := r.command.Headless || r.spec.HeadlessPrompt && len(values) > 0
	inv.Headless = r.has(r.spec.Headless) || prints && !r.has(r.spec.Interactive)
	switch {
	case r.command.Resume || r.has(r.spec.Resume):
		inv.Kind = NativeResume
	case inv.Headless:
		inv.Kind = Headless
	}
	return inv
}
