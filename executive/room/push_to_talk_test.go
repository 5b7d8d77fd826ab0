package room_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/reason"
	"earshot/participants"
)

// spoke brings in what somebody says at the microphone.
func (h *house) spoke(t *testing.T, text earshot.Text) {
	t.Helper()
	if err := h.Admit(t.Context(), earshot.Event{From: earshot.Handle{Provider: "microphone", ID: "1"}, Body: earshot.Utterance{Text: text, Confidence: 1}}); err != nil {
		t.Error(err)
	}
}

// mode returns the mode of the room.
func (h *house) mode() earshot.Mode { m, _ := h.Mode(); return m }

// TestHold: what is said while somebody holds the key is for the agent, even in a room that is
// muted. The room is muted again afterwards.
func TestHold(t *testing.T) {
	for _, tt := range []struct {
		name, before, meanwhile string
		after                   earshot.Mode
		kept                    string // what is on record of the modes and of what was said
	}{
		{"live", "", "", earshot.Live, "utterance; speak (" + reason.Pressed + "); reply completed"},
		{"muted", "mute", "", earshot.Muted, "owner:muted; owner:live until muted; utterance; speak (" + reason.Pressed + "); reply completed; owner:muted"},
		{"muted, and somebody wants it live", "mute", "resume", earshot.Live, "owner:muted; owner:live until muted; utterance; speak (" + reason.Pressed + "); reply completed; owner:live"},
		{"muted, and somebody wants it muted", "mute", "mute", earshot.Muted, "owner:muted; owner:live until muted; utterance; speak (" + reason.Pressed + "); reply completed; owner:muted"},
		{"muted, and somebody wants it paused", "mute", "pause", earshot.Paused, "owner:muted; owner:live until muted; utterance; speak (" + reason.Pressed + "); reply completed; owner:paused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse().open(t.Context())
				if tt.before != "" {
					h.give(t, tt.before, "")
				}
				release, err := h.Hold(t.Context(), participants.Owner)
				if err != nil {
					t.Fatal(err)
				}
				if h.mode() != earshot.Live {
					t.Errorf("it is %s with the key held", h.mode())
				}
				h.spoke(t, "one two")
				time.Sleep(5 * time.Second)
				if tt.meanwhile != "" {
					h.give(t, tt.meanwhile, "")
					synctest.Wait()
					if h.mode() != tt.after {
						t.Errorf("it is %s after /%s", h.mode(), tt.meanwhile)
					}
				}
				release()
				release()
				synctest.Wait()
				if h.mode() != tt.after {
					t.Errorf("it is %s afterwards", h.mode())
				}
				h.stop()
				if got := h.kinds(); got != tt.kept {
					t.Errorf("kept: %s\nwant: %s", got, tt.kept)
				}
			})
		})
	}
}

// TestHoldWhereNothingIsHeard: holding the key does not end a mode that is stricter than muted.
func TestHoldWhereNothingIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		for _, command := range []string{"pause", "offrecord"} {
			h.give(t, command, "")
			if _, err := h.Hold(t.Context(), participants.Owner); err == nil || !strings.Contains(err.Error(), "/resume ends") {
				t.Errorf("after /%s: %v", command, err)
			}
		}
		h.stop()
	})
}

// TestLetGo: when the key is let go, what is being said is heard to its end, or for another four
// seconds; if nothing is said, half a second is waited for a voice. Two hands may hold the key, and
// the last one to let go counts.
func TestLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		h.give(t, "mute", "")
		speech := func(s earshot.Stage) {
			if err := h.Admit(t.Context(), earshot.Event{From: earshot.Handle{Provider: "microphone", ID: "1"}, Body: earshot.Speech{Stage: s, Confidence: 1}}); err != nil {
				t.Error(err)
			}
		}
		hold := func() (release func()) {
			release, err := h.Hold(t.Context(), participants.Owner)
			if err != nil {
				t.Fatal(err)
			}
			return release
		}
		for _, tt := range []struct {
			name string
			says func()
			took time.Duration // from when the key is let go
		}{
			{"nothing is said", func() {}, 500 * time.Millisecond},
			{"a voice that ends", func() {
				speech(earshot.VoiceLasts)
				time.AfterFunc(time.Second, func() { h.spoke(t, "one two") })
			}, time.Second},
			{"one that goes on", func() {
				speech(earshot.VoiceLasts)
				time.AfterFunc(5*time.Second, func() { speech(earshot.VoiceOver) })
			}, 4 * time.Second},
		} {
			first, second := hold(), hold()
			first()
			if h.mode() != earshot.Live {
				t.Errorf("%s: it is %s with one key held", tt.name, h.mode())
			}
			tt.says()
			began := time.Now()
			second()
			if took := time.Since(began); took != tt.took || h.mode() != earshot.Muted {
				t.Errorf("%s: it is %s after %v", tt.name, h.mode(), took)
			}
			time.Sleep(10 * time.Second)
		}
		h.stop()
		if r := h.replies(); len(r) != 1 {
			t.Errorf("%d replies", len(r))
		}
	})
}

// TestNoKeyOutlastsTheProgram: a room that is live only because of a key is back in its former mode
// after a restart.
func TestNoKeyOutlastsTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		h.give(t, "mute", "")
		if _, err := h.Hold(t.Context(), participants.Owner); err != nil {
			t.Fatal(err)
		}
		h.stop()
		again := newHouse()
		again.past = h.journal.Events()
		again.journal.From(int64(len(again.past)))
		again.open(t.Context())
		if again.mode() != earshot.Muted {
			t.Errorf("it is %s", again.mode())
		}
		again.stop()
	})
}
