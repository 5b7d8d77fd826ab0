// Package slash answers the /commands that people give in a room. It is a client of the room: it
// reads what the askers may know, and asks the room to keep, show or change something.
package slash

import (
	"context"
	"fmt"
	"strings"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive"
	"earshot/executive/addressing"
	"earshot/executive/command"
	"earshot/executive/dialogue"
	"earshot/executive/explain"
	"earshot/executive/hearing"
	"earshot/executive/presence"
	"earshot/executive/remind"
	"earshot/executive/scene"
	"earshot/internal/lockorder"
	"earshot/participants"
	"earshot/participants/agents"
)

// A Host is the room as its commands know it. All fields must be set, except Voices, Enters, Order,
// Decided and Others, which may be nil. Everything is safe for concurrent use.
type Host struct {
	Room       earshot.RoomID
	People     *participants.Registry
	Addressing *addressing.Resolver
	Scene      *scene.Scene
	Listener   *hearing.Listener
	Presence   *presence.Estimator
	Reminders  *remind.Schedule
	Voices     hearing.Voices

	Settings func() executive.Config
	Agents   func() []agents.Record // the main one first
	Now      func() time.Time

	State func(earshot.Audience) api.RoomState // what everybody in an audience may know
	Going func(earshot.Audience) []scene.Item  // the time and the scene, likewise
	Mode  func() earshot.Mode
	Wants func() (m earshot.Mode, byKey bool) // the mode that was last requested, and whether a talk key did

	Enters  func(participants.Participant) error // why somebody may not be in the room
	Order   func(context.Context, participants.Participant, agents.Order) (agents.Record, error)
	Decided func(earshot.Audience) explain.Journal

	Keep           func(context.Context, earshot.Event) error                   // on record
	Amend          func(context.Context, earshot.Event, earshot.Audience) error // an edit, if it still fits
	SetMode        func(context.Context, earshot.ParticipantID, earshot.Mode) error
	SetReminder    func(context.Context, earshot.ParticipantID, earshot.Event) (remind.Reminder, error)
	CancelReminder func(ctx context.Context, who earshot.ParticipantID, n int, a earshot.Audience, event func(earshot.Body) earshot.Event) error
	Reattribute    func(command.Call, hearing.Record, participants.Participant) (string, error)
	Mention        func(text string) // shows a line to everybody
	Become         func(context.Context, command.Call, participants.Session, participants.Participant) error

	Confirm, Think, Resync func(context.Context, command.Call) (string, error) // what the room answers itself

	Others command.Table // the commands of the program besides these
}

// Commands are the commands of one room. They are safe for concurrent use. Use [New].
type Commands struct {
	Host

	table command.Table

	mu       lockorder.Mutex[lockorder.Leaf]
	listings []listing // the lists of the scene that were shown, newest last
}

// New returns the commands of a room.
func New(h Host) *Commands {
	c := &Commands{Host: h}
	c.table = c.list()
	return c
}

// ForgetLists forgets which lists were shown: they may quote what was forgotten or changed.
func (h *Commands) ForgetLists() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listings = nil
}

// Table returns the commands of a room. The caller does not change it.
func (h *Commands) Table() command.Table { return h.table }

func (h *Commands) list() command.Table {
	const people, letsIn, agent, operators = "Who is here", "What this room takes in (for everybody in it)", "The agent", "For operators of earshot"
	var t command.Table
	t = command.Table{
		{Group: people, Name: "who", Help: "who is here, and what this room lets in", Do: h.who},
		{Group: people, Name: "identity", Args: "[NAME]", Help: "who you are to me, or become somebody else", Do: h.identity},
		{Group: people, Name: "voice", Args: "[name N NAME | …]", Help: "whose voices I hear; name a voice, or have yours kept or forgotten", Do: h.voice},
		{Group: people, Name: addressing.WhisperCommand, Args: "NAME text", Help: "send a private message; separate several names by commas", Needs: participants.SendMessages, Do: said},
		{Group: people, Name: earshot.PostTo, Args: "PATH text", Help: "send a message to the address of an agent, or to all that match /owner/agent/*", Needs: participants.SendMessages, Do: said},
		{Group: letsIn, Name: "mute", Help: "take in no sound; text and a camera go on", Needs: participants.SendMessages, Do: h.changes(earshot.Muted)},
		{Group: letsIn, Name: "unmute", Help: "take in sound again", Needs: participants.SendMessages, Do: h.unmute},
		{Group: letsIn, Name: "pause", Help: "take in neither sound nor pictures, and answer nothing; text is kept", Needs: participants.SendMessages, Do: h.changes(earshot.Paused)},
		{Group: letsIn, Name: "offrecord", Help: "like /pause, and keep nothing; no agent reads what you write", Needs: participants.SendMessages, Do: h.changes(earshot.OffRecord)},
		{Group: letsIn, Name: "resume", Help: "listen, answer and keep again", Needs: participants.SendMessages, Do: h.changes(earshot.Live)},
		{Group: agent, Name: "stop", Help: "stop talking", Do: said},
		{Group: agent, Name: earshot.OwnWords, Args: "QUESTION", Help: "ask in public with your words alone, so that others' words hold no tool back", Needs: participants.SendMessages, Do: said},
		{Group: agent, Name: "confirm", Args: "[NUMBER]", Help: "allow, once, a tool call that others' words hold back; alone: what waits", Needs: participants.SendMessages, Do: h.Confirm},
		{Group: agent, Name: "why", Args: "[N] [AGENT]", Help: "why I spoke or kept silent the last N times", Do: h.why},
		{Group: agent, Name: "snooze", Args: "[1h | off]", Help: "do not speak unasked for a while: 1h or 15:04", Needs: participants.SendMessages, Do: h.snooze},
		{Group: agent, Name: "think", Args: "[QUESTION | stop]", Help: "think about something; alone: what I am thinking and what I found", Needs: participants.SendMessages, Do: h.Think},
		{Group: agent, Name: "note", Args: "TEXT", Help: "keep something in mind; everybody here sees it", Needs: participants.SendMessages, Do: h.note},
		{Group: agent, Name: "remind", Args: "[10m TEXT]", Help: "remind you: in 10 min, tomorrow 9am, …; alone: the list; cancel N", Needs: participants.SendMessages, Do: h.remind},
		{Group: agent, Name: "agent", Args: "[add|change|end …]", Help: "list the agents; operators can add, change and end them", Do: h.agent},
		{Group: agent, Name: "context", Args: "[change N …]", Help: "what I know about the situation; add, change, remove, undo", Do: h.context},
		{Group: agent, Name: "correct", Args: "TEXT", Help: "correct me, such as: no, that is Bob's cup", Needs: participants.SendMessages, Do: h.correction},
		{Group: operators, Name: "merge", Args: "KEEP OTHER", Help: "two names are one person; put names of several words in quotes", Needs: participants.Operate, Do: h.merge},
		{Group: operators, Name: "split", Args: "NAME", Help: "undo /merge", Needs: participants.Operate, Do: h.split},
		{Group: operators, Name: "rename", Args: "NAME TO NAME", Help: "rename somebody", Needs: participants.Operate, Do: h.rename},
	}
	t = append(t, h.Others...)
	t = append(t, command.Table{
		{Group: "Other", Name: "help", Help: "this list", Do: func(_ context.Context, c command.Call) (string, error) {
			return t.Help(c.By) + "\n  /exit                    leave", nil
		}},
	}...)
	return t
}

// said completes a command that has already acted on its way in: one that cuts, or a message.
func said(context.Context, command.Call) (string, error) { return "", nil }

// who says who is here, since when, and what the room lets in. Somebody's terminals are shown only
// to themselves and to the operator.
func (h *Commands) who(_ context.Context, c command.Call) (string, error) {
	var b strings.Builder
	roster := h.Addressing.Roster()
	for _, p := range roster.External {
		dialogue.Describe(&b, p)
		h.since(&b, p, h.People.Only(c.Audience, p.ID))
		b.WriteString("\n")
	}
	for _, p := range roster.Internal {
		dialogue.Describe(&b, p)
		b.WriteString("\n")
	}
	for _, line := range h.Presence.Lines(h.Now()) {
		b.WriteString(line + "\n")
	}
	mode := h.Mode()
	fmt.Fprintf(&b, "The room is %s: %s.", mode, mode.Means())
	return b.String(), nil
}

// since writes how long somebody has been here and, if terminals is set, by which of them.
func (h *Commands) since(b *strings.Builder, p participants.Participant, terminals bool) {
	var by []string
	for _, s := range h.People.Sessions(p.ID) {
		switch {
		case s.Room != h.Room:
			continue
		case len(by) == 0:
			fmt.Fprintf(b, ", here since %s", s.Since.Local().Format("15:04"))
		}
		name := s.Outlet
		if s.Address != "" {
			name += " from " + s.Address
		}
		by = append(by, name)
	}
	if terminals && len(by) > 0 {
		fmt.Fprintf(b, ", at %s", strings.Join(by, ", "))
	}
}
