package replay

import (
	"context"
	"encoding/json"
	"strings"

	"earshot"
	"earshot/interrupt"
	"earshot/participants"
	"earshot/participants/agents"
)

// perform has an event happen again that came from outside, and ends what the house did
// that has come to its end.
func (h *simulation) perform(ctx context.Context, s step) {
	e := s.event
	r := h.rooms[e.Room]
	h.meet(e)
	switch b := e.Body.(type) {
	case earshot.Message:
		if b.Turn == "" {
			h.returns(ctx, e)
			h.writes(ctx, e, b)
		}
	case earshot.Utterance:
		h.returns(ctx, e)
		b.Voice = h.record.voice(e, b)
		e.Body = b
		h.admit(ctx, e)
	case earshot.Presence:
		h.moves(ctx, e, b)
	case earshot.ModeChange:
		if e.Author != "" {
			h.begin(func() error { return r.SetMode(ctx, e.Author, b.Mode) })
		}
	case earshot.Revision, earshot.Withdrawal:
		if h.journal.has(h.names.brought(e).Body) {
			h.admit(ctx, h.names.brought(e))
		}
	case earshot.Sight:
		if b.What == earshot.Captioned {
			h.again(ctx, e)
			return
		}
		h.admit(ctx, e)
	case earshot.Memo, earshot.Edit, earshot.Reminder:
		if foreign(e) {
			h.returns(ctx, e)
			h.again(ctx, e)
		}
	case earshot.Snooze:
		if foreign(e) && len(e.Sources) == 0 {
			h.again(ctx, e)
		}
	case earshot.Finding:
		if b.Thought == "" { // it was made beside the room
			h.again(ctx, e)
		}
	case earshot.Attribution:
		h.again(ctx, e)
	case earshot.Actor:
		h.people.Apply(b)
	case earshot.Agent:
		h.changes(ctx, b)
	case earshot.Thought:
		h.stretch(ctx, e, b)
	case earshot.Reply:
		h.ends(e, b)
	case earshot.Glance, earshot.Typing:
		h.admit(ctx, e)
	case earshot.Tombstone:
		h.erased++
	}
}

// meet knows somebody whose coming into being is not on record, or was not looked for.
func (h *simulation) meet(e earshot.Event) {
	if !foreign(e) || e.Author == "" || participants.OfVoice(e.Author) {
		return
	}
	if _, known := h.people.Get(e.Author); !known {
		h.people.Apply(earshot.Actor{Act: earshot.Created, Participant: e.Author, Name: string(e.Author), Type: string(participants.Human)})
	}
}

// begin has something done that waits until it is on record.
func (h *simulation) begin(do func() error) {
	h.doing.Go(func() {
		if do() != nil {
			h.refused.Add(1)
		}
	})
}

// admit brings an event in as it came.
func (h *simulation) admit(ctx context.Context, e earshot.Event) {
	e.From, e.Sequence = h.handle(e), 0
	h.begin(func() error { return h.rooms[e.Room].Admit(ctx, e) })
}

// again has something on record as it stands there.
func (h *simulation) again(ctx context.Context, e earshot.Event) {
	h.begin(func() error { return h.rooms[e.Room].Replay(ctx, h.names.brought(e)) })
}

// writes has somebody write a message, in private by the command for that.
func (h *simulation) writes(ctx context.Context, e earshot.Event, m earshot.Message) {
	if !m.Revised.IsZero() {
		h.revised++
	}
	if m.Text == "" && len(m.Attachments) == 0 {
		m.Text = "." // it was revised to nothing; somebody wrote something
	}
	e.Body = m
	if e.Visibility.Scope != earshot.Private {
		switch {
		case m.OwnWords:
			e.Body = earshot.Command{Name: earshot.OwnWords, Args: m.Text}
		case m.Posted:
			to, _ := json.Marshal(e.To) // strings
			e.Body = earshot.Command{Name: earshot.PostTo, Args: earshot.Text(to) + " " + m.Text}
		}
		h.admit(ctx, h.names.brought(e))
		return
	}
	var to []string
	for _, id := range e.To {
		to = append(to, `"`+h.people.Name(id)+`"`)
	}
	e.Body = earshot.Command{Name: "msg", Args: earshot.Text(strings.Join(to, ", ")) + ": " + m.Text}
	h.admit(ctx, e)
}

// recipients returns the agents whose IDs are an address in a performance.
func recipients(_ context.Context, _ participants.Participant, address string) (all []agents.Record, err error) {
	var to []earshot.ParticipantID
	err = json.Unmarshal([]byte(address), &to)
	for _, id := range to {
		all = append(all, agents.Record{ID: id})
	}
	return all, err
}

// moves has somebody come or go. Who is here by voice comes and goes by what is heard.
func (h *simulation) moves(ctx context.Context, e earshot.Event, p earshot.Presence) {
	if !h.outside(e, p) {
		return
	}
	if p.Here {
		h.comes(e, p.Session)
	}
	from := e
	from.From, from.Via = h.handle(e), h.outletOf(e)
	h.admit(ctx, from)
	delete(h.rooms[e.Room].left, from.Via)
	if !p.Here {
		h.setup.Settle()
		h.goes(e.Room, p.Session)
		h.rooms[e.Room].left[from.Via] = p.Session
	}
}

// returns lets somebody come who writes or speaks where they had gone: who comes and goes
// again and again is announced when that is over.
func (h *simulation) returns(ctx context.Context, e earshot.Event) {
	session, gone := h.rooms[e.Room].left[e.Via]
	if !gone || e.Via == "" || e.Author == "" {
		return
	}
	e.ID, e.Body = "", earshot.Presence{Session: session, Here: true}
	h.moves(ctx, e, earshot.Presence{Session: session, Here: true})
	h.setup.Settle()
}

// changes takes in that something changed about an agent.
func (h *simulation) changes(ctx context.Context, a earshot.Agent) {
	is, known := h.book.take(a)
	if is.Kind.Below() {
		return
	}
	kept := func() error { return nil }
	switch {
	case a.Act == earshot.Ended:
		h.people.Dismiss(a.ID)
	case known:
		_ = h.people.Redescribe(ctx, described(is), kept) // else it is called as before
	default:
		_ = h.people.Introduce(ctx, described(is), kept)
	}
	for _, r := range h.rooms {
		r.Reseat()
	}
}

// stretch has a thought asked for by a command, and ends a stretch.
func (h *simulation) stretch(ctx context.Context, e earshot.Event, b earshot.Thought) {
	r := h.rooms[e.Room]
	if b.Outcome == earshot.Asked && b.Cause == earshot.ByCommand && len(e.To) > 0 {
		by := h.by[e.To[0]]
		h.begin(func() error {
			return r.Admit(ctx, earshot.Event{At: e.At, From: by, Via: h.record.via[e.To[0]], Body: earshot.Command{Name: "think", Args: b.Question}})
		})
	}
	p := h.record.parts[string(e.ID)]
	if p == nil {
		return
	}
	if b.Cut != nil && p.live.Load() {
		if b.Dropped && b.Cut.Signal == interrupt.Command.String() && b.Cut.By != "" {
			by := h.by[b.Cut.By]
			h.begin(func() error {
				return r.Admit(ctx, earshot.Event{At: b.Cut.At, From: by, Body: earshot.Command{Name: "think", Args: "stop"}})
			})
		} else {
			r.ReplayYield(*b.Cut)
		}
		h.setup.Settle()
	}
	p.end()
}

// ends ends a reply as it ended.
func (h *simulation) ends(e earshot.Event, b earshot.Reply) {
	p := h.record.turns[string(b.Turn)]
	if p == nil {
		return
	}
	if b.Cut != nil && h.rooms[e.Room].Says(earshot.TurnID(h.names.current(string(b.Turn)))) {
		h.rooms[e.Room].ReplayCut(*b.Cut, h.by[b.Cut.By])
		h.setup.Settle()
	}
	p.end()
}
