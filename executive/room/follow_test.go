package room_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/llm/llmtest"
)

const story = "Once upon a time there was a miller. He had three sons, and a mill, and a cat. The eldest got the mill, and the youngest got the cat."

// twoVoices opens a room with a loudspeaker at the desk and one in the kitchen, which say a rune every
// 20 ms, and an agent that tells a story.
func twoVoices(t *testing.T, h *house) (c *house, desk, kitchen *testkit.Voice) {
	h.model = &llmtest.Script{Reply: story, Every: time.Millisecond, Rules: []llmtest.Rule{{When: "hello", Reply: "Good morning."}}}
	h.open(t.Context())
	desk = &testkit.Voice{Called: "loudspeaker", Every: 20 * time.Millisecond, Aloud: true}
	kitchen = &testkit.Voice{Called: "satellite kitchen", Every: 20 * time.Millisecond, Aloud: true}
	h.Enter(desk, earshot.Audience{Unknown: true})
	h.Enter(kitchen, earshot.Audience{Unknown: true})
	return h, desk, kitchen
}

// hearsAt lets the room hear an utterance of a voice beside an outlet, and then lets some time pass.
func (h *house) hearsAt(t *testing.T, outlet string, voice int, text string, then time.Duration) {
	t.Helper()
	e := aloud(text, 0)
	u := e.Body.(earshot.Utterance)
	u.Voice, u.Lasted = &earshot.Voice{Print: []float32{float32(voice)}, Heard: time.Second}, 400*time.Millisecond
	e.Via, e.Body, e.At = outlet, u, time.Now().Add(-u.Lasted)
	if outlet != "loudspeaker" {
		e.From = earshot.Handle{Provider: "satellite", ID: "kitchen"}
	}
	if err := h.Admit(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	time.Sleep(then)
}

// TestOneVoice: a reply is said by one of the voices of a room: where the question was heard, or where
// somebody was heard last if nobody has asked.
func TestOneVoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listening()
		h.config.Speech.TypedAloud = true
		h, desk, kitchen := twoVoices(t, h)
		said := func() string { return desk.Played() + "|" + kitchen.Played() }
		h.say(t, "hello")
		time.Sleep(time.Minute)
		if got := said(); got != "Good morning.|" {
			t.Errorf("before anybody was heard it said %q", got)
		}
		h.hearsAt(t, "satellite kitchen", 3, "earshot hello", time.Minute)
		if got := said(); got != "Good morning.|Good morning." {
			t.Errorf("asked in the kitchen it said %q", got)
		}
		h.hearsAt(t, "loudspeaker", 3, "earshot hello", time.Minute)
		h.say(t, "hello")
		time.Sleep(time.Minute)
		if got := said(); got != strings.Repeat("Good morning.", 3)+"|Good morning." {
			t.Errorf("asked at the desk it said %q", got)
		}
		if got := h.console.Played(); got != strings.Repeat("Good morning.", 4) {
			t.Errorf("the screen shows %q", got)
		}
		h.stop()
	})
}

// TestLostAnswer: a daemon that takes the room over when another one has died in the middle of an answer
// gives it again, where the question was heard, though it has never met that voice, or nobody can tell whose it
// was; but not one that was lost before.
func TestLostAnswer(t *testing.T) {
	for _, tt := range []struct {
		recent bool
		voice  int
	}{{true, 3}, {true, 0}, {false, 3}} {
		recent := tt.recent
		synctest.Test(t, func(t *testing.T) {
			h, _, kitchen := twoVoices(t, listening())
			h.hearsAt(t, "satellite kitchen", tt.voice, "earshot hello", time.Minute)
			h.stop()
			if kitchen.Played() != "Good morning." {
				t.Fatalf("it said %q", kitchen.Played())
			}
			again := listening()
			again.past = slices.DeleteFunc(h.journal.Events(), func(e earshot.Event) bool { return e.Body.Kind() == earshot.KindReply })
			again.lost = time.Now()
			if recent {
				again.lost = again.past[0].At.Add(-time.Second)
			}
			again, desk, kitchen := twoVoices(t, again)
			time.Sleep(5 * time.Second)
			got, want := desk.Played()+"|"+kitchen.Played(), map[bool]string{true: "|Good morning.", false: "|"}[recent]
			if again.stop(); got != want {
				t.Errorf("%+v: it said %q, want %q", tt, got, want)
			}
		})
	}
}

// TestFollow: while a reply is said, the person who hears it goes to another loudspeaker: it goes along,
// from the clause that was cut, if they are known to be there. Nobody else takes it along.
func TestFollow(t *testing.T) {
	const second = "and a mill, and a cat. The eldest got the mill, and the youngest got the cat."
	for _, tt := range []struct {
		name   string
		others []int // voices that were heard before
		voice  int   // in the kitchen
		says   string
		moves  bool
	}{
		{"the same voice", nil, 3, "mm hm", true},
		{"the same voice of several", []int{5}, 3, "mm hm", true},
		{"another voice", []int{5}, 5, "where did I put the salt", false},
		{"a voice that cannot be told, of the only one here", nil, 0, "where is it", true},
		{"a voice that cannot be told, of several", []int{5}, 0, "where is it", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, desk, kitchen := twoVoices(t, listening())
				for _, v := range tt.others {
					h.hearsAt(t, "satellite kitchen", v, "shall we have lunch", time.Second)
				}
				h.hearsAt(t, "loudspeaker", 3, "earshot tell me a story", 1150*time.Millisecond)
				h.hearsAt(t, "satellite kitchen", tt.voice, tt.says, time.Minute)
				h.stop()
				r := h.replies()
				if len(r) != 1 || r[0].Outcome != earshot.Completed || string(r[0].Delivered()) != story || len(h.model.Seen()) != 1 {
					t.Fatalf("%d replies, the first %s, and %d requests", len(r), r[0].Outcome, len(h.model.Seen()))
				}
				if d, k := desk.Played(), kitchen.Played(); tt.moves && (d != story[:len(d)] || len(d) <= len(story)-len(second) || len(d) > len(story)-len(second)+12 || k != second) || !tt.moves && (d != story || k != "") {
					t.Errorf("the desk said %q and the kitchen %q", d, k)
				}
				where := make(map[string]int)
				for _, d := range r[0].Heard {
					where[d.Outlet] = d.Bytes
				}
				if where["console"] != len(story) || tt.moves && (where["satellite kitchen"] != len(story) || where["loudspeaker"] != len(desk.Played())) {
					t.Errorf("on record it was heard at %v", where)
				}
			})
		})
	}
}

// TestFollowMe: who says "follow me" hears the rest where they say it, and if they say it before they
// go, where somebody is heard next, although nobody can tell voices apart.
func TestFollowMe(t *testing.T) {
	const rest = "He had three sons, and a mill, and a cat. The eldest got the mill, and the youngest got the cat."
	for _, tt := range []struct {
		name          string
		at            string
		desk, kitchen string // what is said there in the end, as far as it matters
	}{
		{"said there", "satellite kitchen", "He had three sons, a", rest},
		{"said before", "loudspeaker", "He had three sons, and a mi", "and a mill, and a cat. The eldest got the mill, and the youngest got the cat."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, desk, kitchen := twoVoices(t, newHouse())
				h.hearsAt(t, "loudspeaker", 0, "earshot tell me a story", 1150*time.Millisecond)
				h.hearsAt(t, tt.at, 0, "earshot follow me", 550*time.Millisecond)
				if tt.at == "loudspeaker" {
					h.hearsAt(t, "satellite kitchen", 0, "where is it", 0)
				}
				time.Sleep(time.Minute)
				h.hearsAt(t, "loudspeaker", 0, "earshot follow me", time.Minute)
				h.stop()
				d, k := desk.Played(), kitchen.Played()
				d, is := strings.CutSuffix(d, "I am here.")
				if k != tt.kitchen || !is || !strings.HasSuffix(d, tt.desk) {
					t.Errorf("the desk said %q and the kitchen %q", d, k)
				}
				r := h.replies()
				if len(r) != 3 || r[0].Outcome != earshot.Interrupted || r[1].Resumes == "" || r[1].Outcome != earshot.Completed {
					t.Errorf("%d replies: %+v", len(r), r)
				}
			})
		})
	}
}
