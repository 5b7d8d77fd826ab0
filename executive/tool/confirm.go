package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/conversation"
	"earshot/llm"
	"earshot/participants"
)

const (
	// mostShown is the longest arguments in bytes, as they are shown, with which a call
	// can be confirmed: a screen. Nobody confirms what they have not seen whole.
	mostShown = 2000

	// Confirmable is for how long a call can be confirmed: as long as who asked for
	// something may take to come back to it, and still knows what it was.
	Confirmable = 5 * time.Minute

	// mostHeld is how many calls may wait for one person: more than a turn can make. The
	// oldest goes first.
	mostHeld = 16
)

// A HeldCall is a call that the person who asks may make and that the words of others hold back.
// It is done exactly as it is, or not at all.
type HeldCall struct {
	Call    llm.Call
	By      participants.Participant // who asked, and may have it done
	Needs   participants.Capability
	Because string // what holds it back, in words
	Shown   string // the arguments, as people are shown them: see [Plain]
}

// A confirmableError is the refusal of a call that can be confirmed.
type confirmableError struct {
	error
	held *HeldCall
}

func (w confirmableError) Unwrap() error { return w.error }

// wayOut returns why a call is refused, and how one of those who asked can have it done
// all the same, if one of them may by themselves.
func (t Tool) wayOut(s Scope, call llm.Call, why error) error {
	by, ok := t.confirms(s)
	if !ok {
		return why
	}
	because, _ := t.objection(s.Askers)
	shown, whole := Plain(call.Arguments, mostShown)
	if !whole {
		return Refuse("%s; %s may, but cannot confirm what cannot be shown whole: they can ask again with /%s, so that nobody else's words stand before you; say so, or answer without it", because, by.Name, earshot.OwnWords)
	}
	call.Arguments = slices.Clone(call.Arguments) // whoever made it may go on writing there
	return confirmableError{
		Refuse("%s; %s may, and is shown this call: they can have it done once with /confirm and its number, or ask again with /%s, so that nobody else's words stand before you; say so, or answer without it", because, by.Name, earshot.OwnWords),
		&HeldCall{Call: call, By: by, Needs: t.needs(), Because: because, Shown: shown},
	}
}

// confirms returns the first of those who asked who may have the tool used by
// themselves: a person, by what they wrote.
func (t Tool) confirms(s Scope) (participants.Participant, bool) {
	i := slices.IndexFunc(s.Asked, func(p participants.Participant) bool {
		return Confirms(p, t.needs())
	})
	if i < 0 {
		return participants.Participant{}, false
	}
	return s.Asked[i], true
}

// Confirms reports whether somebody can confirm a call that needs a capability: neither
// a machine, nor a voice, nor somebody who has not said who they are.
func Confirms(p participants.Participant, needs participants.Capability) bool {
	return p.Person() && !p.ByVoice && !p.Voice() && p.ID != participants.Generic && p.Can(needs)
}

// Plain returns the arguments of a call in one line in which nothing is hidden, and
// nothing looks like something else. Whole is false if that, or what they are written as,
// has more bytes than most, or they are no JSON.
//
// Each string says what it says to the tool, however it is written. What cannot be seen
// in it, what turns the direction of the text, what can be taken for another character,
// and what looks like an envelope or a token stands as \u and its number.
func Plain(arguments json.RawMessage, most int) (line string, whole bool) {
	if len(arguments) > most || !json.Valid(arguments) {
		return "", false
	}
	var out strings.Builder
	for at := 0; at < len(arguments); at++ {
		switch c := arguments[at]; c {
		case ' ', '\t', '\r', '\n': // between what is said
		case '"':
			from := at
			for at++; arguments[at] != '"'; at++ {
				if arguments[at] == '\\' {
					at++
				}
			}
			var text string
			if json.Unmarshal(arguments[from:at+1], &text) != nil {
				return "", false
			}
			plain(&out, text)
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), out.Len() <= most
}

// plain writes text as a string of JSON in which nothing is hidden.
func plain(out *strings.Builder, text string) {
	steers := conversation.Escape(text) != text
	out.WriteByte('"')
	for len(text) > 0 {
		word := text[:wordEnd(text)]
		alike := strings.ContainsFunc(word, latin) || ascii(participants.Key(word))
		for _, r := range word {
			switch {
			case r == '"' || r == '\\':
				out.WriteByte('\\')
				out.WriteRune(r)
			case r == '\n':
				out.WriteString(`\n`)
			case steers && strings.ContainsRune("[]<>|", r), r < utf8.RuneSelf && !unicode.IsPrint(r):
				escape(out, r)
			case r < utf8.RuneSelf:
				out.WriteRune(r)
			case strings.ContainsRune(digraphLetters, r):
				out.WriteRune(r)
			case r == utf8.RuneError, !unicode.IsGraphic(r), unicode.IsSpace(r),
				unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Sm),
				(alike || !unicode.IsLetter(r)) && ascii(participants.Key(string(r))):
				escape(out, r)
			default:
				out.WriteRune(r)
			}
		}
		text = text[len(word):]
	}
	out.WriteByte('"')
}

// digraphLetters are letters of languages that are written in Latin ones, which are compared as
// two of these, and which nobody takes for them.
const digraphLetters = "ßæÆœŒ"

// wordEnd returns where the word ends with which text begins, or what is between words.
func wordEnd(text string) int {
	first, _ := utf8.DecodeRuneInString(text)
	within := solid(first)
	if i := strings.IndexFunc(text, func(r rune) bool { return solid(r) != within }); i >= 0 {
		return i
	}
	return len(text)
}

func solid(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }

func latin(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }

// ascii reports whether text has no other characters.
func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// escape writes a character by its number, as JSON does.
func escape(out *strings.Builder, r rune) {
	if r > 0xFFFF {
		r -= 0x10000
		fmt.Fprintf(out, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		return
	}
	fmt.Fprintf(out, `\u%04x`, r)
}

// A PendingCall is held back until somebody confirms it.
type PendingCall struct {
	HeldCall
	Number   string // by which who may confirm it names it
	Agent    earshot.ParticipantID
	Question earshot.Event // that it was made to answer
	Asked    []participants.Participant
	Rests    []earshot.EventID // on which it rests: it goes when any of them does

	// Visibility is who may see what it says.
	Visibility earshot.Visibility
	Until      time.Time // and no longer
}

// PendingCalls are the calls that wait to be confirmed. The zero value has none. It has no
// clock: who uses it says what time it is, and calls its methods one at a time.
type PendingCalls struct{ all []PendingCall }

// Add has a call wait, and returns it with until when. The same one waits once, by its
// newest number.
func (r *PendingCalls) Add(now time.Time, w PendingCall) PendingCall {
	r.lapse(now)
	same := func(had PendingCall) bool {
		return had.Agent == w.Agent && had.By.ID == w.By.ID && had.Question.ID == w.Question.ID &&
			had.Call.Tool == w.Call.Tool && string(had.Call.Arguments) == string(w.Call.Arguments)
	}
	theirs := 0
	for _, had := range r.all {
		if had.By.ID == w.By.ID && !same(had) {
			theirs++
		}
	}
	r.all = slices.DeleteFunc(r.all, func(had PendingCall) bool {
		if same(had) {
			return true
		}
		over := had.By.ID == w.By.ID && theirs >= mostHeld
		if over {
			theirs--
		}
		return over
	})
	w.Until = now.Add(Confirmable)
	r.all = append(r.all, w)
	return w
}

// Of returns the calls that somebody can confirm now, where everybody in a reads along.
func (r *PendingCalls) Of(now time.Time, who participants.Participant, a earshot.Audience) (theirs []PendingCall) {
	r.lapse(now)
	for _, w := range r.all {
		if w.By.ID == who.ID && Confirms(who, w.Needs) && w.Visibility.Allows(a) {
			theirs = append(theirs, w)
		}
	}
	return theirs
}

// Drop takes out the calls that fit.
func (r *PendingCalls) Drop(fits func(PendingCall) bool) { r.all = slices.DeleteFunc(r.all, fits) }

// Has reports whether a number is taken.
func (r *PendingCalls) Has(number string) bool {
	return slices.ContainsFunc(r.all, func(w PendingCall) bool { return w.Number == number })
}

// Forget takes out the calls that rest on any of some events.
func (r *PendingCalls) Forget(is func(earshot.EventID) bool) {
	r.Drop(func(w PendingCall) bool { return is(w.Question.ID) || slices.ContainsFunc(w.Rests, is) })
}

func (r *PendingCalls) lapse(now time.Time) {
	r.Drop(func(w PendingCall) bool { return !now.Before(w.Until) })
}
