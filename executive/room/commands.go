package room

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/command"
	"earshot/executive/dialogue"
	"earshot/executive/prompt"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/participants"
)

// table returns the commands of this room.
func (r *Room) table() command.Table {
	const people, letsIn, agent, operators = "Who is here", "What this room takes in (for everybody in it)", "The agent", "For operators of earshot"
	var t command.Table
	t = command.Table{
		{Group: people, Name: "who", Help: "who is here, and what this room lets in", Do: r.who},
		{Group: people, Name: "identity", Args: "[NAME]", Help: "who you are to me, or become somebody else", Do: r.identify},
		{Group: people, Name: "voice", Args: "[name N NAME | …]", Help: "whose voices I hear; name a voice, or have yours kept or forgotten", Do: r.voice},
		{Group: people, Name: whispers, Args: "NAME text", Help: "send a private message; separate several names by commas", Needs: participants.SendMessages, Do: said},
		{Group: letsIn, Name: "mute", Help: "take in no sound; text and a camera go on", Needs: participants.SendMessages, Do: r.changes(earshot.Muted)},
		{Group: letsIn, Name: "unmute", Help: "take in sound again", Needs: participants.SendMessages, Do: r.unmute},
		{Group: letsIn, Name: "pause", Help: "take in neither sound nor pictures, and answer nothing; text is kept", Needs: participants.SendMessages, Do: r.changes(earshot.Paused)},
		{Group: letsIn, Name: "offrecord", Help: "like /pause, and keep nothing; no agent reads what you write", Needs: participants.SendMessages, Do: r.changes(earshot.OffRecord)},
		{Group: letsIn, Name: "resume", Help: "listen, answer and keep again", Needs: participants.SendMessages, Do: r.changes(earshot.Live)},
		{Group: agent, Name: "stop", Help: "stop talking", Do: said},
		{Group: agent, Name: earshot.OwnWords, Args: "QUESTION", Help: "ask in public with your words alone, so that others' words hold no tool back", Needs: participants.SendMessages, Do: said},
		{Group: agent, Name: "confirm", Args: "[NUMBER]", Help: "allow, once, a tool call that others' words hold back; alone: what waits", Needs: participants.SendMessages, Do: r.confirmCommand},
		{Group: agent, Name: "why", Args: "[N] [AGENT]", Help: "why I spoke or kept silent the last N times", Do: r.why},
		{Group: agent, Name: "snooze", Args: "[1h | off]", Help: "do not speak unasked for a while: 1h or 15:04", Needs: participants.SendMessages, Do: r.snooze},
		{Group: agent, Name: "think", Args: "[QUESTION | stop]", Help: "think about something; alone: what I am thinking and what I found", Needs: participants.SendMessages, Do: r.thinkCommand},
		{Group: agent, Name: "note", Args: "TEXT", Help: "keep something in mind; everybody here sees it", Needs: participants.SendMessages, Do: r.note},
		{Group: agent, Name: "remind", Args: "[10m TEXT]", Help: "remind you: in 10 min, tomorrow 9am, …; alone: the list; cancel N", Needs: participants.SendMessages, Do: r.remind},
		{Group: agent, Name: "agent", Args: "[add|change|end …]", Help: "list the agents; operators can add, change and end them", Do: r.agent},
		{Group: agent, Name: "context", Args: "[change N …]", Help: "what I know about the situation; add, change, remove, undo", Do: r.context},
		{Group: agent, Name: "correct", Args: "TEXT", Help: "correct me, such as: no, that is Bob's cup", Needs: participants.SendMessages, Do: r.correction},
		{Group: operators, Name: "merge", Args: "KEEP OTHER", Help: "two names are one person; put names of several words in quotes", Needs: participants.Operate, Do: r.merge},
		{Group: operators, Name: "split", Args: "NAME", Help: "undo /merge", Needs: participants.Operate, Do: r.split},
		{Group: operators, Name: "rename", Args: "NAME TO NAME", Help: "rename somebody", Needs: participants.Operate, Do: r.rename},
	}
	t = append(t, r.cfg.Commands...)
	t = append(t, command.Table{
		{Group: "Other", Name: "help", Help: "this list", Do: func(_ context.Context, c command.Call) (string, error) {
			return t.Help(c.By) + "\n  /exit                    leave", nil
		}},
	}...)
	return t
}

// Commands returns the commands of this room.
func (r *Room) Commands() command.Table { return slices.Clone(r.commands) }

// said completes a command that has already acted on its way in: one that cuts, or a message.
func said(context.Context, command.Call) (string, error) { return "", nil }

// who says who is here, since when, and what the room lets in. Somebody's terminals are shown only
// to themselves and to the operator.
func (r *Room) who(_ context.Context, c command.Call) (string, error) {
	var b strings.Builder
	roster := r.addressing.Roster()
	for _, p := range roster.External {
		dialogue.Describe(&b, p)
		r.since(&b, p, r.only(c.Audience, p.ID))
		b.WriteString("\n")
	}
	for _, p := range roster.Internal {
		dialogue.Describe(&b, p)
		b.WriteString("\n")
	}
	for _, line := range r.presence.Lines(r.cfg.Now()) {
		b.WriteString(line + "\n")
	}
	mode := r.is()
	fmt.Fprintf(&b, "The room is %s: %s.", mode, mode.Means())
	return b.String(), nil
}

// since writes how long somebody has been here and, if terminals is set, by which of them.
func (r *Room) since(b *strings.Builder, p participants.Participant, terminals bool) {
	var by []string
	for _, s := range r.cfg.People.Sessions(p.ID) {
		switch {
		case s.Room != r.cfg.ID:
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

// Going returns the time and the scene, as everybody in a may know it. If there are several agents,
// it names the agent of each state.
func (r *Room) Going(a earshot.Audience) []scene.Item {
	agents, now := addressing.IDs(r.agents()), r.cfg.Now()
	all := []scene.Item{prompt.TimeOf(now)}
	r.tellPresence(now)
	for _, i := range r.scene.For(a).Recent(now, r.cfg.Settings().ContextWindow.Duration()) {
		if i.Field == scene.Agent && !slices.Contains(agents, i.Of) {
			continue // it has no seat any more
		}
		if len(agents) > 1 {
			i = r.attributed(i)
		}
		all = append(all, i)
	}
	return all
}

// attributed returns i with the name of the agent whose state it is, if any.
func (r *Room) attributed(i scene.Item) scene.Item {
	if i.Field == scene.Agent {
		i.Text, i.Name, i.Was = earshot.Text(r.cfg.People.Name(i.Of)+": "+i.Line()), "", ""
	}
	return i
}

// facts are what the reflexes of an agent answer from, as far as a may know it.
func (r *Room) facts(by *seat, a earshot.Audience) reflex.Facts {
	f := reflex.Facts{Agent: by.Name, Now: r.cfg.Now(), Lately: by.history.Lately(a, r.cfg.People.Name)}
	s := r.State(a)
	f.Works, f.Faults = s.Works, s.Faults
	f.Said = reply(by.history.Latest(a))
	return f
}

// reply returns the reply in e, or nil.
func reply(e earshot.Event) *earshot.Reply {
	if r, ok := e.Body.(earshot.Reply); ok {
		return &r
	}
	return nil
}
