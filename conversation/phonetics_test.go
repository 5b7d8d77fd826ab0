package conversation_test

import (
	"testing"
	"testing/quick"
	"time"

	"earshot"
	"earshot/conversation"
)

// TestPhraseHeard: a phrase is recognised with one wrong sound. A text that sounds different, or is
// a word longer, is not taken for it.
func TestPhraseHeard(t *testing.T) {
	for _, tt := range []struct {
		phrase, said string
		want         bool
	}{
		{"stop talking", "stop talking", true},
		{"stop talking", "stop talk and", true},
		{"stop talking", "stop talk in", true},
		{"stop talking", "top talking", true},
		{"stop talking", "stopped talking", true},
		{"stop talking", "Stop taking.", true},
		{"stop talking", "stop tall king", true},
		{"stop talking", "start talking", false},
		{"stop talking", "keep talking", false},
		{"stop talking", "stop talking about the moon", false},
		{"stop talking", "talking", false},
		{"stop talking", "", false},
		{"be quiet", "be quite", true},
		{"be quiet", "the quiet", true},
		{"be quiet", "be kind", false},
		{"be quiet", "quite", false},
		{"stop it", "stopped", true},
		{"stop it", "stop at", true},
		{"stop it", "stock it up", false},
		{"stop", "stop", false}, // too short to be recognised by sound
		{"stop", "step", false},
		{"enough", "enough", false},
	} {
		if got := conversation.NewPhrase(tt.phrase).Heard(tt.said); got != tt.want {
			t.Errorf("%q is heard in %q: %v, want %v", tt.phrase, tt.said, got, tt.want)
		}
	}
}

// TestPhraseTakesAnything: any output of a recogniser can be compared.
func TestPhraseTakesAnything(t *testing.T) {
	p := conversation.NewPhrase("stop talking")
	if err := quick.Check(func(text string) bool { p.Heard(text); return p.Heard("stop talking") }, nil); err != nil {
		t.Error(err)
	}
}

// TestMisheardName: after a silence and before a question, a name is recognised with two wrong
// sounds. A statement is not taken for a call.
func TestMisheardName(t *testing.T) {
	now := time.Unix(1000, 0)
	rested := conversation.SpeechContext{Rested: true}
	nova := listener
	nova.Name, nova.As = "Nova", nil
	for _, tt := range []struct {
		listener conversation.AddressClassifier
		said     string
		about    conversation.SpeechContext
		want     conversation.Address
		text     string // corrected
	}{
		{listener, "you shot what time is it", rested, conversation.Called, "Earshot what time is it"},
		{listener, "buckshot how far is the moon", rested, conversation.Called, "Earshot how far is the moon"},
		{listener, "he shot can you hear me", rested, conversation.Called, "Earshot can you hear me"},
		{listener, "hey buckshot what is the weather like", rested, conversation.Called, "hey Earshot what is the weather like"},
		{listener, "long shot who wrote this", rested, conversation.Called, "Earshot who wrote this"},
		{listener, "ear short what is the weather like", rested, conversation.Called, "Earshot what is the weather like"},
		{listener, "earshots can you hear me", rested, conversation.Called, "Earshot can you hear me"},
		{listener, "ear short was the skirt", rested, conversation.Aside, ""},
		{listener, "your shorts what is it", rested, conversation.Aside, ""},
		{listener, "parrot what is it", rested, conversation.Aside, ""},
		{listener, "the earshot how far away is the moon", rested, conversation.Called, "Earshot how far away is the moon"},
		{listener, "they earshot can you hear me", rested, conversation.Called, "Earshot can you hear me"},
		{listener, "the earshot was too small", rested, conversation.Aside, ""},
		{listener, "behind earshot what is there", rested, conversation.Aside, ""},
		{listener, "you shot what time is it", conversation.SpeechContext{}, conversation.Aside, ""}, // in the middle of a conversation
		{listener, "you shot the sheriff", rested, conversation.Aside, ""},
		{listener, "he shot what he saw", rested, conversation.Aside, ""},
		{listener, "you shot", rested, conversation.Aside, ""},
		{listener, "the shot was what we wanted", rested, conversation.Aside, ""},
		{listener, "a shot is what it takes", rested, conversation.Aside, ""},
		{listener, "buckshot is a kind of shot", rested, conversation.Aside, ""},
		{listener, "what time is it", rested, conversation.Aside, ""},
		{listener, "is that what you want", rested, conversation.Aside, ""},
		{listener, "i said you shot what time is it", rested, conversation.Aside, ""},
		{nova, "over what time is it", rested, conversation.Aside, ""}, // a short name sounds like too many words
	} {
		u := earshot.Utterance{Text: earshot.Text(tt.said), Confidence: 0.9}
		if got := tt.listener.Address(u, now, tt.about); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.said, got, tt.want)
		}
		if tt.text == "" {
			tt.text = tt.said
		}
		if got := tt.listener.CorrectMisheard(u.Text, tt.about); string(got) != tt.text {
			t.Errorf("%q becomes %q, want %q", tt.said, string(got), tt.text)
		}
	}
	half := earshot.Speech{Words: "you shot what time"}
	if got := listener.Words(half, now, rested); got == conversation.Called {
		t.Error("a name that was misheard calls before all was said")
	}
}

// TestNameBySound: a name that is spelt otherwise, or with one phone in five wrong, calls if something
// else says so, too: "hey", a request, a comma, or a silence before nothing but the name. While words
// are still being said, only what comes before them or directly after them counts.
func TestNameBySound(t *testing.T) {
	amid, rested := conversation.SpeechContext{}, conversation.SpeechContext{Rested: true}
	const called, aside = conversation.Called, conversation.Aside
	for _, tt := range []struct {
		name, said   string
		about        conversation.SpeechContext
		whole, soFar conversation.Address
	}{
		{"Jarvis", "Jervis what time is it", amid, called, called},
		{"Jarvis", "okay jar voice turn the lights off", amid, called, called},
		{"Jarvis", "jervis please turn the lights off", amid, called, called},
		{"Jarvis", "Jervis, I am home.", amid, called, called},
		{"Jarvis", "Jervis. I am home.", amid, called, called},
		{"Jarvis", "hey jervis i am home", amid, called, called},
		{"Jarvis", "jervis i am home", amid, aside, aside},
		{"Jarvis", "What time is it, Jervis?", amid, called, aside},
		{"Jarvis", "Is it late? Jervis.", amid, called, aside},
		{"Jarvis", "what time is it jervis", amid, aside, aside},
		{"Jarvis", "jervis", rested, called, aside},
		{"Jarvis", "Jervis.", amid, aside, aside},
		{"Jarvis", "service is what we need", rested, aside, aside},
		{"Jarvis", "life is what happens", rested, aside, aside},
		{"Earshot", "ear short what time is it", amid, called, called},
		{"Earshot", "ear short was the skirt", amid, aside, aside},
		{"Computer", "come pewter can you hear me", amid, called, called},
		{"Computer", "commuter trains are late", rested, aside, aside},
		{"Computer", "a commuter can you believe it", amid, aside, aside},
		{"Computer", "computers make noise", rested, aside, aside},
		{"Computer", "turn off the computer", rested, aside, aside},
		{"Computer", "turn off the light computer", rested, called, aside},
		{"Mia", "me a what", rested, aside, aside},
		{"Mia", "Mya, what is new?", amid, called, called},
		{"Mia", "Maya, what is new?", rested, aside, aside}, // of three phones none may be wrong
		{"Mia", "give it to mia", rested, aside, aside},
		{"Robin", "rob in can you help", amid, called, called},
		{"Robin", "robbing banks is what they do", rested, aside, aside},
		{"Robin", "robert what is new", rested, aside, aside},
		{"Zoë", "Zoe what is new", amid, called, called},
		{"Athena", "i know what you mean", rested, aside, aside},
		{"Al", "owl what is new", rested, aside, aside},
		{"小爱", "ear shot what is new", rested, aside, aside},
	} {
		l := conversation.AddressClassifier{Name: tt.name}
		if got := l.Address(earshot.Utterance{Text: earshot.Text(tt.said), Confidence: 1}, time.Unix(1000, 0), tt.about); got != tt.whole {
			t.Errorf("%s: %q is %q, want %q", tt.name, tt.said, got, tt.whole)
		}
		if got := l.Words(earshot.Speech{Words: earshot.Text(tt.said)}, time.Unix(1000, 0), tt.about); (got == called) != (tt.soFar == called) {
			t.Errorf("%s: so far %q is %q, want %q", tt.name, tt.said, got, tt.soFar)
		}
	}
	marvin := conversation.AddressClassifier{Name: "Marvin", Others: []string{"Martin"}}
	for said, want := range map[earshot.Text]conversation.Address{"marven what is new": called, "martin what is new": aside} {
		if got := marvin.Address(earshot.Utterance{Text: said, Confidence: 1}, time.Unix(1000, 0), amid); got != want {
			t.Errorf("beside Martin, %q is %q to Marvin, want %q", string(said), got, want)
		}
	}
}

// TestHums: what a recogniser makes of "mm-hm" by unfamiliar voices does not end a reply. An
// objection, a question, an answer or clear words do.
func TestHums(t *testing.T) {
	now := time.Unix(1000, 0)
	talk := conversation.SpeechContext{Talking: true, Sounding: true, Saying: "The tides follow."}
	asked := talk
	asked.Asked = true
	for _, tt := range []struct {
		said  string
		sure  float64
		lasts time.Duration
		about conversation.SpeechContext
		want  conversation.Address
	}{
		{"him", 0.5, 500 * time.Millisecond, talk, conversation.Backchannel},
		{"i'm home", 0.45, 700 * time.Millisecond, talk, conversation.Backchannel},
		{"on him", 0.5, 700 * time.Millisecond, talk, conversation.Backchannel},
		{"mm him", 0.5, 700 * time.Millisecond, talk, conversation.Backchannel},
		{"you", 0.84, 400 * time.Millisecond, talk, conversation.Backchannel},
		{"and them", 0.79, 500 * time.Millisecond, talk, conversation.Backchannel},
		{"m m them but", 0.49, 700 * time.Millisecond, talk, conversation.Backchannel},
		{"m m them but", 0.9, 700 * time.Millisecond, talk, conversation.Following},
		{"you are wrong", 0.8, 700 * time.Millisecond, talk, conversation.Following},
		{"you", 0.84, 400 * time.Millisecond, asked, conversation.Following},
		{"i'm home", 0.9, 700 * time.Millisecond, talk, conversation.Following},
		{"i'm home", 0.45, 2 * time.Second, talk, conversation.Following},
		{"no", 0.5, 300 * time.Millisecond, talk, conversation.Following},
		{"nah", 0.5, 300 * time.Millisecond, talk, conversation.Following},
		{"mm know", 0.5, 500 * time.Millisecond, talk, conversation.Following},
		{"now", 0.5, 300 * time.Millisecond, talk, conversation.Following},
		{"no no", 0.5, 500 * time.Millisecond, talk, conversation.Following},
		{"how many", 0.5, 700 * time.Millisecond, talk, conversation.Following},
		{"him", 0.5, 500 * time.Millisecond, asked, conversation.Following},
		{"tell him", 0.5, 500 * time.Millisecond, talk, conversation.Following},
	} {
		u := earshot.Utterance{Text: earshot.Text(tt.said), Confidence: tt.sure, Lasted: tt.lasts}
		if got := listener.Address(u, now, tt.about); got != tt.want {
			t.Errorf("%q, %v sure, is %q, want %q", tt.said, tt.sure, got, tt.want)
		}
	}
	for said, want := range map[earshot.Text]conversation.Address{"him on him": conversation.Unsure, "no no no": conversation.Following, "tell him more": conversation.Following} {
		if got := listener.Words(earshot.Speech{Words: said}, now, talk); got != want {
			t.Errorf("so far %q is %q, want %q", string(said), got, want)
		}
	}
}

// TestWhatComesBackLate: in a room that nobody has measured, words that are all among the agent's
// recent ones are its own voice, unless they call the agent, give an order or answer a question.
func TestWhatComesBackLate(t *testing.T) {
	now := time.Unix(1000, 0)
	late := conversation.SpeechContext{Answered: now.Add(-time.Second), Said: "The sailors had no water, and the ship had no wind for nine days."}
	echoing, asked, ordered := late, late, late
	echoing.Echoing = true
	asked.Asked, ordered.Commands = true, true
	for _, tt := range []struct {
		name, said string
		own        float64
		about      conversation.SpeechContext
		want       conversation.Address
	}{
		{"two of its words", "had no", 0.3, late, conversation.Own},
		{"two of its words, beside which nothing of it was noticed", "had no", 0, echoing, conversation.Own},
		{"some, of which one was not understood", "ship no wind", 0.3, late, conversation.Own},
		{"two of its words, long after its voice", "had no", 0, late, conversation.Following},
		{"one of them", "water", 0, echoing, conversation.Following},
		{"in another order", "no had", 0.3, late, conversation.Following},
		{"far from each other", "sailors days", 0.3, late, conversation.Following},
		{"an answer", "had no", 0.3, asked, conversation.Following},
		{"a command", "no wind", 0.3, ordered, conversation.Following},
		{"its name", "earshot had no", 0.3, late, conversation.Called},
		{"other words", "had they no food", 0.3, late, conversation.Following},
	} {
		u := earshot.Utterance{Text: earshot.Text(tt.said), Confidence: 0.9, Own: tt.own, Lasted: 500 * time.Millisecond}
		if got := listener.Address(u, now, tt.about); got != tt.want {
			t.Errorf("%s: %q is %q, want %q", tt.name, tt.said, got, tt.want)
		}
	}
}

// TestMumbled: somebody who speaks to the agent in their turn and is not understood is asked back,
// once. A sound that may be a cough, the agent's own voice or somebody else's is not asked about.
func TestMumbled(t *testing.T) {
	now := time.Unix(1000, 0)
	asks := listener
	asks.Asks = true
	talk := conversation.SpeechContext{Answered: now.Add(-2 * time.Second)}
	with := func(change func(*conversation.SpeechContext)) conversation.SpeechContext {
		a := talk
		change(&a)
		return a
	}
	for _, tt := range []struct {
		name, said string
		sure, own  float64
		lasts      time.Duration
		listener   conversation.AddressClassifier
		about      conversation.SpeechContext
		want       conversation.Address
	}{
		{"in talk", "in neighbor by violin", 0.2, 0, 2 * time.Second, asks, talk, conversation.Mumbled},
		{"understood", "my neighbor plays the violin", 0.5, 0, 2 * time.Second, asks, talk, conversation.Following},
		{"who does not want that", "in neighbor by violin", 0.2, 0, 2 * time.Second, listener, talk, conversation.Unsure},
		{"out of talk", "in neighbor by violin", 0.2, 0, 2 * time.Second, asks, conversation.SpeechContext{}, conversation.Unsure},
		{"twice", "in neighbor by violin", 0.2, 0, 2 * time.Second, asks, with(func(a *conversation.SpeechContext) { a.AskedBack = true }), conversation.Unsure},
		{"by somebody else", "in neighbor by violin", 0.2, 0, 2 * time.Second, asks, with(func(a *conversation.SpeechContext) { a.Other = true }), conversation.Unsure},
		{"by nobody knows whom", "in neighbor by violin", 0.2, 0, 2 * time.Second, asks, with(func(a *conversation.SpeechContext) { a.Stranger = true }), conversation.Unsure},
		{"while it speaks", "in neighbor by violin", 0.2, 0, 2 * time.Second, asks, with(func(a *conversation.SpeechContext) { a.Sounding = true }), conversation.Unsure},
		{"while it thinks", "in neighbor by violin", 0.2, 0, 2 * time.Second, asks, with(func(a *conversation.SpeechContext) { a.Talking = true }), conversation.Unsure},
		{"its own sound", "in neighbor by violin", 0.2, 0.1, 2 * time.Second, asks, talk, conversation.Unsure},
		{"a cough", "the", 0.2, 0, 300 * time.Millisecond, asks, talk, conversation.Unsure},
		{"a chair", "in the", 0.2, 0, 300 * time.Millisecond, asks, talk, conversation.Unsure},
	} {
		u := earshot.Utterance{Text: earshot.Text(tt.said), Confidence: tt.sure, Own: tt.own, Lasted: tt.lasts}
		if got := tt.listener.Address(u, now, tt.about); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
