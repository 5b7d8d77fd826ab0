// Package wire defines what passes between the daemon and an attached terminal: one JSON object
// per line, in both directions, over a stream of bytes. An object has one key, the type of the
// frame:
//
//	{"say":{"turn":"01J…","clause":{"n":0,"text":"The tides "}}}
//
// Nearly everything in a frame is a type of package earshot, so that a terminal is an input and an
// outlet like any other, only further away.
//
// A terminal begins with [Hello] and the daemon answers with [Welcome]. Then the terminal sends
// each [Event] and is answered by [Ack] or [Refused], in the order of the events, with at most
// [Unanswered] of them open; and it sends [Heard] for the speech it was given. The daemon sends
// [Open], [Say], [Do] and [Finish] for a speech, at most one of which is open, with at most
// [Window] bytes unheard; [Keep] to a terminal that keeps receipts; [Show] and [Missed] for everything
// else to show; and [Ended] when the person at the terminal may not stay. Both send a [Beat] when there
// is nothing to send, which the terminal answers with another, and treat a side that has been silent for
// [Idle] as dead.
//
// When the reader is slow, clauses wait, shown events drop the oldest and count them, positions,
// controls and interim words replace what they outdate, and nothing else can pile up.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"earshot"
)

// Protocol names this version in the Upgrade header of HTTP.
const Protocol = "earshot-terminal/3"

// The limits that both sides keep.
const (
	Window     = 64 << 10 // bytes of unheard clauses: a long reply, and soon thrown away
	Unanswered = 16       // events without an answer; people do not type faster than a disk for long
	MaxUp      = 1 << 20  // bytes of a frame to the daemon: the longest message, every byte escaped, fits twice
	MaxDown    = 8 << 20  // bytes of a frame to a terminal: the longest reply in the journal fits

	Every = 10 * time.Second // between two beats
	Idle  = 60 * time.Second // enough for a machine that swaps, short enough for a person who waits
)

// A Frame is one line. The set is closed: see [Decode].
type Frame interface{ key() string }

// From the terminal.
type (
	// Hello begins. The daemon sends nothing before it.
	Hello struct {
		Flows  bool `json:"flows"`            // wants each piece as a clause; see [earshot.Flowing]
		Passes bool `json:"passes,omitempty"` // is there for a moment: no presence is announced

		Keep *Keep `json:"keep,omitempty"` // the receipt that it has; nil if it keeps none
	}

	// Event is an input: a message, typing or a command. Only its ID, At and Body count.
	Event struct{ earshot.Event }

	// Heard says how far the terminal has come with a speech.
	Heard struct {
		Turn earshot.TurnID `json:"turn"`
		earshot.Heard
	}
)

// From the daemon.
type (
	// Welcome answers Hello.
	Welcome struct {
		Outlet string `json:"outlet"` // the terminal's name in the room
	}

	// Ack says that an event was admitted.
	Ack struct {
		N int64 `json:"n"` // counted from 1
	}

	// Refused says that an event was not admitted.
	Refused struct {
		N int64 `json:"n"` // counted from 1, together with those of Ack
		Refusal
	}

	// Open begins a speech, and names the participant whom it answers. It may overtake the Show of
	// what it answers.
	Open struct {
		earshot.Opening
		Names Names `json:"names,omitempty"`
	}

	// Say hands over the next clause of a speech.
	Say struct {
		Turn   earshot.TurnID `json:"turn"`
		Clause earshot.Clause `json:"clause"`
	}

	// Do controls a speech. It overtakes Say.
	Do struct {
		Turn    earshot.TurnID  `json:"turn"`
		Control earshot.Control `json:"control"`
	}

	// Finish says that no clause follows.
	Finish struct {
		Turn earshot.TurnID `json:"turn"`
	}

	// Keep replaces the receipt that a terminal keeps; see [earshot.ReceiptHolder].
	Keep struct {
		Receipt []byte `json:"receipt,omitempty"`
	}

	// Show is an event to show, other than a reply being said, with the names of everybody in it. A
	// name comes from the registry, never from a text.
	Show struct {
		Event earshot.Event `json:"event"`
		Names Names         `json:"names,omitempty"`
	}

	// Missed says how many events were dropped because the terminal was slow.
	Missed struct {
		N int `json:"n"`
	}

	// Ended says why the terminal may not stay. It is the last frame.
	Ended struct{ Refusal }
)

// Beat says that its sender is alive. Both send it. A terminal answers the daemon's beats, which
// thereby learns whether a terminal without progress is only held.
type Beat struct{}

func (Hello) key() string   { return "hello" }
func (Event) key() string   { return "event" }
func (Heard) key() string   { return "heard" }
func (Welcome) key() string { return "welcome" }
func (Ack) key() string     { return "ack" }
func (Refused) key() string { return "refused" }
func (Open) key() string    { return "open" }
func (Say) key() string     { return "say" }
func (Do) key() string      { return "do" }
func (Finish) key() string  { return "finish" }
func (Keep) key() string    { return "keep" }
func (Show) key() string    { return "show" }
func (Missed) key() string  { return "missed" }
func (Ended) key() string   { return "ended" }
func (Beat) key() string    { return "beat" }

// Encode returns f as a line, with its end.
func Encode(f Frame) ([]byte, error) {
	line, err := json.Marshal(map[string]Frame{f.key(): f})
	if err != nil {
		return nil, fmt.Errorf("encoding a frame %s: %w", f.key(), err)
	}
	if len(line) >= MaxDown {
		return nil, fmt.Errorf("encoding a frame %s: %d bytes are too long", f.key(), len(line))
	}
	return append(line, '\n'), nil
}

// Decode returns the frame in a line. Its errors quote no content.
func Decode(line []byte) (Frame, error) {
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(line, &whole); err != nil || len(whole) != 1 {
		return nil, fmt.Errorf("decoding a frame: %d bytes that are no object with one key", len(line))
	}
	for key, body := range whole {
		return decodeBody(key, body)
	}
	panic("unreachable: one key")
}

func decodeBody(key string, body []byte) (Frame, error) {
	switch key {
	case "hello":
		return decode[Hello](body)
	case "event":
		return decode[Event](body)
	case "heard":
		return decode[Heard](body)
	case "welcome":
		return decode[Welcome](body)
	case "ack":
		return decode[Ack](body)
	case "refused":
		return decode[Refused](body)
	case "open":
		return decode[Open](body)
	case "say":
		return decode[Say](body)
	case "do":
		return decode[Do](body)
	case "finish":
		return decode[Finish](body)
	case "keep":
		return decode[Keep](body)
	case "show":
		return decodeShow(body)
	case "missed":
		return decode[Missed](body)
	case "ended":
		return decode[Ended](body)
	case "beat":
		return decode[Beat](body)
	}
	return nil, fmt.Errorf("decoding a frame: unknown key of %d bytes", len(key))
}

// decodeShow is decode for a Show, which must hold an event.
func decodeShow(body []byte) (Frame, error) {
	f, err := decode[Show](body)
	if s, ok := f.(Show); ok && s.Event.Body == nil {
		return nil, errors.New("decoding a frame show: it shows nothing")
	}
	return f, err
}

func decode[F Frame](body []byte) (Frame, error) {
	var f F
	if bytes.Equal(body, []byte("null")) || json.Unmarshal(body, &f) != nil {
		return nil, fmt.Errorf("decoding a frame %s: its %d bytes are not one", f.key(), len(body))
	}
	return f, nil
}
