package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/mattn/go-isatty"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/idea-ide/ideai/internal/safetext"
)

// terminal is where a command reads and writes. Answers go to out; everything
// said about them, questions included, goes to err.
type terminal struct {
	in       io.Reader
	out, err io.Writer
	lang     string // en or fr
	asJSON   bool
	colour   bool // out is a terminal that takes colour
	people   bool // in is a terminal: there is someone to ask, at questions
	// questions is standard error or, when that goes elsewhere, the terminal.
	questions   io.Writer
	interrupted <-chan struct{} // closed when the person ends the command
}

func newTerminal(in, out, errOut *os.File) *terminal {
	tty := isatty.IsTerminal(out.Fd())
	_, noColour := os.LookupEnv("NO_COLOR")
	t := &terminal{
		in: in, out: out, err: errOut, questions: errOut,
		colour: tty && !noColour && os.Getenv("TERM") != "dumb",
		people: isatty.IsTerminal(in.Fd()),
	}
	if t.people && !isatty.IsTerminal(errOut.Fd()) {
		f, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
		t.questions, t.people = f, err == nil
	}
	return t
}

// say writes one line of an answer in the person's language. Texts among the
// arguments are shown with their hidden characters escaped.
func (t *terminal) say(format string, args ...any) { t.write(t.out, format, args) }

// remark writes one line about an answer, never into it.
func (t *terminal) remark(format string, args ...any) { t.write(t.err, "ideai: "+t.tr(format), args) }

func (t *terminal) write(w io.Writer, format string, args []any) {
	_, _ = fmt.Fprintf(w, t.tr(format)+"\n", escaped(args)...)
}

func escaped(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case string:
			out[i] = safetext.Escape(a)
		case error:
			out[i] = safetext.Escape(a.Error())
		default:
			out[i] = a
		}
	}
	return out
}

// block writes a text of several lines as it is, hidden characters escaped.
func (t *terminal) block(s string) {
	s = safetext.Escape(strings.ReplaceAll(s, "\r\n", "\n"))
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	_, _ = io.WriteString(t.out, s)
}

// show answers with a response: as JSON, or for people by their function.
func (t *terminal) show(m proto.Message, people func()) error {
	if !t.asJSON {
		people()
		return nil
	}
	data, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return err
	}
	return t.rawJSON(data)
}

// rawJSON writes JSON in one form: protojson spaces its output at random.
func (t *terminal) rawJSON(data []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := t.out.Write(b.Bytes())
	return err
}

// table writes rows under headings in the person's language.
func (t *terminal) table(headings []string, rows [][]any) {
	w := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.Options{}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	if t.colour {
		style.Color.Header = text.Colors{text.Bold}
	}
	w.SetStyle(style)
	w.SuppressTrailingSpaces()
	head := make(table.Row, len(headings))
	for i, h := range headings {
		head[i] = t.tr(h)
	}
	w.AppendHeader(head)
	for _, r := range rows {
		cells := make(table.Row, len(r))
		for i, c := range r {
			if s, ok := c.(string); ok {
				c = safetext.Escape(strings.Join(strings.Fields(s), " "))
			}
			cells[i] = c
		}
		w.AppendRow(cells)
	}
	if width := columns(t.out); t.colour && width > 40 {
		w.Style().Size.WidthMax = width
	}
	_, _ = io.WriteString(t.out, w.Render()+"\n")
}

// ask puts a question to the person and reports a yes. Anything else, also
// nobody to ask and the end of the command, is a no.
func (t *terminal) ask(format string, args ...any) bool {
	if !t.people {
		return false
	}
	_, _ = fmt.Fprintf(t.questions, t.tr(format)+t.tr(" [y/N] "), escaped(args)...)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(t.in).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-t.interrupted:
		return false
	case line := <-answer:
		return slices.Contains([]string{"y", "yes", "o", "oui"}, line)
	}
}
