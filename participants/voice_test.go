package participants_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/participants"
)

func voice(id string) earshot.Handle { return earshot.Handle{Provider: "voice", ID: id} }

// listening returns a registry with ann, the owner of the account, bob, and the agent Earshot, and
// the changes that it has recorded.
func listening(t interface{ Fatal(...any) }) (*participants.Registry, *[]earshot.Actor) {
	var kept []earshot.Actor
	config := participants.DefaultConfig()
	config.AllowAnonymous = true
	config.Actors = []participants.Actor{
		{ID: "ann", Handles: []string{"console:ann"}, Capabilities: []participants.Capability{participants.UseTools}},
		{ID: "bob", Handles: []string{"console:bob"}},
	}
	r, err := participants.Open(participants.Setup{
		Account: earshot.Handle{Provider: "console", ID: "ann"}, Actors: config,
		Agents: []participants.Participant{{ID: participants.Agent, Name: "Earshot"}},
		Record: func(_ context.Context, _ earshot.ParticipantID, a earshot.Actor) error {
			kept = append(kept, a)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, &kept
}

// TestMeet: an unknown voice gets a participant without a name, whom nobody can claim to be.
func TestMeet(t *testing.T) {
	r, kept := listening(t)
	three := r.Meet(voice("3"), "voice 3")
	if again := r.Meet(voice("3"), "voice 4"); again.ID != three.ID || again.Name != "voice 3" || r.Resolve(voice("3")).ID != three.ID {
		t.Errorf("met %+v, and then %+v", three, again)
	}
	if four := r.Meet(voice("4"), "voice 3"); four.Name == "voice 3" {
		t.Error("two voices are called the same")
	}
	if !three.Voice() || !three.Nameless() || !three.Can(participants.SendMessages) || len(three.Capabilities) != 1 || len(*kept) > 0 {
		t.Errorf("it is %+v; recorded %v", three, *kept)
	}
	if _, err := r.Claim(t.Context(), earshot.Handle{Provider: "console", ID: "ann"}, "voice 3", nil); err == nil {
		t.Error("ann may say that she is voice 3")
	}
	for _, p := range r.Known() {
		if p.Nameless() {
			t.Errorf("%s is known", p.Name)
		}
	}
	if none := r.Meet(earshot.Handle{Provider: "discord", ID: "3"}, "voice 3"); none.ID != "" {
		t.Errorf("a handle of Discord is the voice %+v", none)
	}
	for id, want := range map[earshot.ParticipantID]string{"voice_0": "a voice", "voice_0_7": "voice 7"} {
		if got := r.Name(id); got != want {
			t.Errorf("%s, of an earlier run, is called %q", id, got)
		}
	}
}

// TestRecognise: known people may say whose a voice is; voices and strangers may not, and an agent
// or another voice cannot be its owner. The voice gets the person's name and none of their rights.
func TestRecognise(t *testing.T) {
	for _, tt := range []struct {
		name, by, who string
		want          error
	}{
		{"the owner of somebody", "console:ann", "bob", nil},
		{"the owner of herself", "console:ann", "ann", nil},
		{"they themselves", "console:bob", "bob", nil},
		{"somebody vouches", "console:bob", "ann", nil},
		{"the voice itself", "voice:3", "ann", participants.ErrNotYours},
		{"a voice that is known", "voice:9", "ann", participants.ErrNotYours},
		{"nobody", "console:nobody", "ann", participants.ErrNotYours},
		{"an agent", "console:ann", "agent", participants.ErrUnknown},
		{"another voice", "console:ann", "voice_9x_10", participants.ErrUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := listening(t)
			ctx := t.Context()
			three, nine, loose := r.Meet(voice("3"), "voice 3"), r.Meet(voice("9"), "voice 9"), r.Meet(voice("9x"), "voice 10")
			if err := r.Recognise(ctx, r.Resolve(earshot.Handle{Provider: "console", ID: "bob"}), nine.ID, "bob"); err != nil {
				t.Fatal(err, loose)
			}
			var by earshot.Handle
			fmt.Sscanf(tt.by, "%s", &by.ID)
			for _, h := range []earshot.Handle{{Provider: "console", ID: "ann"}, {Provider: "console", ID: "bob"}, voice("3"), voice("9")} {
				if h.String() == tt.by {
					by = h
				}
			}
			err := r.Recognise(ctx, r.Resolve(by), three.ID, earshot.ParticipantID(tt.who))
			if !errors.Is(err, tt.want) {
				t.Fatalf("%v, want %v", err, tt.want)
			}
			is := r.Resolve(voice("3"))
			if tt.want == nil && (string(is.ID) != tt.who || r.Name(three.ID) != tt.who) || tt.want != nil && is.ID != three.ID {
				t.Errorf("the voice is %+v", is)
			}
			if !is.Voice() || is.Can(participants.Operate) || is.Can(participants.UseTools) || is.Can(participants.ReadMemory) {
				t.Errorf("by the voice one may %v", is.Capabilities)
			}
		})
	}
}

// TestUnrecognise: only the person whose voice it is said to be may take that back.
func TestUnrecognise(t *testing.T) {
	r, _ := listening(t)
	ann, bob := r.Resolve(earshot.Handle{Provider: "console", ID: "ann"}), r.Resolve(earshot.Handle{Provider: "console", ID: "bob"})
	three := r.Meet(voice("3"), "voice 3")
	if err := r.Recognise(t.Context(), bob, three.ID, "ann"); err != nil {
		t.Fatal(err)
	}
	if err := r.Unrecognise(t.Context(), bob, three.ID); !errors.Is(err, participants.ErrNotYours) {
		t.Errorf("bob undoes it: %v", err)
	}
	if err := r.Unrecognise(t.Context(), ann, three.ID); err != nil || r.Name(three.ID) != "voice 3" {
		t.Errorf("%v, and it is called %q", err, r.Name(three.ID))
	}
}

// TestVoicesAreRecordedAsOne: whatever voices turn out to be the same, in any order, a registry
// rebuilt from the record knows everybody who was named. No voice ever has a right, or is among the
// readers.
func TestVoicesAreRecordedAsOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r, kept := listening(rt)
		ctx := t.Context()
		by := []participants.Participant{r.Resolve(earshot.Handle{Provider: "console", ID: "ann"}), r.Resolve(earshot.Handle{Provider: "console", ID: "bob"})}
		some := func(what string) earshot.Handle {
			h := voice(rapid.SampledFrom([]string{"1", "2", "3", "4"}).Draw(rt, what))
			r.Meet(h, "voice "+h.ID)
			return h
		}
		for range rapid.IntRange(1, 12).Draw(rt, "deeds") {
			a, b := some("a"), some("b")
			id, who := r.Resolve(a).Reader(), rapid.SampledFrom(by).Draw(rt, "who")
			switch rapid.IntRange(0, 3).Draw(rt, "deed") {
			case 0:
				r.Same(ctx, a, b)
			case 1:
				r.Recognise(ctx, rapid.SampledFrom(by).Draw(rt, "by"), id, who.ID)
			case 2:
				r.Unrecognise(ctx, who, id)
			case 3:
				r.Apart(ctx, a)
			}
		}
		again, _ := listening(rt)
		for _, a := range *kept {
			again.Apply(a)
		}
		for _, n := range []string{"1", "2", "3", "4"} {
			is, was := r.Resolve(voice(n)), again.Resolve(voice(n))
			if is.ID != "" && !is.Nameless() && was.ID != is.ID {
				rt.Fatalf("voice %s is %s, and after a restart %q", n, is.ID, was.ID)
			}
			if is.Can(participants.Operate) || is.Can(participants.UseTools) {
				rt.Fatalf("voice %s may %v", n, is.Capabilities)
			}
			for _, id := range r.Readers(is.ID) {
				if participants.OfVoice(id) {
					rt.Fatalf("%s reads", id)
				}
			}
		}
	})
}
