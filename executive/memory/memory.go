// Package memory is what agents remember of what left their dialogue: facts about people and things,
// and one summary of what was talked about in each conversation.
//
// When a room has been quiet, a [Consolidator] reads what is new there, one conversation at a time, and asks
// a model for what is worth remembering. It never mixes conversations: what it writes can be seen by
// exactly those who could see all that was read for it, and is erased with any of that. What was read
// but not erased is then read again. A fact names the events it rests on; one that names events which
// were not shown is refused.
//
// A second request decides whether new facts contradict older ones. Its answer can only point at
// them, so that no word of an older fact enters a newer one. What is replaced stays on record.
//
// The journal is the truth: [Projection] keeps the tables of what is remembered and of what is read,
// and an [Index] has it in memory, where a prompt finds what it needs without waiting for a disk.
package memory

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"earshot"
	"earshot/conversation"
	"earshot/language"
)

// An Entry is a fact on record.
type Entry struct {
	Event earshot.Event
	earshot.Fact

	used     int // how many replies have repeated it since the program began
	usedAt   time.Time
	keys     []string
	replaced bool
}

// newEntry returns the fact that an event records.
func newEntry(e earshot.Event, f earshot.Fact) *Entry {
	return &Entry{Event: e, Fact: f, usedAt: f.Since, keys: keys(string(f.Subject) + " " + string(f.Text))}
}

// holds reports whether a fact has not expired at now.
func (k *Entry) holds(now time.Time) bool { return k.Until.IsZero() || now.Before(k.Until) }

// keyLength is how many letters of a word are compared: its beginning is the same in most of its forms.
const keyLength = 5

// keys returns by what a text is found: the beginnings of its words without the s of plurals, each
// once. Words of two letters say nothing.
func keys(text string) (all []string) {
	for _, w := range language.Plain(text) {
		if utf8.RuneCountInString(w) < 3 {
			continue
		}
		if len(w) > 3 && !strings.HasSuffix(w, "ss") {
			w = strings.TrimSuffix(w, "s")
		}
		if r := []rune(w); len(r) > keyLength {
			w = string(r[:keyLength])
		}
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// repeats reports whether a reply says most of the words of a fact.
func (k *Entry) repeats(reply earshot.Text) bool {
	said := keys(string(reply))
	n := len(slices.DeleteFunc(slices.Clone(k.keys), func(w string) bool { return !slices.Contains(said, w) }))
	return n > 0 && 2*n >= len(k.keys)
}

// circle returns the name of all who may see something.
func circle(v earshot.Visibility) string {
	v.Members, v.Agents = slices.Clone(v.Members), slices.Clone(v.Agents)
	slices.Sort(v.Members)
	slices.Sort(v.Agents)
	name, _ := json.Marshal(v) // of strings
	return string(name)
}

// Words returns what is remembered of an event: what somebody wrote, said to an agent, or heard from
// one. It is empty for anything else, such as what agents ask each other, and what was only overheard,
// which is soon erased.
func Words(e earshot.Event) earshot.Text {
	if e.Visibility.Scope != earshot.Public && e.Visibility.Scope != earshot.Private {
		return ""
	}
	switch b := e.Body.(type) {
	case earshot.Message:
		if b.Turn == "" {
			return b.Text
		}
	case earshot.Utterance:
		if len(e.To) > 0 {
			return b.Text
		}
	case earshot.Reply:
		if !b.Reflex {
			return b.Delivered()
		}
	}
	return ""
}

// caption returns what a model says is in a picture that a camera took; empty of anything else.
func caption(e earshot.Event) earshot.Text {
	if s, is := e.Body.(earshot.Sight); is && s.What == earshot.Captioned && e.Visibility.Scope == earshot.Public {
		return s.Text
	}
	return ""
}

// line returns a text in one line of a prompt, at most so many bytes of it.
func line[T ~string](text T, most int) string {
	s := conversation.Escape(strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "\uFFFD")), " "))
	if len(s) > most {
		s = language.WholeRunes(s[:most]) + "…"
	}
	return s
}
