package prove

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxRequest bounds what is read of one request, in bytes.
const maxRequest = 64 << 20

// reply is what the stand-in answers: a tool call when call is set, else a text.
type reply struct {
	text string
	call *call
}

type call struct {
	tool offer
	args map[string]any
}

// protocol is one way of CLIs to speak with a model.
type protocol struct {
	// asks reports whether a path asks the model for an answer.
	asks func(path string) bool
	// answer writes a reply in the form that the request asks for.
	answer func(w *answer, path string, body *node, r reply)
	// other answers what is no question to the model, such as a list of models;
	// nil = an empty object.
	other func(path string) any
}

var protocols = map[string]protocol{
	"anthropic_messages": anthropicMessages,
	"gemini":             gemini,
	"openai_chat":        openaiChat,
	"openai_responses":   openaiResponses,
}

// Protocols are the names that a profile may give as its protocol.
func Protocols() []string { return slices.Sorted(maps.Keys(protocols)) }

// request is a question to the model.
type request struct {
	doc   node
	tools []offer
}

// stub stands in for the model on loopback.
type stub struct {
	url      string
	protocol protocol
	server   *http.Server
	done     chan struct{}

	mu        sync.Mutex
	ids       int
	names     map[string]string // of our tools, as the CLI names them, by bare name
	tool      string            // to call once in a run
	args      map[string]any
	word      string // the answer to all that calls no tool
	called    bool
	requests  []request
	elsewhere []string // hosts that the CLI wanted to reach
}

func startStub(ctx context.Context, p protocol) (*stub, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a port on loopback: %w", err)
	}
	s := &stub{url: "http://" + l.Addr().String(), protocol: p, done: make(chan struct{})}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(l)
	}()
	return s, nil
}

func (s *stub) close() {
	_ = s.server.Close()
	<-s.done
}

// begin forgets the requests so far. The first answer that can calls the tool,
// the others are the word.
func (s *stub) begin(names map[string]string, tool string, args map[string]any, word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = names
	s.tool, s.args, s.word, s.called = tool, args, word, false
	s.requests, s.elsewhere = nil, nil
}

// hasCalled reports whether the tool was called since begin.
func (s *stub) hasCalled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.called
}

// say changes the word.
func (s *stub) say(word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.word = word
}

// seen is what came since begin.
func (s *stub) seen() (requests []request, called bool, elsewhere []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests), s.called, slices.Clone(s.elsewhere)
}

// ServeHTTP answers a CLI. It is a dead end for a proxy's client: what a CLI
// wants to reach beside the model is noted and refused.
func (s *stub) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if host := req.URL.Host; req.Method == http.MethodConnect || host != "" && "http://"+host != s.url {
		s.note(req.Host)
		http.Error(w, "offline", http.StatusForbidden)
		return
	}
	path := req.URL.Path
	out := &answer{w: w, nextID: s.nextID}
	if req.Method != http.MethodPost || !s.protocol.asks(path) {
		var other any
		if s.protocol.other != nil {
			other = s.protocol.other(path)
		}
		if other == nil {
			other = struct{}{}
		}
		out.json(other)
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxRequest))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	doc, err := parse(raw)
	if err != nil {
		http.Error(w, "not JSON: "+err.Error(), http.StatusBadRequest)
		return
	}
	s.protocol.answer(out, path, &doc, s.record(doc))
}

func (s *stub) note(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.elsewhere, host) && len(s.elsewhere) < 32 {
		s.elsewhere = append(s.elsewhere, host)
	}
}

// record keeps a question and decides the reply.
func (s *stub) record(doc node) reply {
	r := request{doc: doc, tools: doc.offers()}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.tools = append(r.tools, s.deferred(&r)...)
	s.requests = append(s.requests, r)
	if tool, ok := findTool(r.tools, s.tool); ok && !s.called {
		s.called = true
		return reply{call: &call{tool: tool, args: s.args}}
	}
	return reply{text: s.word}
}

// deferred are our tools that a request only names, for the model to look up:
// by the CLI's name for them, which no text of ours has.
func (s *stub) deferred(r *request) []offer {
	if len(r.tools) == 0 {
		return nil // no turn of the conversation
	}
	var out []offer
	text := r.doc.allText()
	for bare, name := range s.names {
		if _, ok := findTool(r.tools, bare); !ok && name != bare && strings.Contains(text, name) {
			out = append(out, offer{name: name})
		}
	}
	return out
}

// findTool finds one of our tools by its bare name: CLIs put a prefix before
// it, or keep it in a namespace.
func findTool(offers []offer, bare string) (offer, bool) {
	for _, o := range offers {
		if bare != "" && strings.HasSuffix(o.name, bare) {
			return o, true
		}
	}
	return offer{}, false
}

func (s *stub) nextID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprintf("%06d", s.ids)
}
