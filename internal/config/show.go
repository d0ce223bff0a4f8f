package config

import (
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml"
)

// hidden is what is shown instead of a secret.
const hidden = "[hidden]"

// Value is one setting as it holds.
type Value struct {
	Name   string `json:"name"`
	Value  string `json:"value"`  // hidden for a secret that is set
	Origin string `json:"origin"` // default, a flag, a variable, or a file with its line
}

// Values returns every setting in order, secrets hidden.
func (l *Loaded) Values() []Value { return l.values(Keys()) }

func (l *Loaded) values(keys []Key) []Value {
	var out []Value
	for _, k := range keys {
		v := Value{Name: k.Name, Value: k.get(l.Config), Origin: l.origins[k.Name]}
		if v.Origin == "" {
			v.Origin = "default"
		}
		if k.Secret && v.Value != "" {
			v.Value = hidden
		}
		out = append(out, v)
	}
	return out
}

// Show writes the settings as a YAML file that would set them again, secrets
// hidden, each with a comment that tells where it comes from.
func (l *Loaded) Show(w io.Writer) error { return show(w, l.Values()) }

func show(w io.Writer, values []Value) error {
	var doc yaml.MapSlice
	comments := yaml.CommentMap{}
	for _, v := range values {
		comments["$."+v.Name] = []*yaml.Comment{yaml.LineComment(" " + v.Origin)}
		group, name, ok := strings.Cut(v.Name, ".")
		if !ok {
			doc = append(doc, yaml.MapItem{Key: v.Name, Value: v.Value})
			continue
		}
		if n := len(doc); n == 0 || doc[n-1].Key != group {
			doc = append(doc, yaml.MapItem{Key: group, Value: yaml.MapSlice{}})
		}
		last := &doc[len(doc)-1]
		last.Value = append(last.Value.(yaml.MapSlice), yaml.MapItem{Key: name, Value: v.Value})
	}
	out, err := yaml.MarshalWithOptions(doc, yaml.WithComment(comments))
	if err != nil {
		return fmt.Errorf("config: show: %w", err)
	}
	_, err = w.Write(out)
	return err
}
