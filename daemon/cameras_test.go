package daemon

import (
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/internal/field"
	"earshot/internal/probe"
	"earshot/internal/testkit"
	"earshot/participants"
	"earshot/server"
)

// TestShut: a camera is closed in the modes that require it, and outside its hours.
func TestShut(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local)
	for _, tt := range []struct {
		mode  earshot.Mode
		hours field.Hours
		want  string
	}{
		{earshot.Live, "", ""},
		{earshot.Muted, "", ""},
		{earshot.Live, "08:00-20:00", ""},
		{earshot.Paused, "08:00-20:00", "the room is paused; /resume ends that"},
		{earshot.OffRecord, "", "the room is off the record; /resume ends that"},
		{earshot.Live, "20:00-08:00", "its hours are 20:00-08:00"},
	} {
		if got := probe.Closed(tt.mode, tt.hours, noon); got != tt.want {
			t.Errorf("%s, %s: %q, want %q", tt.mode, tt.hours, got, tt.want)
		}
	}
}

// TestPresent: somebody at a terminal of the desk may look, even if they are not its owner.
// Somebody who only gives a name is not there.
func TestPresent(t *testing.T) {
	d := inhabited(t, t.TempDir())
	defer d.Close()
	d.Config().ExternalActors.AllowDynamicCreation = true
	defer runs(t, d)()
	p := backend{d}
	bob := server.Claim{Name: "Bob", New: true}
	who, err := p.Identify(t.Context(), p.daemon.options.Account, bob)
	if err != nil || who.Present {
		t.Fatalf("%+v, %v", who, err)
	}
	board := &testkit.Voice{Called: "board"}
	defer p.daemon.deskRoom().Enter(board, p.daemon.Audience())()
	handle, leave := p.Join(participants.Session{ID: "1", Room: earshot.Desk, Participant: who.ID, Account: p.daemon.options.Account, Outlet: "terminal-1", Connection: "terminal", Since: time.Now()}, nil, p.daemon.Audience())
	is := func(here bool) {
		t.Helper()
		err := p.daemon.Admit(t.Context(), earshot.Event{At: time.Now(), From: handle(), Via: "terminal-1", Body: earshot.Presence{Session: "1", Here: here}})
		if err != nil {
			t.Fatal(err)
		}
	}
	is(true)
	if who, err = p.Identify(t.Context(), p.daemon.options.Account, bob); err != nil || !who.Present {
		t.Errorf("%+v, %v", who, err)
	}
	is(false)
	leave()
	if who, err = p.Identify(t.Context(), p.daemon.options.Account, bob); err != nil || who.Present {
		t.Errorf("%+v, %v", who, err)
	}
	if s, err := p.Look(t.Context(), who, api.LookRequest{}); err != nil || s.Camera != "" || len(s.Known) > 0 {
		t.Errorf("seen was %+v, %v", s, err)
	}
}
