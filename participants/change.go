package participants

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"earshot"
)

// begin waits until no other change is being recorded, here or by another program that shares the journal.
// The caller calls done once its own is recorded.
func (r *Registry) begin(ctx context.Context) (done func(), err error) {
	release := func() {}
	if r.setup.Exclude != nil {
		if release, err = r.setup.Exclude(ctx); err != nil {
			return nil, err
		}
	}
	held, err := r.hold(ctx)
	if err != nil {
		release()
		return nil, err
	}
	return func() { held(); release() }, nil
}

// hold waits until no other change is being recorded here.
func (r *Registry) hold(ctx context.Context) (done func(), err error) {
	select {
	case r.change <- struct{}{}:
		return func() { <-r.change }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// record records a change and then applies it. The registry can be read meanwhile.
func (r *Registry) record(ctx context.Context, by earshot.ParticipantID, a earshot.Actor) error {
	if r.setup.Record != nil {
		if err := r.setup.Record(ctx, by, a); err != nil {
			return fmt.Errorf("recording who exists: %w", err)
		}
	}
	r.Apply(a)
	return nil
}

// Apply takes in a recorded change. One that was taken in already changes nothing. A change that no
// longer fits, because the configuration is different now, gives way: if the configuration has
// given a participant's name to another, the participant gets that name with a number.
func (r *Registry) Apply(a earshot.Actor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch a.Act {
	case earshot.Created:
		r.applyCreated(a)
	case earshot.Renamed:
		r.applyRenamed(a)
	case earshot.Stayed:
		if s := r.visitRecords[a.Participant]; s != nil {
			s.once = false
		}
	case earshot.Lapsed:
		r.applyLapsed(a.Participant)
	case earshot.Merged:
		r.remeet(a.Participant, a.Into)
		if r.mergeable(a.Into, a.Participant) == nil {
			r.into[a.Participant] = a.Into
			r.changed()
		}
	case earshot.Split:
		if _, merged := r.into[a.Participant]; merged {
			delete(r.into, a.Participant)
			r.changed()
		}
	}
}

func (r *Registry) applyCreated(a earshot.Actor) {
	if _, known := r.people[a.Participant]; known || a.Participant == "" {
		return
	}
	p := Participant{ID: a.Participant, Type: Type(a.Type), Description: a.Description, Capabilities: capabilities()}
	if !p.Type.external() {
		p.Type = Other
	}
	p.Name = r.names.free(usable(a.Name), p.ID)
	r.arrives(&p, a.Called)
	r.people[p.ID] = p
	if strings.HasPrefix(string(p.ID), actorPrefix) {
		r.visitRecords[p.ID] = &visitRecord{once: a.Once, last: r.now()}
	}
	r.names.add(p.Name, p.ID, false)
	r.names.also(a.Name, p.ID)
	r.changed()
}

func (r *Registry) applyRenamed(a earshot.Actor) {
	p, known := r.people[a.Participant]
	if is := r.arrivals[a.Participant]; is != nil {
		is.called, is.named = cmp.Or(a.Called, is.called), a.Called == ""
	}
	if s := r.visitRecords[a.Participant]; s != nil {
		s.named = true
	}
	if name := usable(a.Name); known && p.Name != name && !r.predeclared(p.ID) {
		r.names.remove(p.Name, p.ID)
		p.Name = r.names.free(name, p.ID)
		r.people[p.ID] = p
		r.names.add(p.Name, p.ID, false)
		r.names.also(a.Name, p.ID)
		r.changed()
	}
}

// usable returns a usable form of a name that was recorded when other rules may have applied.
func usable(name string) string {
	if shown, problem := check(name); problem == "" {
		return shown
	}
	return cmp.Or(nearest(name), "Newcomer")
}

// predeclared reports whether the configuration sets somebody's name.
func (r *Registry) predeclared(id earshot.ParticipantID) bool {
	return r.configured(id) || id == Generic || r.people[id].Type == Internal
}

// Rename gives somebody another name, which old lines show too. Only somebody who may operate the
// daemon may do it. A name that the configuration sets cannot be changed.
func (r *Registry) Rename(ctx context.Context, by Participant, who earshot.ParticipantID, name string) error {
	name, err := CheckName(name)
	if err != nil {
		return err
	}
	return r.alter(ctx, by, earshot.Actor{Act: earshot.Renamed, Participant: who, Name: name}, func() error {
		p, known := r.people[who]
		if other, near := r.names.near(name, who, false); near {
			return r.tooNear(name, other)
		}
		switch _, guest := r.guests[who]; {
		case !known || guest:
			return Refuse(ErrUnknown, "nobody with this ID can be renamed", "see /who")
		case r.predeclared(who):
			return Refuse(ErrNotYours, fmt.Sprintf("the name %q is set in the configuration", p.Name), "change it there")
		}
		return nil
	})
}

// Merge makes other the same person as keep: from now on the handles of other belong to keep, and
// old lines of other show keep's name. Nobody sees more of the past than before, see
// [Participant.Reader] and [Registry.Identities], and nobody may do more: a handle that was added
// by a merger has no more rights than it had before. Only somebody who may operate the daemon may
// merge.
func (r *Registry) Merge(ctx context.Context, by Participant, keep, other earshot.ParticipantID) error {
	return r.alter(ctx, by, earshot.Actor{Act: earshot.Merged, Participant: other, Into: keep}, func() error {
		return r.mergeable(keep, other)
	})
}

// Split undoes the merger of other. What its handles said meanwhile stays attributed to the same
// person.
func (r *Registry) Split(ctx context.Context, by Participant, other earshot.ParticipantID) error {
	return r.alter(ctx, by, earshot.Actor{Act: earshot.Split, Participant: other}, func() error {
		if _, merged := r.into[other]; !merged {
			return Refuse(ErrUnknown, "nobody with that name was merged into somebody else", "say the name that was given up, the second one of /merge")
		}
		return nil
	})
}

// alter records a change that by makes, if by may operate the daemon and fits returns nil.
func (r *Registry) alter(ctx context.Context, by Participant, a earshot.Actor, fits func() error) error {
	if !by.Can(Operate) {
		return Refuse(ErrNotYours, "only the owner may change who somebody is", "ask them")
	}
	return r.enter(ctx, by, a, fits)
}

// enter records a change if fits returns nil.
func (r *Registry) enter(ctx context.Context, by Participant, a earshot.Actor, fits func() error) error {
	done, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	r.mu.Lock()
	err = fits()
	r.mu.Unlock()
	if err != nil {
		return err
	}
	return r.record(ctx, by.ID, a)
}

// mergeable says why other cannot be merged into keep; nil if it can.
func (r *Registry) mergeable(keep, other earshot.ParticipantID) error {
	_, already := r.into[other]
	for _, id := range []earshot.ParticipantID{keep, other} {
		if _, guest := r.guests[id]; guest || id == Generic || !r.people[id].Type.external() {
			return Refuse(ErrUnknown, "only known people and external systems can be merged", "see /who")
		}
	}
	switch {
	case OfVoice(keep) && !OfVoice(other):
		return Refuse(ErrUnknown, fmt.Sprintf("nobody knows who %q is", r.people[keep].Name), "merge the other way round")
	case already:
		return Refuse(ErrTaken, fmt.Sprintf("%q was merged already", r.people[other].Name), "split them first")
	case r.root(keep) == r.root(other):
		return Refuse(ErrTaken, fmt.Sprintf("%q is the same person already", r.people[other].Name), "there is nothing to do")
	case r.people[other].Can(Operate):
		return Refuse(ErrNotYours, fmt.Sprintf("%q may operate the daemon, and a merger would take that away", r.people[other].Name), "merge the other way round")
	}
	return nil
}

// Identities returns all the IDs that are one person with id, beginning with the person's own. A
// private event has all of them among its members, so the person sees it by each handle.
func (r *Registry) Identities(id earshot.ParticipantID) []earshot.ParticipantID {
	r.mu.Lock()
	defer r.mu.Unlock()
	root := r.root(id)
	all := []earshot.ParticipantID{root}
	for other := range r.into {
		if r.root(other) == root {
			all = append(all, other)
		}
	}
	slices.Sort(all[1:])
	return all
}
