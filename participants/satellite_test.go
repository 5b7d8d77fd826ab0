package participants_test

import (
	"errors"
	"testing"

	"earshot"
	"earshot/participants"
)

// TestAtSatellite: whoever sits at a satellite has an ID and a name, by which nobody else can come in, be
// found, be told something in private or be made the same; and cannot become anybody there.
func TestAtSatellite(t *testing.T) {
	r, l := open(t, house())
	kitchen := earshot.Handle{Provider: participants.BySatellite, ID: "kitchen"}
	id := participants.AtSatellite("kitchen")
	p, known := r.Get(id)
	if !known || p.Name != "satellite kitchen" || p.Can(participants.UseTools) || !p.Can(participants.SendMessages) || r.Name(id) != p.Name || !participants.Unnamed(id) {
		t.Errorf("%+v, %v, %q", p, known, r.Name(id))
	}
	h := r.Attach(participants.Session{ID: "s", Room: "den", Participant: id, Account: kitchen})
	if h == kitchen || r.Resolve(h).ID != id || r.Resolve(kitchen).ID != "" {
		t.Errorf("%v is %+v, and the microphone %+v", h, r.Resolve(h), r.Resolve(kitchen))
	}
	if r.Come("den", id, "s") || len(r.Here("den")) != 0 {
		t.Error("nobody is known to be there")
	}
	for _, name := range []string{"satellite kitchen", "Satellite-Kitchen", "satellite", "satellite_kitchen"} {
		if p, err := r.Claim(t.Context(), console, name, nil); err == nil {
			t.Errorf("somebody is called %q: %+v", name, p)
		}
		if _, found := r.Find(name); found {
			t.Errorf("%q is found", name)
		}
	}
	for _, name := range []string{"Bob", "Tess", "Ann", "anonymous", "user", "Newcomer"} {
		for _, come := range []func() (participants.Participant, error){
			func() (participants.Participant, error) { return r.Claim(t.Context(), kitchen, name, anybody) },
			func() (participants.Participant, error) { return r.Identify(t.Context(), kitchen, name, anybody) },
		} {
			if p, err := come(); !errors.Is(err, participants.ErrNotYours) || p.ID != "" {
				t.Errorf("at a satellite, %q is %+v, %v", name, p, err)
			}
		}
	}
	ann, _ := r.Find("Ann")
	if err := errors.Join(r.Merge(t.Context(), ann, id, "bob"), r.Merge(t.Context(), ann, "bob", id), r.Rename(t.Context(), ann, id, "Kit")); err == nil || len(l.changes) != 0 {
		t.Errorf("changed: %v, %v", err, l.changes)
	}
	c := house()
	c.Actors = append(c.Actors, participants.Actor{ID: id})
	if c.Validate() == nil {
		t.Error("the configuration can name somebody like that")
	}
	r.Detach("s")
	if r.Resolve(h).ID != "" {
		t.Error("it is known after its end")
	}
}
