package stubmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// chat answers OpenAI Chat Completions.
func (s *Server) chat(w http.ResponseWriter, r Request, reply Reply) {
	type m = map[string]any
	message, finish := m{"role": "assistant", "content": reply.Text}, "stop"
	if c := reply.Call; c != nil {
		args, _ := json.Marshal(c.Args)
		message = m{"role": "assistant", "content": nil, "tool_calls": []any{m{
			"index": 0, "id": s.nextID("call"), "type": "function", "function": m{"name": c.Name, "arguments": string(args)}}}}
		finish = "tool_calls"
	}
	usage := m{"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
	answer := func(object, part string, content m, reason any) m {
		return m{"id": "chat", "object": object, "created": 1, "model": r.Body["model"], "usage": usage,
			"choices": []any{m{"index": 0, part: content, "finish_reason": reason}}}
	}
	if stream, _ := r.Body["stream"].(bool); !stream {
		writeJSON(w, answer("chat.completion", "message", message, finish))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, chunk := range []m{
		answer("chat.completion.chunk", "delta", message, nil),
		answer("chat.completion.chunk", "delta", m{}, finish),
	} {
		b, _ := json.Marshal(chunk)
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// gemini answers Gemini's generateContent, in one piece or as a stream of one.
func (s *Server) gemini(w http.ResponseWriter, r Request, reply Reply) {
	type m = map[string]any
	part := m{"text": reply.Text}
	if c := reply.Call; c != nil {
		part = m{"functionCall": m{"id": s.nextID("call"), "name": c.Name, "args": c.Args}}
	}
	if !r.MainTurn() { // its router wants a grade
		part = m{"text": `{"complexity_reasoning":"plain","complexity_score":1}`}
	}
	answer := m{
		"candidates":    []any{m{"index": 0, "finishReason": "STOP", "content": m{"role": "model", "parts": []any{part}}}},
		"usageMetadata": m{"promptTokenCount": 1000, "candidatesTokenCount": 10, "totalTokenCount": 1010},
	}
	if strings.HasSuffix(r.Path, ":generateContent") {
		writeJSON(w, answer)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	b, _ := json.Marshal(answer)
	fmt.Fprintf(w, "data: %s\n\n", b)
}
