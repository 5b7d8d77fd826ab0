package dialogue

import (
	"cmp"
	"fmt"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/llm"
)

// tick is the step of the time from which a prompt counts back. Within a step, the prompt says the
// same about the dialogue, so a server need not read that again.
const tick = 5 * time.Minute

// ago returns how long ago something was at now, in steps that grow with the age: the older it is,
// the longer the text stays the same. For the last moments it is empty.
func ago(at, now time.Time) string {
	age := now.Truncate(tick).Sub(at)
	year, month, day := at.In(now.Location()).Date()
	days := int(time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC).Sub(time.Date(year, month, day, 0, 0, 0, 0, time.UTC)) / (24 * time.Hour))
	switch {
	case age < time.Minute:
		return ""
	case age < 15*time.Minute:
		return "a few minutes ago"
	case age < 45*time.Minute:
		return "about half an hour ago"
	case age < 100*time.Minute:
		return "about an hour ago"
	case age < 6*time.Hour:
		return "some hours ago"
	case days == 0:
		return "earlier today"
	case days == 1:
		return "yesterday"
	case days < 7:
		return fmt.Sprintf("%d days ago", days)
	}
	return "more than a week ago"
}

// dated returns the message that tells the model how old the following lines of the dialogue are.
// It precedes a line whose age differs from that of the line before it.
func dated(when string) llm.Message {
	text := "What follows is from " + cmp.Or(when, "just now") + "."
	return llm.Message{Role: llm.User, Text: conversation.Envelope{From: "System", Text: earshot.Text(text)}.String()}
}
