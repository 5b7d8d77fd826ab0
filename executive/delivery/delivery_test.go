package delivery_test

import (
	"context"
	"testing"

	"earshot"
	"earshot/executive/delivery"
)

// A board keeps what it is shown.
type board struct {
	name  string
	shown []earshot.EventID
	cut   bool
}

func (b *board) Name() string             { return b.name }
func (b *board) Show(e earshot.Event)     { b.shown = append(b.shown, e.ID) }
func (b *board) Say(earshot.Clause) error { return nil }
func (b *board) Do(w earshot.Control)     { b.cut = b.cut || w == earshot.Cut }
func (b *board) Finish()                  {}
func (b *board) Open(context.Context, earshot.Opening, func(earshot.Heard)) (earshot.Speaking, error) {
	return b, nil
}

func audience(members ...earshot.ParticipantID) earshot.Audience {
	return earshot.Audience{Room: "desk", Members: members}
}

func private(members ...earshot.ParticipantID) earshot.Visibility {
	return earshot.Visibility{Scope: earshot.Private, Members: members}
}

// TestShow: an event is shown where everybody around may see it, and nowhere after the outlet left.
func TestShow(t *testing.T) {
	var set delivery.Set
	ann, both := &board{name: "ann"}, &board{name: "both"}
	_, leave := set.Add(ann, audience("ann"), nil)
	set.Add(both, audience("ann", "bob"), nil)
	set.Show(earshot.Event{ID: "private", Visibility: private("ann")})
	set.Show(earshot.Event{ID: "public", Visibility: earshot.Visibility{Scope: earshot.Public}})
	set.ShowAt("both", earshot.Event{ID: "secret", Visibility: private("ann")})
	if len(ann.shown) != 2 || len(both.shown) != 1 || both.shown[0] != "public" {
		t.Errorf("Ann alone was shown %v, both %v", ann.shown, both.shown)
	}
	places := set.Around(private("ann"))
	leave()
	set.Show(earshot.Event{ID: "late", Visibility: private("ann")})
	if len(ann.shown) != 2 {
		t.Error("an outlet that has left is shown something")
	}
	if _, err := places[0].Open(t.Context(), earshot.Opening{}, nil); err == nil {
		t.Error("an outlet that has left is opened")
	}
	if a := set.Readers("both", audience("carol")); len(a.Members) != 3 {
		t.Errorf("%v read what is answered there", a.Members)
	}
}

// TestReplace: a speech ends at an outlet around which somebody comes who may not hear it.
func TestReplace(t *testing.T) {
	var set delivery.Set
	b := &board{name: "ann"}
	set.Add(b, audience("ann"), nil)
	turn := set.BeginTurn(set.Around(private("ann")), private("ann"), nil, func() {})
	if len(turn) != 1 {
		t.Fatal("it does not fit at first")
	}
	speaking, err := turn[0].Open(t.Context(), earshot.Opening{}, func(earshot.Heard) {})
	if err != nil || speaking == nil || b.cut {
		t.Fatal(err, b.cut)
	}
	if shut, elsewhere := set.Replace("eve", "ann", "bob"); len(shut) > 0 || !elsewhere {
		t.Error("somebody came elsewhere, and it ends")
	}
	shut, elsewhere := set.Replace("ann", "ann", "bob")
	if len(shut) != 1 || elsewhere || shut[0].Fits() {
		t.Fatal("it fits for somebody else")
	}
	if shut[0].Shut(); !b.cut {
		t.Error("it is not cut")
	}
	if _, err := turn[0].Open(t.Context(), earshot.Opening{}, func(earshot.Heard) {}); err == nil {
		t.Error("it is opened again")
	}
}
