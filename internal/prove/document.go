package prove

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// node is a JSON value with the order of its members kept: whether sections
// arrive in order cannot be told without.
type node struct {
	text    string // of a string
	isTrue  bool
	items   []node // of an array
	members []member
}

type member struct {
	name  string
	value node
}

func parse(data []byte) (node, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return parseValue(dec)
}

func parseValue(dec *json.Decoder) (node, error) {
	token, err := dec.Token()
	if err != nil {
		return node{}, err
	}
	var n node
	switch t := token.(type) {
	case string:
		n.text = t
	case bool:
		n.isTrue = t
	case json.Delim:
		for dec.More() {
			var m member
			if t == '{' {
				name, err := dec.Token()
				if err != nil {
					return node{}, err
				}
				m.name = fmt.Sprint(name)
			}
			if m.value, err = parseValue(dec); err != nil {
				return node{}, err
			}
			if t == '{' {
				n.members = append(n.members, m)
			} else {
				n.items = append(n.items, m.value)
			}
		}
		_, err = dec.Token()
	}
	return n, err
}

// get returns a member's value, the zero value when there is none.
func (n *node) get(name string) node {
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return node{}
}

func (n *node) has(name string) bool {
	for _, m := range n.members {
		if m.name == name {
			return true
		}
	}
	return false
}

// separator stands between two strings of a request, so that a text cut in two
// is not taken for whole.
const separator = "\x00"

// allText returns every string of the value in order.
func (n *node) allText() string {
	var b strings.Builder
	n.appendText(&b)
	return b.String()
}

func (n *node) appendText(b *strings.Builder) {
	if n.text != "" {
		b.WriteString(n.text)
		b.WriteString(separator)
	}
	for i := range n.items {
		n.items[i].appendText(b)
	}
	for i := range n.members {
		n.members[i].value.appendText(b)
	}
}

// offer is a tool that a request offers to the model. OpenAI's Responses know
// namespaces of tools.
type offer struct{ namespace, name string }

// offers returns the tools of a request, wherever its protocol keeps them.
func (n *node) offers() []offer {
	var out []offer
	n.appendOffers(&out, "")
	return out
}

func (n *node) appendOffers(out *[]offer, namespace string) {
	name, kind := n.get("name"), n.get("type")
	if kind.text == "namespace" {
		namespace = name.text
	} else if name.text != "" && (n.has("description") || n.has("parameters") || n.has("input_schema")) {
		*out = append(*out, offer{namespace, name.text})
	}
	for i := range n.items {
		n.items[i].appendOffers(out, namespace)
	}
	for i := range n.members {
		n.members[i].value.appendOffers(out, namespace)
	}
}
