package journal

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"earshot"
)

const (
	// A reply may be longer than any message, because a model may go on without end. A megabyte is
	// ten hours of speech.
	maxReply = 1 << 20

	// MaxPayload is how many bytes an event may take: one byte of text takes at most six in JSON,
	// and the rest of an event is small.
	MaxPayload = 8 << 20

	MaxID = 128 // bytes; a ULID has 26

	// MaxName and MaxDescription are the limits of a name and a description, which are in every
	// prompt: anything longer would be a story.
	MaxName        = 256
	MaxDescription = 4096

	maxAttachment = 1024 // a file name has at most 255 bytes

	maxPath = 512 // see package participants/agents
)

// CheckEvent says why e cannot be kept; nil if it can.
func CheckEvent(e earshot.Event) error {
	switch {
	case e.Body == nil:
		return errors.New("it has no body")
	case !e.Body.Kind().Durable():
		return fmt.Errorf("a %s acts at once and is not kept", e.Body.Kind())
	case e.Room == "":
		return errors.New("it has no room")
	case len(e.ID) > MaxID || !utf8.ValidString(string(e.ID)):
		return fmt.Errorf("its ID must be text of at most %d bytes", MaxID)
	}
	return checkBody(e.Body)
}

// checkBody says why b cannot be kept; nil if it can.
func checkBody(b earshot.Body) error {
	switch b := b.(type) {
	case earshot.Tombstone:
		return errors.New("only a deletion leaves an erased event")
	case earshot.Message:
		if len(b.Text) > earshot.MaxText {
			return fmt.Errorf("the message has %d bytes; at most %d are kept: send it in pieces", len(b.Text), earshot.MaxText)
		}
		return checkMessage(b)
	case earshot.Revision:
		return errors.Join(CheckLength("the ID", len(b.Of), MaxID), CheckLength("the message", len(b.Text), earshot.MaxText))
	case earshot.Withdrawal:
		return errors.Join(CheckLength("the ID", len(b.Of), MaxID), CheckLength("the kind", len(b.Was), MaxName))
	case earshot.Utterance:
		return CheckLength("the utterance", len(b.Text), earshot.MaxText)
	case earshot.Memo:
		return CheckLength("the memo", len(b.Text), earshot.MaxText)
	case earshot.Edit:
		return errors.Join(CheckLength("the ID", max(len(b.Item), len(b.Undoes)), MaxID), CheckLength("the field", max(len(b.Field), len(b.Source)), MaxName),
			CheckLength("the edit", max(len(b.Was), len(b.Text)), earshot.MaxText))
	case earshot.Sight:
		return errors.Join(CheckLength("the camera", len(b.Camera), MaxName), CheckLength("what was seen", len(b.Text), earshot.MaxText))
	case earshot.Presence:
		return CheckLength("the session", len(b.Session), MaxID)
	case earshot.Actor:
		return errors.Join(CheckLength("the ID", max(len(b.Participant), len(b.Into)), MaxID), CheckLength("the name", len(b.Name), MaxName),
			CheckLength("the type", len(b.Type), MaxName), CheckLength("the description", len(b.Description), MaxDescription))
	case earshot.Agent:
		return checkAgent(b)
	case earshot.Use:
		return errors.Join(CheckLength("the ID", len(b.Turn), MaxID), CheckLength("the name", len(b.Tool), MaxName),
			CheckLength("the arguments", len(b.Arguments), maxReply), CheckLength("the result", len(b.Result), earshot.MaxText))
	case earshot.Reminder:
		return errors.Join(CheckLength("the ID", len(b.Of), MaxID), CheckLength("the reminder", len(b.Text), earshot.MaxText))
	case earshot.Task:
		return errors.Join(CheckLength("the ID", max(len(b.Of), len(b.Schedule), len(b.Question), len(b.Told)), MaxID), CheckLength("the name", max(len(b.Engine), len(b.Model), len(b.File)), MaxName),
			CheckLength("the task", len(b.Text), earshot.MaxText))
	case earshot.Step:
		return errors.Join(CheckLength("the ID", max(len(b.Task), len(b.Of), len(b.Told)), MaxID), CheckLength("the name", len(b.Tool), MaxName),
			CheckLength("the arguments", len(b.Arguments), maxReply), CheckLength("the step", len(b.Text), earshot.MaxText))
	case earshot.Schedule:
		return errors.Join(CheckLength("the ID", max(len(b.Of), len(b.Task)), MaxID), CheckLength("the name", max(len(b.Spec), len(b.Zone), len(b.Missed), len(b.Overlap), len(b.Engine), len(b.Model)), MaxName),
			CheckLength("the schedule", max(len(b.When), len(b.Text)), earshot.MaxText))
	case earshot.Reply:
		if !utf8.ValidString(string(b.Offered)) {
			return errors.New("the reply is not UTF-8, so the part that was heard cannot be kept exactly")
		}
		return CheckLength("the reply", len(b.Offered), maxReply)
	}
	return nil
}

// checkMessage says why the parts of a message cannot be kept; nil if they can.
func checkMessage(m earshot.Message) error {
	if n := len(m.Attachments); n > earshot.MaxAttachments {
		return fmt.Errorf("the message has %d attachments; at most %d are kept", n, earshot.MaxAttachments)
	}
	faults := []error{CheckLength("the ID", max(len(m.Turn), len(m.About), len(m.ReplyTo)), MaxID)}
	for _, a := range m.Attachments {
		faults = append(faults, CheckLength("the name of an attachment", max(len(a.Name), len(a.Type)), maxAttachment))
	}
	return errors.Join(faults...)
}

// checkAgent says why an agent event cannot be kept; nil if it can.
func checkAgent(a earshot.Agent) error {
	faults := []error{
		CheckLength("the ID", max(len(a.ID), len(a.User)), MaxID), CheckLength("the path", len(a.Path), maxPath),
		CheckLength("the kind", max(len(a.PathKind), len(a.Role)), MaxName),
	}
	if p := a.Profile; p != nil {
		faults = append(faults, CheckLength("the name", max(len(p.Name), len(p.Username), len(p.Workspace)), MaxName), CheckLength("the description", len(p.Description), MaxDescription),
			CheckLength("the prompt", len(p.Prompt), earshot.MaxText), CheckLength("the engine", max(len(p.Engine), len(p.Model)), MaxDescription))
	}
	return errors.Join(faults...)
}

// CheckLength returns an error if something is too long.
func CheckLength(what string, bytes, most int) error {
	if bytes > most {
		return fmt.Errorf("%s has %d bytes; at most %d are kept", what, bytes, most)
	}
	return nil
}
