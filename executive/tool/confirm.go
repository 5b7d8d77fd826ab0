package tool

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
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
	// mostShown is how many bytes of arguments, as they are shown, a call may have to be confirmed:
	// a screen. Nobody confirms what they have not seen completely.
	mostShown = 2000

	// Confirmable is how long a call can be confirmed: the time in which the asker comes back to
	// it, and still knows what it was.
	Confirmable = 5 * time.Minute

	// mostHeld is how many calls may wait for one person: more than a turn can make. The oldest is
	// dropped first.
	mostHeld = 16
)

// A HeldCall is a call that the asker may make but that is held back because of others' words. It
// is carried out exactly as it is, or not at all.
type HeldCall struct {
	Call    llm.Call
	By      participants.Participant // who asked, and may confirm it
	Needs   participants.Capability
	Because string // what holds it back, in words
	Shown   string // the arguments as people see them: see [Plain]
}

// A confirmableError is the refusal of a call that can be confirmed.
type confirmableError struct {
	error
	held *HeldCall
}

func (w confirmableError) Unwrap() error { return w.error }

// wayOut returns why a call is refused, with how one of the askers can confirm it, if one of them
// has the right on their own.
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
	call.Arguments = slices.Clone(call.Arguments) // the caller may keep writing there
	return confirmableError{
		Refuse("%s; %s may, and is shown this call: they can have it done once with /confirm and its number, or ask again with /%s, so that nobody else's words stand before you; say so, or answer without it", because, by.Name, earshot.OwnWords),
		&HeldCall{Call: call, By: by, Needs: t.needs(), Because: because, Shown: shown},
	}
}

// confirms returns the first asker who may use the tool on their own: a person, by what they wrote.
func (t Tool) confirms(s Scope) (participants.Participant, bool) {
	i := slices.IndexFunc(s.Asked, func(p participants.Participant) bool {
		return Confirms(p, t.needs())
	})
	if i < 0 {
		return participants.Participant{}, false
	}
	return s.Asked[i], true
}

// Confirms reports whether somebody can confirm a call that needs a capability: no machine, no
// voice, and nobody who has not said who they are.
func Confirms(p participants.Participant, needs participants.Capability) bool {
	return p.Person() && !p.ByVoice && !p.Voice() && !participants.Unnamed(p.ID) && p.Can(needs)
}

// Plain returns the arguments of a call in one line in which nothing is hidden, and nothing looks
// like something else. whole is false if the line, or the arguments themselves, have more than most
// bytes, or if they are not JSON.
//
// Each string is shown as the tool receives it, however it is written. Invisible characters,
// changes of the text direction, characters that can be mistaken for others, and anything that
// looks like an envelope or a token are shown as \u with their number.
func Plain(arguments json.RawMessage, most int) (line string, whole bool) {
	if len(arguments) > most || !json.Valid(arguments) {
		return "", false
	}
	var out strings.Builder
	for at := 0; at < len(arguments); at++ {
		switch c := arguments[at]; c {
		case ' ', '\t', '\r', '\n': // between tokens
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

// plain writes text as a JSON string in which nothing is hidden.
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

// digraphLetters are letters of Latin scripts that are compared as two letters, and that nobody
// mistakes for them.
const digraphLetters = "ßæÆœŒ"

// wordEnd returns the end of the word, or of the separators, with which text begins.
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

// ascii reports whether text has only ASCII characters.
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
	Number   string // by which those who may confirm it name it
	Agent    earshot.ParticipantID
	Question earshot.Event // the event that it was made to answer
	Asked    []participants.Participant
	Rests    []earshot.EventID // what it rests on: it is dropped when any of these is

	// Visibility says who may see its contents.
	Visibility earshot.Visibility
	Until      time.Time // it expires then
}

// PendingCalls are the calls that wait for confirmation. The zero value is empty. It has no clock:
// its caller passes the time, and calls its methods one at a time.
type PendingCalls struct{ all []PendingCall }

// Add makes a call wait, and returns it with its expiry. The same call waits only once, under its
// newest number.
func (r *PendingCalls) Add(now time.Time, w PendingCall) PendingCall {
	r.lapse(now)
	same := func(had PendingCall) bool {
		return had.Agent == w.Agent && had.By.ID == w.By.ID && had.Question.ID == w.Question.ID &&
			had.Call.Tool == w.Call.Tool && string(had.Call.Arguments) == string(w.Call.Arguments)
	}
	r.Drop(same)
	theirs := 0
	for i, had := range slices.Backward(r.all) { // the oldest goes first
		if had.By.ID != w.By.ID {
			continue
		}
		if theirs++; theirs >= mostHeld {
			r.all = slices.Delete(r.all, i, i+1)
		}
	}
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

// ErrNoCall says that somebody cannot confirm a call. It is the same for a call that does not exist, one
// that is over and one for somebody else, so that nobody learns of calls that are not theirs.
var ErrNoCall = errors.New("no tool call with that number waits for you here: it was done, has expired, or rested on something that was changed or forgotten; /confirm lists what waits")

// Choose returns the call with a number, if somebody can confirm it now. Without a number it returns
// a text that lists all that they can.
func (r *PendingCalls) Choose(now time.Time, who participants.Participant, a earshot.Audience, number string, name func(earshot.ParticipantID) string) (list string, w *PendingCall, err error) {
	theirs := r.Of(now, who, a)
	if number == "" {
		return Offers(theirs, name), nil, nil
	}
	i := slices.IndexFunc(theirs, func(w PendingCall) bool { return w.Number == number })
	if i < 0 {
		return "", nil, ErrNoCall
	}
	return "", &theirs[i], nil
}

// Drop removes the calls that fit.
func (r *PendingCalls) Drop(fits func(PendingCall) bool) { r.all = slices.DeleteFunc(r.all, fits) }

// NewNumber returns a number by which people can name one more call: short enough to type, and
// without telling how many there are elsewhere. Each call of newID returns another ID.
func (r *PendingCalls) NewNumber(newID func() earshot.EventID) string {
	for {
		sum := sha256.Sum256([]byte(newID()))
		number := fmt.Sprintf("%06d", binary.BigEndian.Uint64(sum[:])%1_000_000)
		if !slices.ContainsFunc(r.all, func(w PendingCall) bool { return w.Number == number }) {
			return number
		}
	}
}

// Offer says what somebody can confirm, and how. The model's text stands last, on a line of its own
// that it cannot end. name returns the name of a participant.
func (w PendingCall) Offer(name func(earshot.ParticipantID) string) string {
	return fmt.Sprintf("%s: %s wants to use %s, but what others said holds it back: %s.\nUntil %s, /confirm %s allows exactly this call, once; or ask again with /%s QUESTION.\n%s %s",
		name(w.By.ID), name(w.Agent), w.Call.Tool, w.Because, w.Until.Local().Format("15:04:05"), w.Number, earshot.OwnWords, w.Call.Tool, w.Shown)
}

// Offers lists what somebody can confirm.
func Offers(theirs []PendingCall, name func(earshot.ParticipantID) string) string {
	if len(theirs) == 0 {
		return "No tool call waits for your confirmation."
	}
	var all []string
	for _, w := range theirs {
		all = append(all, w.Offer(name))
	}
	return strings.Join(all, "\n\n")
}

// Forget removes the calls that rest on any of some events.
func (r *PendingCalls) Forget(is func(earshot.EventID) bool) {
	r.Drop(func(w PendingCall) bool { return is(w.Question.ID) || slices.ContainsFunc(w.Rests, is) })
}

func (r *PendingCalls) lapse(now time.Time) {
	r.Drop(func(w PendingCall) bool { return !now.Before(w.Until) })
}
