package room

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"earshot"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/participants"
)

// keepDecisions is how far back /why reaches.
const keepDecisions = 20

// table is what can be asked of the program in this room.
func (r *Room) table() command.Table {
	const people, letsIn, agent = "Who is here", "What this room lets in (for all who are in it)", "The agent"
	var t command.Table
	t = command.Table{
		{Group: people, Name: "who", Help: "who is here, and what this room lets in", Do: r.who},
		{Group: people, Name: "identity", Help: "who you are to me", Do: r.whoami},
		{Group: letsIn, Name: "mute", Help: "take in no sound; text goes on", Needs: participants.SendMessages, Do: r.changes(earshot.Muted)},
		{Group: letsIn, Name: "pause", Help: "and answer nothing; text is kept", Needs: participants.SendMessages, Do: r.changes(earshot.Paused)},
		{Group: letsIn, Name: "offrecord", Help: "and keep nothing; no agent reads it", Needs: participants.SendMessages, Do: r.changes(earshot.OffRecord)},
		{Group: letsIn, Name: "resume", Help: "listen, answer and keep again", Needs: participants.SendMessages, Do: r.changes(earshot.Live)},
		{Group: agent, Name: "stop", Help: "stop talking", Do: func(context.Context, command.Call) (string, error) { return "", nil }},
		{Group: agent, Name: "why", Help: "why I spoke, or kept silent, of late", Do: r.why},
		{Group: agent, Name: "note", Args: "TEXT", Help: "keep something in mind; all who are here see it", Needs: participants.SendMessages, Do: r.note},
		{Group: agent, Name: "context", Help: "what I know about what is going on", Do: r.context},
		{Group: "Else", Name: "help", Help: "this list", Do: func(_ context.Context, c command.Call) (string, error) {
			return t.Help(c.By) + "\n  /exit                    leave", nil
		}},
	}
	return t
}

func (r *Room) who(context.Context, command.Call) (string, error) {
	var b strings.Builder
	for _, p := range r.cfg.People.Here(r.cfg.ID) {
		fmt.Fprintf(&b, "%s (%s)\n", p.Name, p.Type)
	}
	fmt.Fprintf(&b, "%s (%s)\n", r.cfg.People.Name(participants.Agent), participants.Internal)
	fmt.Fprintf(&b, "The room is %s: %s.", r.is(), r.is().Means())
	return b.String(), nil
}

func (r *Room) whoami(_ context.Context, c command.Call) (string, error) {
	if c.By.ID == "" {
		return fmt.Sprintf("I do not know who is behind %s.", c.Event.From), nil
	}
	text := fmt.Sprintf("You are %s (%s), known by %s.", c.By.Name, c.By.ID, c.Event.From)
	if c.By.Can(participants.Operate) {
		text += " You operate this machine's earshot."
	}
	return text, nil
}

func (r *Room) why(_ context.Context, c command.Call) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, e := range r.decisions[max(0, len(r.decisions)-5):] {
		if d, ok := e.Body.(earshot.Decision); ok && e.Visibility.Allows(c.Audience) {
			fmt.Fprintf(&b, "%s  %s: %s\n", e.At.Local().Format("15:04:05"), d.Verdict, strings.Join(d.Reasons, "; "))
		}
	}
	if b.Len() == 0 {
		return "Nothing has been decided yet.", nil
	}
	return strings.TrimRight(b.String(), "\n"), nil
}

func (r *Room) context(_ context.Context, c command.Call) (string, error) {
	now := r.cfg.Now()
	text := scene.Prompt(r.scene.For(c.Audience).Recent(now, r.cfg.Settings().ContextWindow.Duration()), now)
	if text == "" {
		return "Nothing is going on.", nil
	}
	return strings.TrimRight(text, "\n"), nil
}

// facts are what reflexes answer from, as far as a may know it.
func (r *Room) facts(set executive.Config, a earshot.Audience) reflex.Facts {
	f := reflex.Facts{Agent: set.Name, Now: r.cfg.Now(), Lately: r.history.lately(a, r.cfg.People.Name)}
	s := r.State()
	f.Works, f.Faults = s.Works, s.Faults
	f.Said, f.Last = reply(r.latest(a, false)), reply(r.latest(a, true))
	return f
}

// reply returns the reply that e is, if there is one.
func reply(e earshot.Event) *earshot.Reply {
	if r, ok := e.Body.(earshot.Reply); ok {
		return &r
	}
	return nil
}

// A State is what a room says of itself, to people and programs.
type State struct {
	Room     earshot.RoomID             `json:"room"`
	Agent    string                     `json:"agent"`
	Speaking bool                       `json:"speaking"`
	Quiet    bool                       `json:"quiet"` // somebody asked for silence
	Here     []participants.Participant `json:"here"`
	Outlets  []string                   `json:"outlets"`
	Waiting  int                        `json:"waiting"` // events on their way into the journal, and questions without a turn yet
	Works    []string                   `json:"works"`   // the parts without a fault
	Faults   []earshot.Notice           `json:"faults"`
}

// State returns the room as it is.
func (r *Room) State() State {
	s := State{Room: r.cfg.ID, Agent: r.cfg.Settings().Name, Here: r.cfg.People.Here(r.cfg.ID)}
	if r.cfg.Works != nil {
		s.Works = r.cfg.Works()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Speaking, s.Quiet, s.Waiting = r.live != "", r.quiet, len(r.waiting)+r.asked
	for _, p := range r.places {
		s.Outlets = append(s.Outlets, p.Name())
	}
	for _, key := range slices.Sorted(maps.Keys(r.faults)) {
		s.Faults = append(s.Faults, r.faults[key])
	}
	s.Works = slices.DeleteFunc(s.Works, func(part string) bool { _, ill := r.faults[part]; return ill })
	return s
}
