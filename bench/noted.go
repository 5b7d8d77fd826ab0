package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/speakers"
)

// Noted is what a microphone told a room while a tape played, as lines of which
// executive/room/testdata/heard.txt is made: so a rule of the room can be changed and
// tried on what a recogniser made of the same sounds, without one. To make it anew, run
//
//	EARSHOT_NOTES=heard.txt go run ./bench -only yield
type noted struct {
	book *speakers.Registry

	mu    sync.Mutex
	began time.Time // of the tape
	asker earshot.Handle
	lines []string
}

// begin says when the tape began, and who is in talk with the agent.
func (n *noted) begin(at time.Time, asker *earshot.Voice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.began, n.asker = at, n.book.Guess(asker, at).Speaker
}

// note takes in an event before the room does.
func (n *noted) note(e *earshot.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Since(n.began).Seconds()
	line := fmt.Sprintf("%.2f from %.2f ", now, e.At.Sub(n.began).Seconds())
	switch body := e.Body.(type) {
	case earshot.Speech:
		line += string(body.Stage)
		if body.Stage == earshot.VoiceWords || body.Stage == earshot.VoiceCalls {
			line += fmt.Sprintf(" by %s stable %t words %q", n.whose(body.Voice, e.At), body.Stable, string(body.Words))
		}
	case earshot.Utterance:
		line += fmt.Sprintf("utterance by %s sure %.2f lasted %.2f own %.2f words %q",
			n.whose(body.Voice, e.At), body.Confidence, body.Lasted.Seconds(), body.Own, string(body.Text))
	default:
		return
	}
	n.lines = append(n.lines, line)
}

// whose returns whose voice it is, as the book would say.
func (n *noted) whose(v *earshot.Voice, at time.Time) string {
	if v == nil {
		return "nobody"
	}
	switch j := n.book.Guess(v, at); {
	case j.Strange:
		return "unlike"
	case j.Speaker.ID == "":
		return "anybody"
	case j.Speaker == n.asker:
		return "asker"
	}
	return "other"
}

// ledger is where that is written, if somebody wants it.
var ledger = os.Getenv("EARSHOT_NOTES")

// enter writes it there.
func (n *noted) enter(title string) error {
	if ledger == "" {
		return nil
	}
	f, err := os.OpenFile(ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	_, err = fmt.Fprintf(f, "-- %s --\n%s\n", title, strings.Join(n.lines, "\n"))
	return err
}
