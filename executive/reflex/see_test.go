package reflex_test

import (
	"testing"

	"earshot"
	"earshot/executive/reflex"
)

// TestSee: who wants the agent to look, and who only talks of seeing.
func TestSee(t *testing.T) {
	for _, yes := range []string{
		"look", "Look!", "look here", "Earshot, look at this.", "take a look", "what do you see?", "What do you see now?", "what can you see right now, earshot",
		"hey earshot, what do you see", "and what do you see now?", "what am I holding?", "What am I holding in my hand?", "what's in my hand", "tell me what you see",
		"who is in the room?", "who's in the room right now", "is it dark in here?", "Is it dark in the room now?", "are the lights on?", "do you see me?", "can you see me now", "can you see us",
		"how many people do you see?", "how many fingers am I holding up?", "is anybody in the room?", "can you tell me what I am holding", "look again please", "so, what do you see there",
		"what are you looking at", "could you tell me who is in the room",
	} {
		if got := reflex.Recognise(earshot.Text(yes), "earshot"); got != reflex.See {
			t.Errorf("%q is of kind %d, want that it asks to look", yes, got)
		}
	}
	for _, no := range []string{
		"", "I see", "I see.", "oh, I see now", "look, the thing is", "look, I do not know", "let me see", "let's see", "see you", "see you there", "you see", "do you see?", "do you see what I mean",
		"look who is talking", "look it up", "look up the tides", "look at the time", "looks good", "look out", "looking good", "what do you see in her", "what do you see as the problem",
		"can you see to it", "can you see why", "is it dark outside in Rome", "who is in the room next week", "what do you think", "what am I doing wrong", "overlook", "here", "now", "and", "so", "see", "see here",
		"what do I look like to you, a fool", "can you look it up", "describe the tides", "it is dark in here", "the lights are on", "tell me", "in the room", "look look", "is it dark", "what am I doing?", "what does it look like",
	} {
		if got := reflex.Recognise(earshot.Text(no), "earshot"); got == reflex.See {
			t.Errorf("%q is taken to ask for a look", no)
		}
	}
	if got := reflex.Answer(reflex.See, reflex.Facts{Sight: "I see nobody."}); got != "I see nobody." {
		t.Errorf("it is answered %q", got)
	}
	if got := reflex.Answer(reflex.See, reflex.Facts{}); got != "" {
		t.Errorf("what takes thought is answered %q", got)
	}
}

func FuzzSee(f *testing.F) {
	for _, s := range []string{"what do you see now", "and so what do you see right now there", "now now now", "in my hand in my hand"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if reflex.Recognise(earshot.Text(s), "earshot") == reflex.See && len(s) > 80 {
			t.Errorf("%q is too long to be one", s)
		}
	})
}
