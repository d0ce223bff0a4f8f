package safetext

import (
	"regexp"
	"strings"
)

// tag finds what reads like a data tag, plain or already escaped, however it
// is spaced or cased.
var tag = regexp.MustCompile(`(?i)(?:<|&(?:amp;)*lt;)[\s\p{Z}]*/?[\s\p{Z}]*data\b`)

// escapedTag finds what escapeTags made.
var escapedTag = regexp.MustCompile(`(?i)&(?:amp;)*lt;[\s\p{Z}]*/?[\s\p{Z}]*data\b`)

// Fence returns text as a data block, <data from="note:x">…</data>: the form in
// which everything that comes from notes, agents or tools reaches a model.
// Nothing in text can end the block or begin another: tags in it are escaped,
// and hidden characters shown. Text of several lines stands on lines of its
// own. Equal inputs give equal bytes.
func Fence(from, text string) string {
	if strings.Contains(text, "\n") {
		return Block(from, text)
	}
	return open(from) + escapeTags(Escape(text)) + `</data>`
}

// Block is Fence for a text that stands on lines of its own, however short.
func Block(from, text string) string {
	return open(from) + "\n" + escapeTags(Escape(text)) + "\n</data>"
}

func open(from string) string { return `<data from="` + attribute(from) + `">` }

// Unfence returns the parts of one block made by Fence or Block, with its tags
// unescaped; ok is false for anything else.
func Unfence(block string) (from, text string, ok bool) {
	rest, ok := strings.CutPrefix(block, `<data from="`)
	if !ok {
		return "", "", false
	}
	from, rest, ok = strings.Cut(rest, `">`)
	if !ok {
		return "", "", false
	}
	body, ok := strings.CutSuffix(rest, "</data>")
	if !ok || strings.Contains(body, "</data>") {
		return "", "", false
	}
	if len(body) >= 2 && body[0] == '\n' && body[len(body)-1] == '\n' {
		body = body[1 : len(body)-1]
	}
	text = escapedTag.ReplaceAllStringFunc(body, func(t string) string {
		if rest, ok := strings.CutPrefix(t, "&amp;"); ok {
			return "&" + rest
		}
		return "<" + t[len("&lt;"):]
	})
	return unattribute.Replace(from), text, true
}

// Line returns s as one line for a list: white space runs become one space,
// hidden characters are shown and data tags escaped.
func Line(s string) string {
	return escapeTags(Escape(strings.Join(strings.Fields(s), " ")))
}

func escapeTags(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	return tag.ReplaceAllStringFunc(s, func(t string) string {
		if rest, ok := strings.CutPrefix(t, "<"); ok {
			return "&lt;" + rest
		}
		return "&amp;" + t[1:]
	})
}

var (
	attributeChars = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;")
	unattribute    = strings.NewReplacer("&quot;", `"`, "&lt;", "<", "&gt;", ">", "&amp;", "&")
)

func attribute(s string) string {
	return attributeChars.Replace(Escape(strings.Join(strings.Fields(s), " ")))
}
