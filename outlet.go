package earshot

import "context"

// A Clause is a piece of a reply that is handed to an outlet as one. The
// clauses of one speech, one after the other, are the text that was offered. One
// without Text is no part of it: a voice says its Spoken as a sign, such as "Let me
// see" while the reply is late.
type Clause struct {
	N      int    `json:"n"` // from 0, without gaps
	Text   Text   `json:"text"`
	Spoken Text   `json:"spoken,omitempty"` // how a voice says it; without Marks, as it likes
	Marks  []Mark `json:"marks,omitempty"`  // where Spoken and Text meet, ascending
}

// A Mark says that byte Spoken of a clause's spoken form stands for byte Text
// of its text.
type Mark struct {
	Spoken int `json:"spoken"`
	Text   int `json:"text"`
}

// Heard is how far an outlet has come, taken from the position of the device
// and never from what was handed to it.
type Heard struct {
	Clause int  `json:"clause"` // the clause that is being heard
	Byte   int  `json:"byte"`   // how much of its Text has been heard, on a rune's edge
	End    bool `json:"end"`    // nothing after this will be heard
}

// A Control tells a speech what to do with its sound or its print.
type Control int

// The controls, from the gentlest to the last.
const (
	Resume Control = iota // go on where it stopped, at full volume
	Duck                  // go on with a lower voice; an outlet without one goes on
	Pause                 // stop here, keep the rest
	Cut                   // stop here, throw the rest away
)

// String returns the control's name.
func (c Control) String() string {
	switch c {
	case Resume:
		return "resume"
	case Duck:
		return "duck"
	case Pause:
		return "pause"
	case Cut:
		return "cut"
	}
	return "unknown control"
}

// An Opening says whose turn an outlet is opened for.
type Opening struct {
	Turn  TurnID  `json:"turn"`
	About EventID `json:"about"`          // what the turn answers
	Root  EventID `json:"root,omitempty"` // what somebody said with which the talk began that the turn belongs to
	Name  string  `json:"name"`           // of the agent, for people

	To      ParticipantID `json:"to,omitempty"`      // who asked; empty if nobody knows
	Private bool          `json:"private,omitempty"` // not everybody in the room may perceive it

	// Protected is a turn that everybody must hear to its end, such as a notice
	// about privacy: the floor neither lowers nor pauses nor cuts it, unless the
	// program ends.
	Protected bool `json:"protected,omitempty"`
}

// An Outlet is a place where a reply comes out. It may be opened from many
// goroutines, but holds at most one speech at a time for a room.
type Outlet interface {
	// Name is unique among the outlets of a room.
	Name() string

	// Open begins a speech. It does not wait for a device longer than ctx.
	//
	// The outlet calls heard, from one goroutine at a time, whenever the
	// position moved, and exactly once with End set: when all was heard after
	// Finish, after a cut, when ctx has ended, or when the device is lost. It
	// may do so before Open returns, and heard never blocks.
	Open(ctx context.Context, o Opening, heard func(Heard)) (Speaking, error)
}

// Speaking is one reply coming out of one outlet.
type Speaking interface {
	// Say hands over the next clause. It may block while the outlet is full
	// or paused, and returns at once when the speech is cut. Calls do not
	// overlap each other.
	Say(Clause) error

	// Do never blocks, overtakes whatever was said, and may be called at any
	// time from any goroutine, also after the end.
	Do(Control)

	// Finish says that no clause follows. It does not block.
	Finish()
}

// A Flowing outlet shows words as they come, so it is given each piece as a
// clause of its own, and not whole clauses as a voice needs them. It is
// optional; callers test for it.
type Flowing interface {
	Outlet
	Flows() bool
}

// An Audible outlet is a voice: what comes out of it can be heard in the room,
// also by a microphone there, and what is shown elsewhere keeps its pace. It is
// optional; callers test for it.
type Audible interface {
	Outlet
	Audible() bool
}

// A Written outlet is a chat beside a call. Where there is a voice in the room, what
// answers something that was said aloud does not come out of it as well. It is
// optional; callers test for it.
type Written interface {
	Outlet
	Written() bool
}

// A Board is an outlet that also shows what is not a reply: what others wrote,
// why the agent kept silent, notices. It is optional; callers test for it.
type Board interface {
	// Show shows e, which the people at the outlet may see. It does not
	// block: a board that cannot keep up drops the oldest and says how many.
	Show(e Event)
}

// A ReceiptHolder is an outlet that may outlive the daemon. It is optional. After each position that it
// reports, it is given a receipt of what was heard so far, which takes the place of the one before; nil says
// that it needs none any more. If the daemon is lost, whoever has the room next takes it as proof: only
// daemons can make one. The methods neither block nor call the room.
type ReceiptHolder interface {
	KeepReceipt([]byte)

	// TakeReceipt returns the receipt that the outlet had before it came here, once; nil if it had none.
	TakeReceipt() []byte
}

// MaxReceipt is the longest receipt in bytes: more is heard without one.
const MaxReceipt = 32 << 10
