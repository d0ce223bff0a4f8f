// Package stubmodel is a model API on loopback for tests with real CLIs. It
// speaks Anthropic Messages, OpenAI Responses and Chat Completions, and Gemini's
// generateContent well enough that a CLI finishes its turns, keeps every request, and answers by a script, so that a
// test can see exactly what a model would have been sent and let it call tools.
package stubmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Call is a tool call the model makes. Namespace is for OpenAI's namespaced
// tools (codex declares an MCP server as one) and empty elsewhere.
type Call struct {
	Namespace, Name string
	Args            any
}

// Reply is one answer: a tool call when Call is set, else Text.
type Reply struct {
	Text string
	Call *Call
}

// Request is one recorded model request.
type Request struct {
	Path string
	Body map[string]any
}

// Script answers a request. turn counts the tool results that the request
// holds after its last user prompt, so 0 is the first answer to a prompt.
type Script func(r Request, turn int) Reply

// Server is the stub. Its methods may be called while CLIs talk to it.
type Server struct {
	URL string

	mu       sync.Mutex
	script   Script
	requests []Request
	ids      int
}

// Start runs a stub until the test ends. Without a script it answers "ok".
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{script: func(Request, int) Reply { return Reply{Text: "ok"} }}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// SetScript replaces the script.
func (s *Server) SetScript(f Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = f
}

// Requests returns the model requests so far, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Reset forgets the recorded requests.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// Text returns every string of the request's body joined by newlines: what the
// model would read, instructions and tool schemas included.
func (r Request) Text() string {
	var b strings.Builder
	walkStrings(r.Body, func(s string) { b.WriteString(s); b.WriteByte('\n') })
	return b.String()
}

// ToolResults returns the texts of the tool results in the request.
func (r Request) ToolResults() string {
	var b strings.Builder
	for _, item := range history(r.Body) {
		if isToolResult(item) {
			walkStrings(item, func(s string) { b.WriteString(s); b.WriteByte('\n') })
		}
	}
	return b.String()
}

// MainTurn reports whether the request is a turn of the conversation, not one
// of the small side requests (titles, classifiers) some CLIs make.
func (r Request) MainTurn() bool {
	if tools, _ := r.Body["tools"].([]any); len(tools) > 0 {
		return true
	}
	for _, item := range history(r.Body) {
		if item["type"] == "additional_tools" { // codex, for its newest models
			return true
		}
	}
	return false
}

func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var body map[string]any
	_ = json.Unmarshal(raw, &body)
	path := req.URL.Path
	switch {
	case strings.HasSuffix(path, "/count_tokens"):
		writeJSON(w, map[string]any{"input_tokens": 1000})
	case strings.HasSuffix(path, "/messages"):
		s.answer(w, Request{Path: path, Body: body}, s.anthropic)
	case strings.HasSuffix(path, "/responses"):
		s.answer(w, Request{Path: path, Body: body}, s.responses)
	case strings.HasSuffix(path, "/chat/completions"):
		s.answer(w, Request{Path: path, Body: body}, s.chat)
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		s.answer(w, Request{Path: path, Body: body}, s.gemini)
	case strings.HasSuffix(path, "/models"):
		writeJSON(w, map[string]any{"object": "list", "data": []any{}, "models": []any{}})
	default:
		writeJSON(w, map[string]any{})
	}
}

func (s *Server) answer(w http.ResponseWriter, r Request, write func(http.ResponseWriter, Request, Reply)) {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	script := s.script
	s.mu.Unlock()
	reply := Reply{Text: "ok"}
	if r.MainTurn() {
		reply = script(r, resultsSincePrompt(r.Body))
	}
	write(w, r, reply)
}

func (s *Server) nextID(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprintf("%s_%06d", prefix, s.ids)
}

// history returns the conversation items of any protocol.
func history(body map[string]any) []map[string]any {
	var list []any
	for _, name := range []string{"messages", "input", "contents"} {
		if l, ok := body[name].([]any); ok {
			list = l
			break
		}
	}
	var out []map[string]any
	for _, it := range list {
		if m, ok := it.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func isToolResult(item map[string]any) bool {
	if t, _ := item["type"].(string); strings.HasSuffix(t, "_output") {
		return true
	}
	if item["role"] == "tool" {
		return true
	}
	for _, name := range []string{"content", "parts"} {
		parts, _ := item[name].([]any)
		for _, p := range parts {
			if m, ok := p.(map[string]any); ok && (m["type"] == "tool_result" || m["functionResponse"] != nil) {
				return true
			}
		}
	}
	return false
}

func resultsSincePrompt(body map[string]any) int {
	n := 0
	for _, item := range history(body) {
		switch {
		case isToolResult(item):
			n++
		case item["role"] == "user":
			n = 0
		}
	}
	return n
}

func walkStrings(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, e := range v {
			walkStrings(e, f)
		}
	case map[string]any:
		for _, e := range v {
			walkStrings(e, f)
		}
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
