package stubmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// stream writes server-sent events whose data repeats the event's name as its
// type, the form of both protocols.
type stream struct{ w http.ResponseWriter }

func newStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	return stream{w}
}

func (s stream) send(event string, data map[string]any) {
	data["type"] = event
	b, _ := json.Marshal(data)
	fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", event, b)
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (s *Server) anthropic(w http.ResponseWriter, r Request, reply Reply) {
	type m = map[string]any
	block, delta, stop := m{"type": "text", "text": ""}, m{"type": "text_delta", "text": reply.Text}, "end_turn"
	if c := reply.Call; c != nil {
		args, _ := json.Marshal(c.Args)
		block = m{"type": "tool_use", "id": s.nextID("toolu"), "name": c.Name, "input": m{}}
		delta = m{"type": "input_json_delta", "partial_json": string(args)}
		stop = "tool_use"
	}
	usage := m{"input_tokens": 1000, "output_tokens": 10, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
	message := m{"id": s.nextID("msg"), "type": "message", "role": "assistant", "model": r.Body["model"],
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}
	if stream, _ := r.Body["stream"].(bool); !stream {
		message["stop_reason"] = stop
		if reply.Call != nil {
			block["input"] = reply.Call.Args
		} else {
			block["text"] = reply.Text
		}
		message["content"] = []any{block}
		writeJSON(w, message)
		return
	}
	ev := newStream(w)
	ev.send("message_start", m{"message": message})
	ev.send("content_block_start", m{"index": 0, "content_block": block})
	ev.send("content_block_delta", m{"index": 0, "delta": delta})
	ev.send("content_block_stop", m{"index": 0})
	ev.send("message_delta", m{"delta": m{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	ev.send("message_stop", m{})
}

func (s *Server) responses(w http.ResponseWriter, r Request, reply Reply) {
	type m = map[string]any
	part := m{"type": "output_text", "text": reply.Text, "annotations": []any{}}
	item := m{"type": "message", "id": s.nextID("msg"), "role": "assistant", "status": "completed", "content": []any{part}}
	if c := reply.Call; c != nil {
		args, _ := json.Marshal(c.Args)
		item = m{"type": "function_call", "id": s.nextID("fc"), "call_id": s.nextID("call"),
			"status": "completed", "name": c.Name, "arguments": string(args)}
		if c.Namespace != "" {
			item["namespace"] = c.Namespace
		}
	}
	response := func(status string, output []any) m {
		return m{"id": "resp", "object": "response", "model": r.Body["model"], "status": status, "output": output,
			"usage": m{"input_tokens": 1000, "input_tokens_details": m{"cached_tokens": 0},
				"output_tokens": 10, "output_tokens_details": m{"reasoning_tokens": 0}, "total_tokens": 1010}}
	}
	ev := newStream(w)
	ev.send("response.created", m{"response": response("in_progress", []any{})})
	ev.send("response.output_item.added", m{"output_index": 0, "item": item})
	if reply.Call == nil {
		at := func(extra m) m {
			extra["item_id"], extra["output_index"], extra["content_index"] = item["id"], 0, 0
			return extra
		}
		ev.send("response.content_part.added", at(m{"part": part}))
		ev.send("response.output_text.delta", at(m{"delta": reply.Text}))
		ev.send("response.output_text.done", at(m{"text": reply.Text}))
	}
	ev.send("response.output_item.done", m{"output_index": 0, "item": item})
	ev.send("response.completed", m{"response": response("completed", []any{item})})
}
