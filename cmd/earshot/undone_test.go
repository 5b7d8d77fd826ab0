package main

import (
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/models/voiceprint"
)

// TestUndone: when a correction of a speaker is undone, the sentence is attributed as before, even
// if the voice began with that correction.
func TestUndone(t *testing.T) {
	t.Parallel()
	m := newChoirmaster(t, quietly)
	m.says("ann", "the tide is rising")
	v := &earshot.Voice{Heard: time.Second, Print: make([]float32, voiceprint.Size), Channel: "desk"}
	for i := range v.Print {
		v.Print[i] = float32(m.luck.NormFloat64())
	}
	m.now = m.now.Add(10 * time.Second)
	err := m.d.Admit(t.Context(), earshot.Event{
		ID: m.d.NewID(), At: m.now, From: earshot.Handle{Provider: "microphone", ID: "default"}, Via: "microphone",
		Body: earshot.Utterance{Text: "and the moon is full", Confidence: 0.9, Lasted: time.Second, Voice: v},
	})
	if err != nil {
		t.Fatal(err)
	}
	m.shown("somebody   and the moon is full")
	m.does(success, "", "speakers", "name", "1", "Bob")
	m.does(success, "", "speakers", "name", "1", "Ann")
	if _, err := m.d.Desk().Do(t.Context(), earshot.Event{From: m.d.Account(), Body: earshot.Command{Name: "correct", Args: "that was bob"}}); err != nil {
		t.Fatal(err)
	}
	m.shown("Bob        and the moon is full [first taken for somebody]")
	m.does(success, "Undone", "speakers", "undo")
	m.shown("somebody   and the moon is full")
}

// TestKeptIsNotUnnamed: a voice that is kept cannot lose its name by /voice unname, which would
// undo only half of the enrolment.
func TestKeptIsNotUnnamed(t *testing.T) {
	t.Parallel()
	m := newChoirmaster(t, quietly)
	for range 5 {
		m.says("ann", "the tide is rising")
	}
	m.does(success, "", "speakers", "enroll", "Ann", "--voice", "1", "--consents")
	m.shown("Ann        the tide is rising")
	answer, err := m.d.Desk().Do(t.Context(), earshot.Event{From: m.d.Account(), Body: earshot.Command{Name: "voice", Args: "unname 1"}})
	if err == nil {
		t.Errorf("answered %q", answer)
	}
	if r := m.earshot(nil, "history"); !strings.Contains(r.out, "Ann        the tide is rising") {
		t.Errorf("%v; then the history is\n%s", err, r.out)
	}
}
