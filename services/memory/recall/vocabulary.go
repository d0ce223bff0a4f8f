package recall

import (
	"slices"
	"strings"
)

// vocabulary holds every distinct form of the notes, once.
type vocabulary struct {
	forms []form
	free  []uint32
	byKey map[string]uint32   // folded text to form
	stems map[string][]uint32 // stem class to forms
	edges map[string][]uint32 // first and last three letters to forms
	// languages tells in which languages a word may be stemmed.
	languages func(word string) (english, french bool)
}

// form is one distinct word or compound.
type form struct {
	text     string
	postings []posting // ascending by slot
}

// posting says how often a form is in the fields of one note.
type posting struct {
	slot   uint32
	counts counts
}

// counts packs one number per field, each saturating at its width.
type counts uint32

// countBits is the width of each field's number; 31 bits in all.
var (
	countBits  = [fieldCount]uint{4, 6, 6, 12, 3}
	countShift = [fieldCount]uint{0, 4, 10, 16, 28}
)

func (c counts) of(f field) uint32 {
	return uint32(c) >> countShift[f] & (1<<countBits[f] - 1)
}

func (c counts) plus(f field) counts {
	if c.of(f) == 1<<countBits[f]-1 {
		return c
	}
	return c + 1<<countShift[f]
}

// only reports whether no other field than f counts.
func (c counts) only(f field) bool {
	return uint32(c)&^((1<<countBits[f]-1)<<countShift[f]) == 0
}

// smaller returns the least of both in every field.
func (c counts) smaller(o counts) counts {
	var out counts
	for f := range fieldCount {
		out |= counts(min(c.of(f), o.of(f))) << countShift[f]
	}
	return out
}

func newVocabulary(languages func(string) (english, french bool)) vocabulary {
	return vocabulary{languages: languages, byKey: map[string]uint32{}, stems: map[string][]uint32{}, edges: map[string][]uint32{}}
}

// intern returns the number of a form, adding it when it is new.
func (v *vocabulary) intern(text string) uint32 {
	if id, ok := v.byKey[text]; ok {
		return id
	}
	text = strings.Clone(text) // not to keep a whole note alive for one word
	id := uint32(len(v.forms))
	if n := len(v.free); n > 0 {
		id, v.free = v.free[n-1], v.free[:n-1]
		v.forms[id] = form{text: text}
	} else {
		v.forms = append(v.forms, form{text: text})
	}
	v.byKey[text] = id
	for _, key := range v.classes(text) {
		v.stems[key] = append(v.stems[key], id)
	}
	for _, key := range edgesOf(text) {
		v.edges[key] = append(v.edges[key], id)
	}
	return id
}

// classes returns the stem classes of a form.
func (v *vocabulary) classes(text string) []string {
	english, french := v.languages(text)
	var keys []string
	if english {
		keys = append(keys, englishStem(text))
	}
	if french {
		keys = append(keys, frenchStem(text))
	}
	return keys
}

// drop takes a note from a form, and the form from the vocabulary when it was
// its last.
func (v *vocabulary) drop(id, slot uint32) {
	f := &v.forms[id]
	f.remove(slot)
	if len(f.postings) > 0 {
		return
	}
	delete(v.byKey, f.text)
	for _, key := range v.classes(f.text) {
		removeFrom(v.stems, key, id)
	}
	for _, key := range edgesOf(f.text) {
		removeFrom(v.edges, key, id)
	}
	*f = form{}
	v.free = append(v.free, id)
}

func removeFrom(lists map[string][]uint32, key string, id uint32) {
	list := lists[key]
	if i := slices.Index(list, id); i >= 0 {
		list[i] = list[len(list)-1]
		list = list[:len(list)-1]
	}
	if len(list) == 0 {
		delete(lists, key)
		return
	}
	lists[key] = list
}

// edgesOf returns the keys under which words with one typing mistake, or a
// common beginning, are looked for.
func edgesOf(text string) []string {
	if !stemmable(text) || len(text) < 4 {
		return nil
	}
	return []string{"<" + text[:3], ">" + text[len(text)-3:]}
}

func (f *form) add(p posting) {
	if n := len(f.postings); n == 0 || f.postings[n-1].slot < p.slot {
		f.postings = append(f.postings, p)
		return
	}
	i, _ := f.find(p.slot)
	f.postings = slices.Insert(f.postings, i, p)
}

func (f *form) remove(slot uint32) {
	if i, ok := f.find(slot); ok {
		f.postings = slices.Delete(f.postings, i, i+1)
	}
}

// find returns where a note is, or would be. It is written out because searches
// spend their time in it.
func (f *form) find(slot uint32) (int, bool) {
	low, high := 0, len(f.postings)
	for low < high {
		middle := (low + high) / 2
		if f.postings[middle].slot < slot {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < len(f.postings) && f.postings[low].slot == slot
}
