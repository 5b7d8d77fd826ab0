package participants

import (
	"context"
	"fmt"
	"strings"
	"time"

	"earshot"
)

const (
	// mostActors is how many people may be known because they gave a name. Beyond that some lapse,
	// such as those of a script that gives a new name each time.
	mostActors = 1000

	// mostGuests is how many people without a name can be here at once.
	mostGuests = 100

	// vacant is how long a guest may be without a session before they count as gone, and how long a
	// token that was shown is valid for a session that begins: a terminal attaches right after it
	// has said who it is.
	vacant = time.Minute

	// mostNamed is how many names an error lists.
	mostNamed = 10
)

// The prefixes of IDs that the registry makes.
const (
	actorPrefix = "p_"
	guestPrefix = "guest_"
)

// anonymous is what somebody gives as their name who does not want to give one.
const anonymous = "anonymous"

// A tokenProof says that an account has shown a token of a participant.
type tokenProof struct {
	account earshot.Handle
	who     earshot.ParticipantID
}

// guarded reports whether somebody cannot become p merely by giving the name.
func (p Participant) guarded() bool { return p.RequiresAuth || p.Can(Operate) }

// Guest reports whether p is somebody without a name. Nobody can claim to be a guest.
func (p Participant) Guest() bool { return strings.HasPrefix(string(p.ID), guestPrefix) }

// Claim returns who somebody known by account is when they give a name. An empty name means the
// account's own person, and "anonymous" means a new guest, where guests are allowed. Nobody becomes
// an agent, an existing guest or a voice by giving its name. To become somebody who requires a
// token, or may operate the daemon, the account must be that person's own, or proven must report
// that a token of that participant was shown. proven may be nil, is called at most once, and may
// block. Somebody new is created and recorded, if the configuration allows it.
//
// The errors are [ErrName], [ErrReserved], [ErrTaken], [ErrToken], [ErrUnknown] and [ErrFull], each
// with a remedy, and errors of recording.
func (r *Registry) Claim(ctx context.Context, account earshot.Handle, name string, proven func(earshot.ParticipantID) bool) (Participant, error) {
	if p, had, err := r.claimed(account, name, proven); had {
		if err == nil {
			r.stays(ctx, p.ID)
		}
		return p, err
	}
	name, err := CheckName(name)
	if err != nil {
		return Participant{}, err
	}
	return r.create(ctx, account, name, proven)
}

// Identify is like [Registry.Claim], for somebody who only reads. It creates nobody.
func (r *Registry) Identify(_ context.Context, account earshot.Handle, name string, proven func(earshot.ParticipantID) bool) (Participant, error) {
	if p, had, err := r.claimed(account, name, proven); had {
		return p, err
	}
	cure := r.introduction(false)
	if r.actors().AllowDynamicCreation && r.setup.NewID != nil {
		cure += "; who is new says something first, as by earshot say"
	}
	return Participant{}, Refuse(ErrUnknown, fmt.Sprintf("nobody is called %q", name), cure)
}

// claimed returns who somebody is when they give a name that is in use; had is false if nobody has
// the name.
func (r *Registry) claimed(account earshot.Handle, name string, proven func(earshot.ParticipantID) bool) (p Participant, had bool, err error) {
	switch {
	case name == "":
		p, err = r.own(account)
		return p, true, err
	case account.Provider == BySatellite:
		return p, true, Refuse(ErrNotYours, "anybody may sit at a satellite, so nobody is known by their name there", "come in with a token: earshot chat --identity NAME")
	case fold(name) == anonymous:
		p, err = r.guest()
		return p, true, err
	}
	if p, had = r.called(name); had {
		p, err = r.admit(account, p, proven)
	}
	return p, had, err
}

func (r *Registry) own(account earshot.Handle) (Participant, error) {
	if p := r.Resolve(account); p.ID != "" {
		return p, nil
	}
	return Participant{}, Refuse(ErrUnknown, "this account belongs to nobody who is known", r.introduction(true))
}

// called returns the person who has a name now, with all their rights.
func (r *Registry) called(name string) (Participant, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if fold(name) == string(Generic) {
		return r.people[Generic], true
	}
	id, ok := r.names.find(name)
	r.saw(id)
	return r.people[r.root(id)], ok
}

// admit decides whether the owner of an account may be p.
func (r *Registry) admit(account earshot.Handle, p Participant, proven func(earshot.ParticipantID) bool) (Participant, error) {
	if own := r.Resolve(account); own.ID == p.ID {
		return own, nil
	}
	switch {
	case p.Type == Internal, p.Guest(), p.Nameless():
		r.mu.Lock()
		defer r.mu.Unlock()
		return Participant{}, r.tooNear(p.Name, p.ID)
	case !p.guarded():
		return p, nil
	case proven == nil || !proven(p.ID):
		return Participant{}, r.unproven(p)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown[tokenProof{account, p.ID}] = r.now()
	return p, nil
}

// unproven returns the error for somebody who has shown no token and so cannot be p.
func (r *Registry) unproven(p Participant) error {
	h := arrivedBy(p.ID)
	if h == (earshot.Handle{}) {
		return Refuse(ErrToken, fmt.Sprintf("to be %q takes a token", p.Name), "ask the owner for one (earshot token create), or say another name")
	}
	return Refuse(ErrToken, fmt.Sprintf("%q is known by %s; giving the name is not enough", p.Name, vouching[h.Provider]),
		fmt.Sprintf("if that is you, ask the owner to add %s to your handles in external_actors, or to give you a token (earshot token create %q); or use another name", h, p.Name))
}

// now returns the time. Without a clock, it is always the same.
func (r *Registry) now() time.Time {
	if r.setup.Now == nil {
		return time.Time{}
	}
	return r.setup.Now()
}

// create creates somebody new, who is recorded before anybody can be them. If two people give the
// same name at once, the second gets the participant that was created for the first.
func (r *Registry) create(ctx context.Context, account earshot.Handle, name string, proven func(earshot.ParticipantID) bool) (Participant, error) {
	done, err := r.begin(ctx)
	if err != nil {
		return Participant{}, err
	}
	defer done()
	if p, ok := r.called(name); ok {
		return r.admit(account, p, proven)
	}
	if err := r.makeRoom(ctx, name); err != nil {
		return Participant{}, err
	}
	id := earshot.ParticipantID(actorPrefix + string(r.setup.NewID()))
	err = r.record(ctx, id, earshot.Actor{Act: earshot.Created, Participant: id, Name: name, Type: string(Human), Once: true})
	p, _ := r.Get(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.visitRecords[id]; s != nil {
		s.first, s.last = r.now(), r.now()
	}
	return p, err
}

// makeRoom makes those people lapse who must give way to somebody new called name.
func (r *Registry) makeRoom(ctx context.Context, name string) error {
	for swept := false; ; swept = true {
		lapse, err := r.room(name, swept)
		if len(lapse) == 0 || err != nil {
			return err
		}
		for _, id := range lapse {
			if err := r.lapse(ctx, id); err != nil {
				return err
			}
		}
	}
}

// room returns who must lapse before somebody new called name comes in, or why there is no room for
// them. swept says that room was called before.
func (r *Registry) room(name string, swept bool) (lapse []earshot.ParticipantID, err error) {
	if !r.actors().AllowDynamicCreation || r.setup.NewID == nil {
		return nil, Refuse(ErrUnknown, fmt.Sprintf("nobody is called %q", name), r.introduction(true))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if other, near := r.names.near(name, "", false); near {
		if !r.givesWay(other) {
			return nil, r.tooNear(name, other)
		}
		return []earshot.ParticipantID{other}, nil
	}
	if full := len(r.visitRecords) >= mostActors; full || !swept {
		lapse = r.lapsing()
	}
	if len(r.visitRecords)-len(lapse) >= mostActors {
		return nil, Refuse(ErrFull, "too many people are here already", "use a known name, or come back in a minute")
	}
	return lapse, nil
}

// guest creates somebody without a name, who is forgotten when their last session ends.
func (r *Registry) guest() (Participant, error) {
	c := r.actors()
	if !c.AllowAnonymous || r.setup.NewID == nil || r.setup.Now == nil {
		return Participant{}, Refuse(ErrUnknown, "a name is needed to come in", r.introduction(true))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.setup.Now()
	r.sweep(now)
	if len(r.guests) >= mostGuests {
		return Participant{}, Refuse(ErrFull, "there are too many guests", "give a name, or come back later")
	}
	id := earshot.ParticipantID(guestPrefix + string(r.setup.NewID()))
	name := r.names.free(c.anonymous(now, len(r.guests)+1), id)
	p := Participant{ID: id, Name: name, Type: Human, Description: "guest", Capabilities: capabilities()}
	r.people[id], r.guests[id] = p, now
	r.names.add(name, id, false)
	r.changed()
	return p, nil
}

// sweep forgets guests who have said who they are but never attached.
func (r *Registry) sweep(now time.Time) {
	for id, since := range r.guests {
		if now.Sub(since) > vacant && !r.somewhere(id) {
			r.forget(id)
		}
	}
}

func (r *Registry) forget(id earshot.ParticipantID) {
	r.names.remove(r.people[id].Name, id)
	delete(r.people, id)
	delete(r.guests, id)
	delete(r.visitRecords, id)
	delete(r.arrivals, id)
	r.changed()
}

// introduction says how somebody can come in, including by a new name if that is allowed.
func (r *Registry) introduction(anew bool) string {
	var known []string
	for _, p := range r.Known() {
		known = append(known, p.Name)
	}
	if more := len(known) - mostNamed; more > 0 {
		known = append(known[:mostNamed], fmt.Sprintf("%d more", more))
	}
	cure := "say who you are, with --identity NAME; known are " + strings.Join(known, ", ")
	if anew && r.actors().AllowDynamicCreation && r.setup.NewID != nil {
		cure += ", or any name that nobody has yet"
	}
	return cure
}
