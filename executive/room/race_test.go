package room_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/room"
)

// sound is how far somebody has come who is heard through a microphone.
func sound(stage earshot.Stage) earshot.Event {
	return earshot.Event{From: earshot.Handle{Provider: "microphone", ID: "1"}, Body: earshot.Speech{Stage: stage, Confidence: 1}}
}

// TestTheMindIsParkedAsLongAsSomebodySpeaks, whatever else the owner of the room has to
// look at meanwhile; and no longer.
func TestTheMindIsParkedAsLongAsSomebodySpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		defer h.stop()
		for range 300 {
			var all sync.WaitGroup
			for range 4 {
				all.Go(h.Reseat)
			}
			all.Go(func() { h.Admit(t.Context(), sound(earshot.VoiceBegan)) })
			all.Wait()
			synctest.Wait()
			if !room.Parked(h.Room) {
				t.Fatal("somebody speaks, and the mind is let go")
			}
			h.Admit(t.Context(), sound(earshot.VoiceOver))
			synctest.Wait()
			if room.Parked(h.Room) {
				t.Fatal("nobody speaks, and the mind is parked")
			}
		}
	})
}

// TestAVoiceThatJustEndsParksNobody: nothing more comes of it, and nothing else happens.
func TestAVoiceThatJustEndsParksNobody(t *testing.T) {
	for name, stage := range map[string]earshot.Stage{"a voice": earshot.VoiceBegan, "a phrase": earshot.VoiceCalls} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse().open(t.Context())
				defer h.stop()
				synctest.Wait()
				h.Admit(t.Context(), sound(stage))
				if !room.Parked(h.Room) {
					t.Error("the mind is not parked")
				}
				time.Sleep(20 * time.Second)
				if room.Parked(h.Room) {
					t.Error("the mind is parked for ever")
				}
			})
		})
	}
}
