package conversation_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/conversation"
)

var listener = conversation.AddressClassifier{Name: "Earshot", As: conversation.Spellings("Earshot"), After: 8 * time.Second, Sure: 0.4}

func TestAddress(t *testing.T) {
	now := time.Unix(1000, 0)
	talk := conversation.SpeechContext{Answered: now.Add(-5 * time.Second)}
	saying := conversation.SpeechContext{Saying: "The moon pulls at the sea, and the sea follows it around the world.", Talking: true}
	for _, tt := range []struct {
		name, said string
		sure, own  float64
		about      conversation.SpeechContext
		want       conversation.Address
	}{
		{"first", "earshot what time is it", 1, 0, conversation.SpeechContext{}, conversation.Called},
		{"last", "what time is it, Earshot?", 1, 0, conversation.SpeechContext{}, conversation.Called},
		{"after greetings", "um okay so earshot what time is it", 1, 0, conversation.SpeechContext{}, conversation.Called},
		{"summoned within", "i will ask it hey earshot what time is it", 1, 0, conversation.SpeechContext{}, conversation.Called},
		{"alone", "earshot", 1, 0, conversation.SpeechContext{}, conversation.Called},
		{"hardly understood, but its name", "earshot mumble", 0.1, 0, conversation.SpeechContext{}, conversation.Called},
		{"two words for one", "ear shot what time is it", 1, 0, conversation.SpeechContext{}, conversation.Called},
		{"as recognisers write it", "your shot what time is it", 1, 0, conversation.SpeechContext{}, conversation.Called},
		{"as they write it over its voice", "in short what time is it", 1, 0, conversation.SpeechContext{Sounding: true}, conversation.Called},
		{"as people begin to sum up", "in short what time is it", 1, 0, conversation.SpeechContext{}, conversation.Aside},
		{"as it sums up itself", "in short what time is it", 1, 0.3, conversation.SpeechContext{Sounding: true, Saying: "In short: nobody knows."}, conversation.Aside},
		{"spoken about", "i like earshot very much", 1, 0, conversation.SpeechContext{}, conversation.Aside},
		{"within a word", "earshots are loud", 1, 0, conversation.SpeechContext{}, conversation.Aside},
		{"to others", "shall we have lunch", 1, 0, conversation.SpeechContext{}, conversation.Aside},
		{"in talk", "and what about tomorrow", 1, 0, talk, conversation.Following},
		{"too late", "and what about tomorrow", 1, 0, conversation.SpeechContext{Answered: now.Add(-9 * time.Second)}, conversation.Aside},
		{"mumbled", "and what about tomorrow", 0.3, 0, talk, conversation.Unsure},
		{"its own words", "the see follows it around", 0.8, 0.7, saying, conversation.Own},
		{"its own words, badly heard", "sea follow around world", 0.2, 0.7, saying, conversation.Own},
		{"its own words, long after", "the sea follows it around", 0.8, 0, talk, conversation.Following},
		{"a word of them among two", "the talking", 0.8, 0.7, saying, conversation.Unsure},
		{"few words, none of them", "why like that", 0.8, 0.7, saying, conversation.Unsure},
		{"few words, mostly when it had stopped", "no wait", 0.8, 0.3, saying, conversation.Following},
		{"its own name, as it says it", "hello i am earshot", 0.8, 1, conversation.SpeechContext{Saying: "Hello, I am Earshot.", Talking: true}, conversation.Own},
		{"its name, while it says it too", "earshot what is the weather", 0.8, 1, conversation.SpeechContext{Saying: "Hello, I am Earshot.", Talking: true}, conversation.Called},
		{"what began before it was asked", "so i told her", 1, 0, conversation.SpeechContext{Answered: now, Since: now.Add(time.Second)}, conversation.Aside},
		{"two of them", "the moon", 0.8, 0.7, saying, conversation.Own},
		{"an answer to them", "what do you mean by around the world", 0.8, 0.7, saying, conversation.Following},
		{"its name in its own words", "earshot", 0.8, 1, saying, conversation.Called},
		{"nothing", "", 1, 0, conversation.SpeechContext{}, conversation.Aside},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := earshot.Utterance{Text: earshot.Text(tt.said), Confidence: tt.sure, Own: tt.own}
			if got := listener.Address(u, now, tt.about); got != tt.want {
				t.Errorf("it is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCorrect(t *testing.T) {
	for _, tt := range []struct{ said, want string }{
		{"ear shot what time is it", "Earshot what time is it"},
		{"hey earshot stop", "hey Earshot stop"},
		{"what time is it ear shut", "what time is it Earshot"},
		{"it is out of earshot now", "it is out of earshot now"},
		{"nobody is called", "nobody is called"},
		{"", ""},
	} {
		if got := listener.Correct(earshot.Text(tt.said)); string(got) != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.said, string(got), tt.want)
		}
	}
}

// TestAddressIsTotal: of all that may be heard, only words with the name call the agent, nothing is
// a follow-up outside a talk, and words that are the agent's own are never anybody else's.
func TestAddressIsTotal(t *testing.T) {
	word := rapid.SampledFrom([]string{"earshot", "ear", "shot", "hey", "the", "moon", "Pulls", "é", "…", "stop"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), " ")
		u := earshot.Utterance{Text: earshot.Text(text), Confidence: rapid.Float64Range(0, 1).Draw(t, "sure"), Own: rapid.Float64Range(0, 1).Draw(t, "own")}
		got := listener.Address(u, time.Unix(1000, 0), conversation.SpeechContext{Saying: u.Text})
		named := strings.Contains(text, "earshot") || strings.Contains(text, "ear shot")
		switch {
		case got == conversation.Called && (!named || u.Own > 0):
			t.Fatalf("%q calls it", text)
		case got == conversation.Following:
			t.Fatalf("%q follows nothing", text)
		case u.Own > 0 && text != "" && got != conversation.Own:
			t.Fatalf("its own words are %q", got)
		}
	})
}

// TestWordsThatAreStillBeingSaid: a single word is not enough to decide, unless it is the name.
func TestWordsThatAreStillBeingSaid(t *testing.T) {
	now := time.Unix(1000, 0)
	talking := conversation.SpeechContext{Talking: true}
	for _, tt := range []struct {
		said  string
		about conversation.SpeechContext
		want  conversation.Address
	}{
		{"no", talking, conversation.Unsure}, {"earshot", talking, conversation.Called},
		{"no i", talking, conversation.Following}, {"", talking, conversation.Unsure},
		{"no i", conversation.SpeechContext{Answered: now.Add(-time.Minute)}, conversation.Aside},
		{"no i", conversation.SpeechContext{Answered: now.Add(-time.Second)}, conversation.Following},
	} {
		if got := listener.Words(earshot.Speech{Words: earshot.Text(tt.said)}, now, tt.about); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.said, got, tt.want)
		}
	}
}

// TestWordsBesideItsOwn: while the agent can be heard, a few words are not enough to decide, and
// words among its own are doubtful.
func TestWordsBesideItsOwn(t *testing.T) {
	about := conversation.SpeechContext{Talking: true, Saying: "The moon pulls at the sea, and the sea follows it."}
	for _, tt := range []struct {
		said string
		want conversation.Address
	}{
		{"a moon", conversation.Unsure}, {"a moon pulls at", conversation.Own}, {"a noon pull that", conversation.Unsure},
		{"what do you mean", conversation.Following}, {"no i", conversation.Unsure}, {"earshot", conversation.Called},
	} {
		if got := listener.Words(earshot.Speech{Words: earshot.Text(tt.said), Own: true}, time.Now(), about); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.said, got, tt.want)
		}
	}
}

func TestCalls(t *testing.T) {
	about := conversation.SpeechContext{Saying: "Say: stop talking, and I am silent."}
	for _, tt := range []struct {
		said string
		want conversation.Address
	}{{"stop talking", conversation.Own}, {"be quiet", conversation.Called}, {"earshot", conversation.Called}, {"stop", conversation.Own}, {"top", conversation.Called}} {
		if got := listener.Calls(earshot.Speech{Words: earshot.Text(tt.said), Own: true}, about); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.said, got, tt.want)
		}
	}
}

func FuzzCorrect(f *testing.F) {
	f.Add("ear shot what")
	f.Add("\xff earshot \x00")
	f.Fuzz(func(t *testing.T, text string) {
		once := listener.Correct(earshot.Text(text))
		if twice := listener.Correct(once); twice != once {
			t.Errorf("corrected twice it is %q, once %q", string(twice), string(once))
		}
	})
}
