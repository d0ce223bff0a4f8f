package prove

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// object is a JSON object to send.
type object = map[string]any

// answer is where a reply is written.
type answer struct {
	w      http.ResponseWriter
	nextID func() string
}

func (a *answer) json(v any) {
	a.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(a.w).Encode(v)
}

// event sends a server-sent event whose data names its type too.
func (a *answer) event(name string, data object) {
	a.w.Header().Set("Content-Type", "text/event-stream")
	data["type"] = name
	b, _ := json.Marshal(data)
	_, _ = fmt.Fprintf(a.w, "event: %s\ndata: %s\n\n", name, b)
	if f, ok := a.w.(http.Flusher); ok {
		f.Flush()
	}
}

func encoded(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

var anthropicMessages = protocol{
	asks: func(path string) bool { return strings.HasSuffix(path, "/messages") },
	other: func(path string) any {
		if strings.HasSuffix(path, "/count_tokens") {
			return object{"input_tokens": 1000}
		}
		return object{"data": []any{}}
	},
	answer: func(a *answer, _ string, body *node, r reply) {
		block := object{"type": "text", "text": ""}
		delta := object{"type": "text_delta", "text": r.text}
		whole := object{"type": "text", "text": r.text}
		stop := "end_turn"
		if c := r.call; c != nil {
			id := "toolu_" + a.nextID()
			block = object{"type": "tool_use", "id": id, "name": c.tool.name, "input": object{}}
			delta = object{"type": "input_json_delta", "partial_json": encoded(c.args)}
			whole = object{"type": "tool_use", "id": id, "name": c.tool.name, "input": c.args}
			stop = "tool_use"
		}
		model := body.get("model")
		usage := object{"input_tokens": 1000, "output_tokens": 10, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
		message := object{"id": "msg_" + a.nextID(), "type": "message", "role": "assistant", "model": model.text,
			"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}
		if stream := body.get("stream"); !stream.isTrue {
			message["content"], message["stop_reason"] = []any{whole}, stop
			a.json(message)
			return
		}
		a.event("message_start", object{"message": message})
		a.event("content_block_start", object{"index": 0, "content_block": block})
		a.event("content_block_delta", object{"index": 0, "delta": delta})
		a.event("content_block_stop", object{"index": 0})
		a.event("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
		a.event("message_stop", object{})
	},
}

var openaiResponses = protocol{
	asks:  func(path string) bool { return strings.HasSuffix(path, "/responses") },
	other: func(string) any { return object{"object": "list", "data": []any{}, "models": []any{}} },
	answer: func(a *answer, _ string, body *node, r reply) {
		model := body.get("model")
		id := "resp_" + a.nextID()
		response := func(status string, output ...any) object {
			return object{"id": id, "object": "response", "model": model.text, "status": status, "output": append([]any{}, output...),
				"usage": object{"input_tokens": 1000, "input_tokens_details": object{"cached_tokens": 0},
					"output_tokens": 10, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 1010}}
		}
		item := object{"type": "message", "id": "msg_" + a.nextID(), "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": r.text, "annotations": []any{}}}}
		if c := r.call; c != nil {
			item = object{"type": "function_call", "id": "fc_" + a.nextID(), "call_id": "call_" + a.nextID(),
				"status": "completed", "name": c.tool.name, "arguments": encoded(c.args)}
			if c.tool.namespace != "" {
				item["namespace"] = c.tool.namespace
			}
		}
		if stream := body.get("stream"); !stream.isTrue {
			a.json(response("completed", item))
			return
		}
		a.event("response.created", object{"response": response("in_progress")})
		a.event("response.output_item.added", object{"output_index": 0, "item": item})
		if r.call == nil {
			a.event("response.output_text.delta", object{"item_id": item["id"], "output_index": 0, "content_index": 0, "delta": r.text})
		}
		a.event("response.output_item.done", object{"output_index": 0, "item": item})
		a.event("response.completed", object{"response": response("completed", item)})
	},
}
