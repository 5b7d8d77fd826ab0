package participants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"earshot"
)

// voicePrefix begins the ID of somebody who is known by a voice. It is followed by the ID of the
// handle, which is unique for ever, so that a recognised voice stays recognised after a restart
// although nothing of the voice itself is kept. That is followed by the number in their first name,
// so that old lines of unnamed voices can be told apart.
const voicePrefix = "voice_"

// byVoice is the provider in the handles of voices.
const byVoice = "voice"

// mostVoices is how many unnamed voices are remembered: more than can be told apart at a time.
// Beyond that, one that is not present is forgotten.
const mostVoices = 256

// somebodyUnknown is the description of a voice.
const somebodyUnknown = "somebody unknown, known by voice alone"

// OfVoice reports whether an ID belongs to somebody who is known only by a voice. A voice proves
// nothing: such an ID has the rights of somebody unknown, even if the voice was recognised, and
// sees nothing private.
func OfVoice(id earshot.ParticipantID) bool { return strings.HasPrefix(string(id), voicePrefix) }

// Voice reports whether p was found by a voice.
func (p Participant) Voice() bool { return OfVoice(p.Reader()) }

// Nameless reports whether p is known only by a voice.
func (p Participant) Nameless() bool { return OfVoice(p.ID) }

// Meet returns the person who has the voice of a handle. Somebody who is met for the first time is
// an unknown person called name, or name with a number if that is taken. They stay in the registry
// until the process ends, and are not recorded. When somebody says who they are, see
// [Registry.Recognise].
func (r *Registry) Meet(h earshot.Handle, name string) Participant {
	if h.Provider != byVoice || h.ID == "" {
		return Participant{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.as(r.meet(h, name))
}

// meet returns the ID of the person who has the voice of a handle.
func (r *Registry) meet(h earshot.Handle, name string) earshot.ParticipantID {
	if id, known := r.byHandle[h]; known {
		return id
	}
	id := earshot.ParticipantID(voicePrefix + h.ID)
	if n, numbered := strings.CutPrefix(name, "voice "); numbered {
		id += earshot.ParticipantID("_" + n)
	}
	r.introduceVoice(id, h, name)
	return id
}

// MeetAgain returns the person who has the voice of a handle, and whom another program has met with this ID;
// false if that cannot be.
func (r *Registry) MeetAgain(h earshot.Handle, id earshot.ParticipantID) (Participant, bool) {
	number, fits := strings.CutPrefix(string(id), voicePrefix+h.ID)
	if h.Provider != byVoice || h.ID == "" || !fits {
		return Participant{}, false
	}
	p := r.Meet(h, "voice "+strings.TrimPrefix(number, "_"))
	return p, p.ID == id
}

func (r *Registry) introduceVoice(id earshot.ParticipantID, h earshot.Handle, name string) {
	r.overlook()
	name = r.names.free(OneLine(name), id)
	r.people[id] = Participant{ID: id, Name: name, Type: Human, Description: somebodyUnknown, Capabilities: capabilities()}
	r.names.add(name, id, false)
	r.byHandle[h] = id
	r.changed()
}

// overlook forgets a voice if there are too many: the unnamed voice that was met first, of those
// that are not present. Their IDs sort by time.
func (r *Registry) overlook() {
	var all []earshot.ParticipantID
	for id := range r.people {
		if _, named := r.into[id]; OfVoice(id) && !named {
			all = append(all, id)
		}
	}
	if len(all) < mostVoices {
		return
	}
	slices.Sort(all)
	for _, id := range all {
		if !r.isHere(id) {
			r.names.remove(r.people[id].Name, id)
			delete(r.people, id)
			delete(r.byHandle, handleOf(id))
			return
		}
	}
}

func (r *Registry) isHere(id earshot.ParticipantID) bool {
	for room := range r.here {
		if r.present(room, id) {
			return true
		}
	}
	return false
}

// Recognise records that a voice belongs to a known person, because by says so. by may be somebody
// who may operate the daemon, the person themselves, or anybody else who is known by more than a
// voice and vouches for it. This is a merger, see [Registry.Merge]: the voice has no more rights
// than before, and old lines show the person's name.
func (r *Registry) Recognise(ctx context.Context, by Participant, voice, who earshot.ParticipantID) error {
	r.mu.Lock()
	for OfVoice(r.into[voice]) {
		voice = r.into[voice]
	}
	r.mu.Unlock()
	a := earshot.Actor{Act: earshot.Merged, Participant: voice, Into: who}
	err := r.vouch(ctx, by, a, func() error {
		switch p := r.people[who]; {
		case !OfVoice(voice) || r.people[voice].ID == "":
			return Refuse(ErrUnknown, "no such voice was heard", "see /voice")
		case OfVoice(r.root(who)):
			return Refuse(ErrUnknown, fmt.Sprintf("nobody knows who %q is", p.Name), "say who it is, with a name")
		case !p.Person():
			return Refuse(ErrUnknown, fmt.Sprintf("%q is not a person", p.Name), "say whose voice it is")
		}
		return r.mergeable(who, voice)
	})
	if err != nil {
		return err
	}
	return r.settle(ctx, voice)
}

// Unrecognise undoes that. Somebody who may operate the daemon may do it, and so may the person
// whose voice it was taken for.
func (r *Registry) Unrecognise(ctx context.Context, by Participant, voice earshot.ParticipantID) error {
	a := earshot.Actor{Act: earshot.Split, Participant: voice}
	return r.vouch(ctx, by, a, func() error {
		switch into, merged := r.into[voice]; {
		case !OfVoice(voice) || !merged:
			return Refuse(ErrUnknown, "that voice was not assigned to anybody", "see /voice")
		case !by.Can(Operate) && r.root(into) != by.ID:
			return Refuse(ErrNotYours, "only that person or the owner may say that the voice is not theirs", "ask them")
		}
		return nil
	})
}

// Same takes in that two voices have turned out to be one; no person needs to say so. It is
// recorded only if somebody is known by one of them, and has no effect if two different people are.
func (r *Registry) Same(ctx context.Context, keep, other earshot.Handle) error {
	r.mu.Lock()
	k, o := r.byHandle[keep], r.byHandle[other]
	if _, named := r.into[o]; named && OfVoice(r.root(k)) {
		k, o = o, k
	}
	_, already := r.into[o]
	same := OfVoice(k) && OfVoice(o) && !already && r.root(k) != r.root(o)
	known := !OfVoice(r.root(k))
	if same && !known {
		r.into[o] = k
		r.changed()
	}
	r.mu.Unlock()
	if !same || !known {
		return nil
	}
	if err := r.unite(ctx, o, k); err != nil {
		return err
	}
	return r.settle(ctx, o)
}

// settle records which voices turned out to be the same as a voice. That was not worth recording
// until somebody was known by the voice.
func (r *Registry) settle(ctx context.Context, voice earshot.ParticipantID) error {
	r.mu.Lock()
	var others []earshot.ParticipantID
	for other, into := range r.into {
		if into == voice && OfVoice(other) {
			others = append(others, other)
		}
	}
	r.mu.Unlock()
	slices.Sort(others)
	for _, other := range others {
		if err := errors.Join(r.unite(ctx, other, voice), r.settle(ctx, other)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Registry) unite(ctx context.Context, other, keep earshot.ParticipantID) error {
	return r.enter(ctx, Participant{}, earshot.Actor{Act: earshot.Merged, Participant: other, Into: keep}, func() error { return nil })
}

// Apart undoes Same.
func (r *Registry) Apart(ctx context.Context, other earshot.Handle) error {
	r.mu.Lock()
	o := r.byHandle[other]
	apart, known := OfVoice(r.into[o]), !OfVoice(r.root(o))
	if apart && !known {
		delete(r.into, o)
		r.changed()
	}
	r.mu.Unlock()
	if apart && known {
		return r.enter(ctx, Participant{}, earshot.Actor{Act: earshot.Split, Participant: o}, func() error { return nil })
	}
	return nil
}

// Readers returns the IDs under which somebody sees private events: all their IDs except those of
// voices.
func (r *Registry) Readers(id earshot.ParticipantID) []earshot.ParticipantID {
	return slices.DeleteFunc(r.Identities(id), OfVoice)
}

// Vouches says why somebody may not say whose voice something is; nil if they may. Somebody who is
// known only by a voice, or not at all, may not.
func (r *Registry) Vouches(by Participant) error {
	if by.ID == "" || Unnamed(by.ID) || by.Guest() || by.Voice() || !by.Person() {
		return Refuse(ErrNotYours, "somebody who is known only by a voice cannot say whose voice it is", "say who you are, with --identity NAME")
	}
	return nil
}

// vouch records what somebody says about a voice.
func (r *Registry) vouch(ctx context.Context, by Participant, a earshot.Actor, fits func() error) error {
	if err := r.Vouches(by); err != nil {
		return err
	}
	return r.enter(ctx, by, a, fits)
}

// remeet takes in that two participants have turned out to be one person. A voice that is not known
// yet was met in an earlier run, and is introduced.
func (r *Registry) remeet(other, into earshot.ParticipantID) {
	for _, id := range []earshot.ParticipantID{into, other} {
		if _, known := r.people[id]; OfVoice(id) && !known {
			r.introduceVoice(id, handleOf(id), "earlier voice")
		}
	}
	if OfVoice(other) && OfVoice(r.into[other]) {
		delete(r.into, other)
	}
}

func handleOf(id earshot.ParticipantID) earshot.Handle {
	rest, _, _ := strings.Cut(strings.TrimPrefix(string(id), voicePrefix), "_")
	return earshot.Handle{Provider: byVoice, ID: rest}
}

// voiceName returns the former name of an unnamed voice that is no longer known.
func voiceName(id earshot.ParticipantID) string {
	if _, n, numbered := strings.Cut(strings.TrimPrefix(string(id), voicePrefix), "_"); numbered {
		return "voice " + OneLine(n)
	}
	return "a voice"
}
