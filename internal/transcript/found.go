package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"earshot"
)

// A FoundEvent has its passage beside it.
type FoundEvent struct {
	Event   earshot.Event
	Passage earshot.SearchPassage
}

// Encode writes it as JSON, as one line: the event, with one field more.
func (f FoundEvent) Encode(w io.Writer) error {
	event, err := json.Marshal(f.Event)
	if err != nil {
		return err
	}
	passage, err := json.Marshal(f.Passage)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s,\"passage\":%s}\n", bytes.TrimSuffix(event, []byte("}")), passage)
	return err
}

// What stands around what was looked for, until it is printed. They are of nobody's text: the
// ends of a passage are cut of all that is unfit, and a terminal shows neither.
const (
	litBegin = "\ue0f0\ue0f1"
	litEnd   = "\ue0f1\ue0f0"
)

// longestUnheard is how many letters are shown of what was not heard.
const longestUnheard = 60

// Shorten returns an event that says no more than a passage, with what was looked for between
// marks, and of a reply how much of it was heard.
func Shorten(e earshot.Event, p earshot.SearchPassage) earshot.Event {
	var b strings.Builder
	at := 0
	plain := func(text string) string { return strings.NewReplacer("\ue0f0", "", "\ue0f1", "").Replace(text) }
	for _, h := range p.Hits {
		b.WriteString(plain(p.Text[at:h.Start]) + litBegin + plain(p.Text[h.Start:h.End]) + litEnd)
		at = h.End
	}
	text := earshot.Text(b.String() + plain(p.Text[at:]))
	switch body := e.Body.(type) {
	case earshot.Message:
		body.Text, body.Attachments = text, nil
		e.Body = body
	case earshot.Utterance:
		body.Text = text
		e.Body = body
	case earshot.Memo:
		body.Text = text
		e.Body = body
	case earshot.Edit:
		body.Text = text
		e.Body = body
	case earshot.Sight:
		body.Text = text
		e.Body = body
	case earshot.Reply:
		rest := plain(strings.Join(strings.Fields(string(body.Remainder())), " "))
		if utf8.RuneCountInString(rest) > longestUnheard {
			rest = string([]rune(rest)[:longestUnheard]) + "…"
		}
		body.Offered, body.Heard = text+earshot.Text(rest), []earshot.Delivery{{Bytes: len(text)}}
		e.Body = body
	}
	return e
}

// Highlight shows what stands between marks in bold, if a terminal can, and without the marks.
func Highlight(line string, bold bool) string {
	begin, end := "", ""
	if bold {
		begin, end = "\x1b[1m", "\x1b[22m"
	}
	return strings.NewReplacer(litBegin, begin, litEnd, end).Replace(line)
}
