package prove

import (
	"fmt"
	"strings"
)

// data sends a server-sent event that has no name.
func (a *answer) data(v string) {
	a.w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(a.w, "data: %s\n\n", v)
}

var openaiChat = protocol{
	asks:  func(path string) bool { return strings.HasSuffix(path, "/chat/completions") },
	other: func(string) any { return object{"object": "list", "data": []any{}} },
	answer: func(a *answer, _ string, body *node, r reply) {
		message, finish := object{"role": "assistant", "content": r.text}, "stop"
		if c := r.call; c != nil {
			message = object{"role": "assistant", "content": nil, "tool_calls": []any{object{"index": 0, "id": "call_" + a.nextID(),
				"type": "function", "function": object{"name": c.tool.name, "arguments": encoded(c.args)}}}}
			finish = "tool_calls"
		}
		model, id := body.get("model"), "chat_"+a.nextID()
		piece := func(kind, part string, content object, reason any) object {
			return object{"id": id, "object": kind, "created": 1, "model": model.text,
				"choices": []any{object{"index": 0, part: content, "finish_reason": reason}},
				"usage":   object{"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}}
		}
		if stream := body.get("stream"); !stream.isTrue {
			a.json(piece("chat.completion", "message", message, finish))
			return
		}
		a.data(encoded(piece("chat.completion.chunk", "delta", message, nil)))
		a.data(encoded(piece("chat.completion.chunk", "delta", object{}, finish)))
		a.data("[DONE]")
	},
}

var gemini = protocol{
	asks: func(path string) bool {
		return strings.HasSuffix(path, ":generateContent") || strings.HasSuffix(path, ":streamGenerateContent")
	},
	other: func(path string) any {
		if strings.HasSuffix(path, ":countTokens") {
			return object{"totalTokens": 1000}
		}
		return nil
	},
	answer: func(a *answer, path string, body *node, r reply) {
		part := object{"text": r.text}
		if c := r.call; c != nil {
			part = object{"functionCall": object{"id": "call_" + a.nextID(), "name": c.tool.name, "args": c.args}}
		}
		if len(body.offers()) == 0 { // its router, which wants a grade
			part = object{"text": `{"complexity_reasoning":"plain","complexity_score":1}`}
		}
		whole := object{
			"candidates":    []any{object{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []any{part}}}},
			"usageMetadata": object{"promptTokenCount": 1000, "candidatesTokenCount": 10, "totalTokenCount": 1010},
		}
		if strings.HasSuffix(path, ":generateContent") {
			a.json(whole)
			return
		}
		a.data(encoded(whole))
	},
}
