package room

import (
	"context"

	"earshot"
	"earshot/executive/addressing"
)

// Enter adds an outlet to the room: from the next turn on, replies are delivered to it, as far as
// everybody around it may perceive them. The returned function removes it: from then on nothing is
// shown there, and no later turn opens it. A speech that has begun continues until it ends itself.
func (r *Room) Enter(o earshot.Outlet, around earshot.Audience) (leave func()) {
	around.Room = r.cfg.ID
	r.takeReceipt(o) // before it is known that anybody reads there, and they are answered again
	p, remove := r.notices.Outlets.Add(o, around, func(ctx context.Context, o earshot.Outlet, opening earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
		return r.speech.Echo.Open(ctx, o, opening, r.speech.Voice(false), heard)
	})
	if m := r.mode.Current(); m != earshot.Live {
		p.Show(r.event(earshot.Visibility{Scope: earshot.System}, earshot.Notice{Text: "The room is " + string(m) + ": " + m.Means() + "."}))
	}
	r.owner.Wake() // somebody may have waited to be reminded
	return func() {
		remove()
		r.changes.Notify()
	}
}

// show shows e at the outlets around which everybody may see it.
func (r *Room) show(e earshot.Event) { r.notices.Outlets.Show(e) }

// Report tells the people in the room about a fault of the program, or about its end, and remembers
// it until it is over. It returns at once.
func (r *Room) Report(n earshot.Notice) { r.notices.Report(n) }

// Know remembers a fault that people have been told already, or forgets one that is over, and tells
// nobody.
func (r *Room) Know(n earshot.Notice) { r.notices.Know(n) }

// Mention shows a line to everybody in the room, without keeping it.
func (r *Room) Mention(text string) { r.notices.Mention(text) }

// TellAlone shows a notice at the terminals in the room around which somebody is alone, without
// keeping it. It returns at once.
func (r *Room) TellAlone(who earshot.ParticipantID, n earshot.Notice) { r.notices.TellAlone(who, n) }

// TellOperators shows a notice wherever only operators of the program read. It reports whether
// anybody did.
func (r *Room) TellOperators(n earshot.Notice) (told bool) { return r.notices.TellOperators(n) }

// advice tells the author of a message that it reaches nobody, or not everybody whom it calls.
// It is empty if there is nothing to tell.
func (r *Room) advice(a addressing.Addressees) string {
	if a.Hint == "" && a.Lost && r.mode.Current().Answers() && r.cfg.Settings().Enabled {
		return "nobody was addressed, so nobody answers; begin with " + r.agents()[0].Name + ", and I will"
	}
	return a.Hint
}

// Advice tells the author of a new message that it reaches nobody, or not everybody whom it calls.
// It is empty if there is nothing to tell, or the room does not remember the message. It is the
// text that is shown at the outlet beside the author's sense, if there is one.
func (r *Room) Advice(message earshot.EventID) string {
	en, ok := r.entries.Find(message)
	if !ok {
		return ""
	}
	return r.advice(en.Addressees)
}
