package prove

import (
	"slices"
	"strings"
	"testing"
)

func TestADocumentKeepsItsOrder(t *testing.T) {
	doc, err := parse([]byte(`{"z":"one","a":[{"y":"two","b":"three"},4,null,true],"m":{"k":""}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := doc.allText(); got != "one\x00two\x00three\x00" {
		t.Errorf("text %q", got)
	}
	list := doc.get("a")
	if len(list.items) != 4 || !list.items[3].isTrue {
		t.Errorf("items %+v", list.items)
	}
}

func TestOffersAreFoundInEveryProtocol(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []offer
	}{
		{"Messages", `{"tools":[{"name":"mcp__ideai__x","description":"d","input_schema":{"properties":{"name":{"type":"string"}}}}]}`, []offer{{"", "mcp__ideai__x"}}},
		{"Responses", `{"tools":[{"type":"namespace","name":"mcp__ideai","description":"long","tools":[{"type":"function","name":"x","parameters":{}}]}]}`, []offer{{"mcp__ideai", "x"}}},
		{"Responses, in the input", `{"input":[{"type":"additional_tools","tools":[{"type":"function","name":"x","description":"d"}]}]}`, []offer{{"", "x"}}},
		{"Chat Completions", `{"tools":[{"type":"function","function":{"name":"x","parameters":{}}}]}`, []offer{{"", "x"}}},
		{"Gemini", `{"tools":[{"functionDeclarations":[{"name":"mcp_ideai_x","description":"d"}]}]}`, []offer{{"", "mcp_ideai_x"}}},
		{"a call is no offer", `{"messages":[{"content":[{"type":"tool_use","name":"x","input":{}}]}]}`, nil},
	} {
		doc, err := parse([]byte(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if got := doc.offers(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a":["b",{"c":true}],"d":1e3}`))
	f.Add([]byte(strings.Repeat("[", 100)))
	f.Add([]byte(`{"a":`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := parse(data)
		if err == nil && strings.Count(doc.allText(), "\x00") > len(data) {
			t.Error("more strings than bytes")
		}
	})
}

func TestPlainTextOfATerminal(t *testing.T) {
	got := plain("\x1b[2J\x1b[1;1Hhello\x1b[3Cworld\x1b[0m\r\n\x1b]0;title\x07bye")
	if want := "hello world\n\nbye"; strings.TrimSpace(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}
