package room

import (
	"context"

	"earshot"
	"earshot/participants"
)

// Enter adds an outlet to the room: from the next turn on, replies are delivered to it, as far as
// everybody around it may perceive them. The returned function removes it: from then on nothing is
// shown there, and no later turn opens it. A speech that has begun continues until it ends itself.
func (r *Room) Enter(o earshot.Outlet, around earshot.Audience) (leave func()) {
	around.Room = r.cfg.ID
	p, remove := r.places.Add(o, around, func(ctx context.Context, o earshot.Outlet, opening earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
		return r.echoReference.Open(ctx, o, opening, r.voiceFor(false), heard)
	})
	if m := r.currentMode(); m != earshot.Live {
		p.Show(r.event(earshot.Visibility{Scope: earshot.System}, earshot.Notice{Text: "The room is " + string(m) + ": " + m.Means() + "."}))
	}
	r.nudge() // somebody may have waited to be reminded
	return func() {
		remove()
		r.changes.Notify()
	}
}

// show puts e on the boards around which everybody may see it.
func (r *Room) show(e earshot.Event) { r.places.Show(e) }

// tell shows a notice at one outlet, without keeping it.
func (r *Room) tell(outlet string, n earshot.Notice) {
	r.places.ShowAt(outlet, r.event(earshot.Visibility{Scope: earshot.System}, n))
}

// Report tells the people in the room about a fault of the program, or about its end, and remembers
// it until it is over. Faults that come and go are reported as [supervise.Outages] says. Report
// does not wait for the journal, which may be at fault.
func (r *Room) Report(n earshot.Notice) {
	told := r.faults.Change(r.cfg.Now(), n)
	r.changes.Notify()
	if told {
		r.warn(n)
		return
	}
	r.nudge()
}

// warn reports a fault or its end to the people in the room, and to the log.
func (r *Room) warn(n earshot.Notice) {
	r.cfg.Log.Warn("reported", "fault", n.Key, "text", n.Text, "over", n.Over)
	r.show(r.event(earshot.Visibility{Scope: earshot.System}, n))
}

// Mention shows a line to everybody in the room, without keeping it.
func (r *Room) Mention(text string) {
	r.show(r.event(earshot.Visibility{Scope: earshot.System}, earshot.Notice{Text: text}))
}

// Know remembers a fault that people have been told already, or forgets one that is over, and tells
// nobody.
func (r *Room) Know(n earshot.Notice) {
	r.faults.Know(r.cfg.Now(), n)
	r.changes.Notify()
}

// reportOnce reports a fault unless people have been told already.
func (r *Room) reportOnce(n earshot.Notice) {
	if !r.faults.Has(n.Key) {
		r.Report(n)
	}
}

// readers returns who reads what is answered to somebody at an outlet.
func (r *Room) readers(via string, who participants.Participant) earshot.Audience {
	return r.places.Readers(via, earshot.Audience{Room: r.cfg.ID, Members: []earshot.ParticipantID{who.Reader()}})
}

// TellAlone shows a notice at the terminals in the room around which somebody is alone, without
// keeping it. It returns at once.
func (r *Room) TellAlone(who earshot.ParticipantID, n earshot.Notice) {
	e := r.event(earshot.Visibility{Scope: earshot.System}, n)
	for _, p := range r.places.Around(e.Visibility) {
		if r.cfg.People.Alone(p.Around(), who) {
			p.Show(e)
		}
	}
}

// TellOperators shows a notice wherever only operators of the program read. It reports whether
// anybody did.
func (r *Room) TellOperators(n earshot.Notice) (told bool) {
	e := r.event(earshot.Visibility{Scope: earshot.System}, n)
	for _, p := range r.places.Around(e.Visibility) {
		if r.cfg.People.Operate(p.Around()) {
			p.Show(e)
			told = true
		}
	}
	return told
}
