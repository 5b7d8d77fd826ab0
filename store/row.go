package store

import (
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"unicode/utf8"

	"earshot"
)

// A row is an event as it is stored on the disk.
type row struct {
	sequence int64
	payload  []byte // the event as JSON, without its sequence
	sum      int64
}

// columns are the columns of a row, in the order of scan. The journal is called j.
const columns = "j.sequence, j.payload, j.sum"

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal makes the row of an event, and returns the event as everybody will read it from the row.
func seal(e earshot.Event, sequence int64) (row, earshot.Event, error) {
	e.Sequence = 0
	payload, err := json.Marshal(e)
	if err != nil {
		return row{}, e, err
	}
	if len(payload) > maxPayload {
		return row{}, e, fmt.Errorf("it takes %d bytes; at most %d are kept", len(payload), maxPayload)
	}
	r := row{sequence: sequence, payload: payload}
	r.sum = r.check()
	e, err = r.event()
	return r, e, err
}

// check computes the sum of the row.
func (r row) check() int64 {
	head := binary.LittleEndian.AppendUint64(nil, uint64(r.sequence))
	return int64(crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, r.payload))
}

// whole reports whether the row is unchanged since it was written.
func (r row) whole() bool { return r.sum == r.check() }

// scan reads the row, and further values if asked, from the columns of a result. A value of a wrong
// type was not written by us; the error does not repeat it.
func (r *row) scan(from interface{ Scan(...any) error }, more ...any) error {
	err := from.Scan(append([]any{&r.sequence, &r.payload, &r.sum}, more...)...)
	if err != nil && code(err) == 0 && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("event %d: %w", r.sequence, errAltered)
	}
	return err
}

// errAltered says that a row was changed after it was written.
var errAltered = errors.New("it was changed after it was written")

// event returns the event in the row.
func (r row) event() (earshot.Event, error) {
	var e earshot.Event
	if !r.whole() {
		return e, fmt.Errorf("event %d: %w", r.sequence, errAltered)
	}
	if err := json.Unmarshal(r.payload, &e); err != nil {
		return e, fmt.Errorf("%w: event %d was written by a newer earshot: start that one: %w", ErrOther, r.sequence, err)
	}
	e.Sequence = r.sequence
	return e, nil
}

const (
	// A reply may be longer than any message, because a model may go on without end. A megabyte is
	// ten hours of speech.
	maxReply = 1 << 20

	// One byte of text takes at most six in JSON, and the rest of an event is small.
	maxPayload = 8 << 20

	maxID = 128 // a ULID has 26

	// The limits of a name and a description, which are in every prompt: anything longer would be a
	// story.
	maxName        = 256
	maxDescription = 4096

	maxAttachment = 1024 // a file name has at most 255 bytes

	maxPath = 512 // see package participants/paths
)

// admissible says why e cannot be kept; nil if it can.
func admissible(e earshot.Event) error {
	switch {
	case e.Body == nil:
		return errors.New("it has no body")
	case !e.Body.Kind().Durable():
		return fmt.Errorf("a %s acts at once and is not kept", e.Body.Kind())
	case e.Room == "":
		return errors.New("it has no room")
	case len(e.ID) > maxID || !utf8.ValidString(string(e.ID)):
		return fmt.Errorf("its ID must be text of at most %d bytes", maxID)
	}
	return fits(e.Body)
}

// fits says why b cannot be kept; nil if it can.
func fits(b earshot.Body) error {
	switch b := b.(type) {
	case earshot.Tombstone:
		return errors.New("only a deletion leaves an erased event")
	case earshot.Message:
		if len(b.Text) > earshot.MaxText {
			return fmt.Errorf("the message has %d bytes; at most %d are kept: send it in pieces", len(b.Text), earshot.MaxText)
		}
		return fitsMessage(b)
	case earshot.Revision:
		return errors.Join(short("the ID", len(b.Of), maxID), short("the message", len(b.Text), earshot.MaxText))
	case earshot.Withdrawal:
		return short("the ID", len(b.Of), maxID)
	case earshot.Utterance:
		return short("the utterance", len(b.Text), earshot.MaxText)
	case earshot.Memo:
		return short("the memo", len(b.Text), earshot.MaxText)
	case earshot.Edit:
		return errors.Join(short("the ID", max(len(b.Item), len(b.Undoes)), maxID), short("the field", max(len(b.Field), len(b.Source)), maxName),
			short("the edit", max(len(b.Was), len(b.Text)), earshot.MaxText))
	case earshot.Sight:
		return errors.Join(short("the camera", len(b.Camera), maxName), short("what was seen", len(b.Text), earshot.MaxText))
	case earshot.Presence:
		return short("the session", len(b.Session), maxID)
	case earshot.Actor:
		return errors.Join(short("the ID", max(len(b.Participant), len(b.Into)), maxID), short("the name", len(b.Name), maxName),
			short("the type", len(b.Type), maxName), short("the description", len(b.Description), maxDescription))
	case earshot.Agent:
		return fitsAgent(b)
	case earshot.Use:
		return errors.Join(short("the ID", len(b.Turn), maxID), short("the name", len(b.Tool), maxName),
			short("the arguments", len(b.Arguments), maxReply), short("the result", len(b.Result), earshot.MaxText))
	case earshot.Reminder:
		return errors.Join(short("the ID", len(b.Of), maxID), short("the reminder", len(b.Text), earshot.MaxText))
	case earshot.Reply:
		if !utf8.ValidString(string(b.Offered)) {
			return errors.New("the reply is not UTF-8, so the part that was heard cannot be kept exactly")
		}
		return short("the reply", len(b.Offered), maxReply)
	}
	return nil
}

// fitsMessage says why the parts of a message cannot be kept; nil if they can.
func fitsMessage(m earshot.Message) error {
	if n := len(m.Attachments); n > earshot.MaxAttachments {
		return fmt.Errorf("the message has %d attachments; at most %d are kept", n, earshot.MaxAttachments)
	}
	faults := []error{short("the ID", max(len(m.Turn), len(m.About), len(m.ReplyTo)), maxID)}
	for _, a := range m.Attachments {
		faults = append(faults, short("the name of an attachment", max(len(a.Name), len(a.Type)), maxAttachment))
	}
	return errors.Join(faults...)
}

// fitsAgent says why an agent event cannot be kept; nil if it can.
func fitsAgent(a earshot.Agent) error {
	faults := []error{
		short("the ID", max(len(a.ID), len(a.User)), maxID), short("the path", len(a.Path), maxPath),
		short("the kind", max(len(a.PathKind), len(a.Role)), maxName),
	}
	if p := a.Profile; p != nil {
		faults = append(faults, short("the name", len(p.Name), maxName), short("the description", len(p.Description), maxDescription),
			short("the prompt", len(p.Prompt), earshot.MaxText), short("the engine", max(len(p.Engine), len(p.Model)), maxDescription))
	}
	return errors.Join(faults...)
}

// short returns an error if something is too long.
func short(what string, bytes, most int) error {
	if bytes > most {
		return fmt.Errorf("%s has %d bytes; at most %d are kept", what, bytes, most)
	}
	return nil
}
