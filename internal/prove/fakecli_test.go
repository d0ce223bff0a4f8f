package prove

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// fakeEnv says how the fake CLI behaves; the catalogue keeps it for claude.
const fakeEnv = "CLAUDE_CODE_FAKE"

func TestMain(m *testing.M) {
	if how := os.Getenv(fakeEnv); how != "" {
		syscall.Exit(runFake(how)) // os.Exit waits a second under the race detector
	}
	goleak.VerifyTestMain(m)
}

// fake is a CLI that takes claude's arguments and speaks its protocol.
type fake struct {
	how     string
	prompts []string
	context []string // texts of the context
	resumed bool
	print   bool
	tools   bool
	history []string
}

func runFake(how string) int {
	f := &fake{how: how}
	switch how {
	case "fails":
		fmt.Fprintln(os.Stderr, "cannot load the config\nsee the manual")
		return 3
	case "hangs", "stubborn":
		return hang(how == "stubborn")
	case "silent":
		return 0
	}
	if err := f.read(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if err := f.turn(f.prompts[0]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if f.print {
		fmt.Println(`{"session_id":"only-one"}`)
		return 0
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		f.tools = f.how != "no-tools"
		if err := f.turn(lines.Text()); err != nil {
			return 1
		}
	}
	return 0
}

// read understands the arguments and reads what they name.
func (f *fake) read(args []string) error {
	f.tools = slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--mcp-config=") }) && f.how != "no-tools"
	for i := 0; i < len(args); i++ {
		name, value, _ := strings.Cut(args[i], "=")
		switch name {
		case "--add-dir":
			f.load(filepath.Join(value, "CLAUDE.md"), f.how != "no-files")
		case "--append-system-prompt-file":
			f.load(value, true)
		case "-p":
			f.print = true
		case "--resume", "--output-format":
			i++
			f.resumed = f.resumed || name == "--resume"
		case "--continue":
			f.resumed = true
		default:
			if !strings.HasPrefix(name, "-") {
				f.prompts = append(f.prompts, args[i])
			}
		}
	}
	if f.print {
		piped, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		f.context = append(f.context, string(piped))
	} else {
		f.tools = false // they come late in a terminal
	}
	return f.remember()
}

func (f *fake) load(path string, wanted bool) {
	if b, err := os.ReadFile(path); err == nil && wanted {
		f.context = append(f.context, string(b))
	}
}

// remember goes on with the last session, or begins one.
func (f *fake) remember() error {
	path := filepath.Join(os.Getenv("HOME"), "session.json")
	if f.resumed {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, &f.history); err != nil {
			return err
		}
	}
	if f.resumed && f.how == "frozen" {
		f.context = nil
	}
	for i, text := range f.context {
		switch f.how {
		case "cuts":
			text = text[:len(text)*2/3]
		case "twice":
			text += text
		case "reorders":
			if at := strings.LastIndex(text[:max(0, strings.Index(text, "PERSONA-"))], "\n# "); at > 0 {
				text = text[at:] + text[:at]
			}
		}
		f.context[i] = text
	}
	f.history = append(f.history, f.context...)
	b, err := json.Marshal(f.history)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

// turn puts a prompt and does what the model asks for.
func (f *fake) turn(prompt string) error {
	f.history = append(f.history, prompt)
	for {
		text, calls, err := f.ask()
		if err != nil {
			return err
		}
		if !calls {
			fmt.Println(text)
			return nil
		}
		note, err := os.ReadFile(".ideai/memory/checklist.md")
		if err != nil {
			return err
		}
		if f.how == "denies" {
			note = []byte("permission denied")
		}
		f.history = append(f.history, string(note))
	}
}

func (f *fake) ask() (text string, calls bool, err error) {
	var content []object
	for _, h := range f.history {
		content = append(content, object{"type": "text", "text": h})
	}
	body := object{"model": "m", "messages": []any{object{"role": "user", "content": content}}}
	tools := []object{{"name": "Read", "description": "its own", "input_schema": object{}}}
	if f.tools {
		tools = append(tools, allowedTools()...)
	}
	body["tools"] = tools
	b, err := json.Marshal(body)
	if err != nil {
		return "", false, err
	}
	resp, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json", bytes.NewReader(b))
	if err != nil {
		return "", false, err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		StopReason string `json:"stop_reason"`
		Content    []struct{ Text, Name string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return "", false, err
	}
	return answer.Content[0].Text, answer.StopReason == "tool_use", nil
}

// allowedTools are the tools that the launch approves: exactly ours.
func allowedTools() []object {
	var out []object
	for _, a := range os.Args {
		if names, ok := strings.CutPrefix(a, "--allowedTools="); ok {
			for _, name := range strings.Split(names, ",") {
				out = append(out, object{"name": name, "description": "d", "input_schema": object{}})
			}
		}
	}
	return out
}
