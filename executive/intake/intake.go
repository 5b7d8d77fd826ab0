// Package intake brings what senses send into the form in which a room may keep it: a sense may send
// anything. It is pure, and knows no room.
package intake

import (
	"fmt"
	"strings"
	"time"

	"earshot"
	"earshot/executive/dialogue"
	"earshot/executive/hearing"
	"earshot/executive/revision"
	"earshot/executive/sight"
	"earshot/participants"
)

// Body returns what a sense brings in, in the form in which a room may keep it. The error says, for
// the sender, why it may not.
func Body(b earshot.Body) (earshot.Body, error) {
	switch body := b.(type) {
	case earshot.Message:
		return message(body)
	case earshot.Revision:
		body.Text = dialogue.Valid(body.Text)
		return body, nil
	case earshot.Withdrawal:
		return earshot.Withdrawal{Of: body.Of}, nil
	case earshot.Utterance:
		return utterance(body)
	case earshot.Speech:
		return speech(body), nil
	case earshot.Presence, earshot.Typing, earshot.Command, earshot.Edit, earshot.Sight, earshot.Glance:
		return b, nil
	}
	return b, fmt.Errorf("a provider may not bring in a %T", b)
}

// Noticed returns what a sense has noticed by itself about somebody in the form in which it may be
// kept or believed; anything else unchanged.
func Noticed(from earshot.Handle, who participants.Participant, b earshot.Body) (earshot.Body, error) {
	switch body := b.(type) {
	case earshot.Edit:
		return revision.CheckEdit(body, from, who, revision.MaxMemo)
	case earshot.Sight:
		return sight.CheckSight(body, from, who)
	case earshot.Glance:
		return sight.CheckGlance(body, from, who)
	}
	return b, nil
}

// maxUtterance is the longest utterance in bytes: nobody says more in the half minute that is
// transcribed at once.
const maxUtterance = 4 << 10

// utterance returns u in the form in which a room keeps it: a sense may send anything.
func utterance(u earshot.Utterance) (earshot.Utterance, error) {
	text, err := dialogue.Wording(u.Text, maxUtterance)
	u.Text = text
	u.Continues, u.LikeAgent = "", false
	u.Confidence, u.Own = hearing.Share(u.Confidence), hearing.Share(u.Own)
	u.Lasted = min(max(u.Lasted, 0), time.Hour)
	return u, err
}

// speech does the same for words that are still being said.
func speech(s earshot.Speech) earshot.Speech {
	s.Words = s.Words[:min(len(s.Words), maxUtterance)]
	s.Words = earshot.Text(strings.ToValidUTF8(string(s.Words), "\uFFFD"))
	s.Confidence, s.LikeAgent = hearing.Share(s.Confidence), false
	return s
}

// message returns a message in the form in which it may be kept: it needs text or attachments. No
// more attachments are kept than people can look through.
func message(m earshot.Message) (earshot.Message, error) {
	kept := earshot.Message{Text: dialogue.Valid(m.Text), ReplyTo: m.ReplyTo}
	for _, a := range m.Attachments[:min(len(m.Attachments), earshot.MaxAttachments)] {
		kept.Attachments = append(kept.Attachments, earshot.Attachment{
			Name: earshot.Text(fileName(string(a.Name))), Type: fileName(a.Type), Size: max(0, a.Size),
		})
	}
	if len(kept.Attachments) > 0 && strings.TrimSpace(string(kept.Text)) == "" {
		kept.Text = ""
		return kept, nil
	}
	_, err := dialogue.Wording(m.Text, earshot.MaxText)
	return kept, err
}

// longestFile is the longest file name in bytes, as in file systems.
const longestFile = 255

// fileName returns text as valid UTF-8, no longer than a file name.
func fileName(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), longestFile)], "")
}

// Source returns the key in interruption.sources of an interruption from h.
func Source(h earshot.Handle) string {
	switch {
	case h.Provider == "discord":
		return "discord"
	case h.Provider == participants.BySatellite && strings.Contains(h.ID, "/"): // a session, at its console
		return "text"
	case h.Provider == "microphone", h.Provider == participants.BySatellite, h.Provider == "voice":
		return "audio"
	}
	return "text"
}
