package room

import (
	"context"
	"fmt"
	"strings"
	"time"

	"earshot"
	"earshot/participants"
)

// arrive notes who comes or goes, which takes effect at once, and announces it. It returns when the
// announcement is kept, or at once if there is none: somebody has come by a second terminal, or
// flaps. Somebody unknown cannot be here, nor can scripts.
func (r *Room) arrive(ctx context.Context, e earshot.Event, who participants.Participant, p earshot.Presence) error {
	en, err := r.arrival(e, who, p)
	if en == nil || err != nil {
		return err
	}
	return en.wait(ctx)
}

// arrival is arrive without the wait. The journal has the announcements in the order in which
// people came and went.
func (r *Room) arrival(e earshot.Event, who participants.Participant, p earshot.Presence) (*entry, error) {
	if who.ID == "" || who.ID == participants.Generic {
		return nil, nil
	}
	r.presenceMu.Lock()
	defer r.presenceMu.Unlock()
	if !r.count(who.Reader(), e, p) {
		return nil, nil
	}
	r.comings.Same(who.ID, r.cfg.People.Identities(who.ID))
	r.userIs(e, who, map[bool]string{true: "here", false: "away"}[p.Here])
	r.attends(e, who, p.Here)
	news, now := r.comings.Change(r.cfg.Now(), who.ID, p)
	if !now {
		r.nudge() // to look at the clock
		return nil, nil
	}
	e.Author, e.To, e.Body = who.ID, nil, news.Presence
	e.Visibility = earshot.Visibility{Scope: earshot.System}
	return r.enqueue(e, nil)
}

// count counts a session of somebody, by their own ID, whether or not they are one person with
// somebody else when it ends.
func (r *Room) count(who earshot.ParticipantID, e earshot.Event, p earshot.Presence) bool {
	if participants.VouchedFor(e.From) { // one connection carries everybody who comes by it
		p.Session += "/" + e.From.ID
	}
	if p.Here {
		return r.cfg.People.Come(r.cfg.ID, who, p.Session)
	}
	return r.cfg.People.Go(r.cfg.ID, who, p.Session)
}

// nextAnnouncement returns when somebody who came and went in quick succession may be announced.
func (r *Room) nextAnnouncement() time.Time {
	r.presenceMu.Lock()
	defer r.presenceMu.Unlock()
	return r.comings.Next()
}

// announce announces who has settled.
func (r *Room) announce(context.Context) {
	r.presenceMu.Lock()
	defer r.presenceMu.Unlock()
	for _, n := range r.comings.Steady(r.cfg.Now()) {
		e := r.event(earshot.Visibility{Scope: earshot.System}, n.Presence)
		e.Author = n.Who
		if _, err := r.enqueue(e, nil); err != nil {
			return // the room is closed
		}
	}
}

// keepAnnounced is how many announcements the dialogue holds: more than a model needs to know how
// the present people came to be here.
const keepAnnounced = 8

// announced takes an announcement into the dialogue. In an unbroken run of them only the last one
// of each person is kept.
func (h *history) announced(l line) {
	for i := len(h.lines) - 1; i >= 0 && h.lines[i].announces; i-- {
		if h.lines[i].author == l.author {
			h.remove(i)
			break
		}
	}
	h.add(l)
	if h.announcements() > keepAnnounced {
		for i := range h.lines {
			if h.lines[i].announces {
				h.remove(i)
				break
			}
		}
	}
}

// announcements returns how many announcements the dialogue has.
func (h *history) announcements() (n int) {
	for _, l := range h.lines {
		if l.announces {
			n++
		}
	}
	return n
}

// nobody removes from the dialogue the arrivals of people whose departure was not announced: when a
// program begins nobody is here, and the previous program did not see them leave.
func (h *history) nobody() {
	gone := make(map[earshot.ParticipantID]bool)
	for i := len(h.lines) - 1; i >= 0; i-- {
		l := h.lines[i]
		if !l.announces || gone[l.author] {
			continue
		}
		gone[l.author] = true
		if l.comes {
			h.remove(i)
		}
	}
}

// announcement says who has come or gone.
func announcement(people *participants.Registry, id earshot.ParticipantID, p earshot.Presence) string {
	var b strings.Builder
	if who, known := people.Get(id); known && p.Here {
		describe(&b, who)
	} else {
		b.WriteString(people.Name(id))
	}
	b.WriteString(map[bool]string{true: " has joined the conversation", false: " has left the conversation"}[p.Here])
	switch {
	case p.Times == 1:
		b.WriteString(", having come and gone once more meanwhile")
	case p.Times > 1:
		fmt.Fprintf(&b, ", having come and gone %d times meanwhile", p.Times)
	}
	return b.String()
}

// noun returns the word for type t.
func noun(t participants.Type) string {
	switch t {
	case participants.Human:
		return "human user"
	case participants.AIAssistant:
		return "AI assistant"
	case participants.ExternalAgent:
		return "external agent"
	case participants.Group:
		return "group of people"
	case participants.Internal:
		return "agent"
	}
	return "other system"
}
