package conversation_test

import (
	"testing"
	"time"

	"earshot"
	"earshot/conversation"
)

// TestBackchannel: somebody who only shows that they are listening does not want the floor.
// Somebody who answers, objects or continues to speak does.
func TestBackchannel(t *testing.T) {
	now := time.Unix(1000, 0)
	talk := conversation.SpeechContext{Talking: true, Sounding: true, Saying: "The moon pulls at the sea."}
	asked, silent, others := talk, talk, talk
	asked.Asked = true
	silent.Sounding = false
	others.Talking = false
	for _, tt := range []struct {
		said  string
		lasts time.Duration
		about conversation.SpeechContext
		want  conversation.Address
	}{
		{"yeah", 300 * time.Millisecond, talk, conversation.Backchannel},
		{"mm-hm", 400 * time.Millisecond, talk, conversation.Backchannel},
		{"uh huh", 400 * time.Millisecond, talk, conversation.Backchannel},
		{"Right.", 400 * time.Millisecond, talk, conversation.Backchannel},
		{"okay", 400 * time.Millisecond, talk, conversation.Backchannel},
		{"yeah, yeah", 700 * time.Millisecond, talk, conversation.Backchannel},
		{"oh I see", 700 * time.Millisecond, talk, conversation.Backchannel},
		{"all right go on", 900 * time.Millisecond, talk, conversation.Backchannel},
		{"m m h m", 400 * time.Millisecond, talk, conversation.Backchannel},
		{"n h m", 400 * time.Millisecond, talk, conversation.Backchannel},
		{"m m h m but", 600 * time.Millisecond, talk, conversation.Following},
		{"n or m", 600 * time.Millisecond, talk, conversation.Following},
		{"yeah", 300 * time.Millisecond, others, conversation.Backchannel},
		{"yes", 300 * time.Millisecond, asked, conversation.Following},
		{"okay", 300 * time.Millisecond, asked, conversation.Following},
		{"yes", 300 * time.Millisecond, silent, conversation.Following},
		{"no", 300 * time.Millisecond, talk, conversation.Following},
		{"go", 300 * time.Millisecond, talk, conversation.Following},
		{"i", 300 * time.Millisecond, talk, conversation.Following},
		{"yeah but why", 900 * time.Millisecond, talk, conversation.Following},
		{"okay okay okay okay okay", time.Second, talk, conversation.Following},
		{"really", 3 * time.Second, talk, conversation.Following},
		{"okay earshot", 700 * time.Millisecond, talk, conversation.Called},
	} {
		u := earshot.Utterance{Text: earshot.Text(tt.said), Confidence: 0.9, Lasted: tt.lasts}
		if got := listener.Address(u, now, tt.about); got != tt.want {
			t.Errorf("%q within %v is %q, want %q", tt.said, tt.lasts, got, tt.want)
		}
	}
}

// TestAMurmurMayBecomeMore: a murmur is undecided while it is still being said.
func TestAMurmurMayBecomeMore(t *testing.T) {
	about := conversation.SpeechContext{Talking: true, Sounding: true}
	for _, tt := range []struct {
		said   string
		stable bool
		want   conversation.Address
	}{
		{"yeah", false, conversation.Unsure},
		{"yeah", true, conversation.Backchannel},
		{"yeah right", false, conversation.Unsure},
		{"yeah right but", false, conversation.Following},
		{"oh I", false, conversation.Unsure},
		{"oh I", true, conversation.Following},
		{"oh I see", false, conversation.Unsure},
		{"oh I think", false, conversation.Following},
		{"go ice", false, conversation.Unsure}, // was corrected to "oh I see" later
		{"go ice", true, conversation.Following},
		{"no I", false, conversation.Following},
		{"stop to", false, conversation.Following},
	} {
		if got := listener.Words(earshot.Speech{Words: earshot.Text(tt.said), Stable: tt.stable}, time.Unix(1000, 0), about); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.said, got, tt.want)
		}
	}
}

// TestAStrangerMustBeKnownFirst: while the agent talks with one voice, the words of an unknown
// voice do not yet cut it off, unless they call the agent.
func TestAStrangerMustBeKnownFirst(t *testing.T) {
	about := conversation.SpeechContext{Talking: true, Sounding: true, Stranger: true}
	for said, want := range map[earshot.Text]conversation.Address{
		"did you buy the milk":   conversation.Unsure,
		"earshot what about now": conversation.Called,
	} {
		if got := listener.Words(earshot.Speech{Words: said}, time.Unix(1000, 0), about); got != want {
			t.Errorf("%q is %q, want %q", string(said), got, want)
		}
	}
}

// TestSomebodyElseTalks: the words of somebody else than the agent's counterpart are taken to be
// for others as soon as there are several, unless they call the agent.
func TestSomebodyElseTalks(t *testing.T) {
	about := conversation.SpeechContext{Talking: true, Sounding: true, Stranger: true, Other: true}
	for said, want := range map[earshot.Text]conversation.Address{
		"did":                    conversation.Unsure, // may be the agent's own sound, misheard
		"did you buy the milk":   conversation.Aside,
		"earshot what about now": conversation.Called,
		"yeah":                   conversation.Unsure, // may be said to the agent
	} {
		if got := listener.Words(earshot.Speech{Words: said, Own: true}, time.Unix(1000, 0), about); got != want {
			t.Errorf("%q is %q, want %q", string(said), got, want)
		}
	}
	u := earshot.Utterance{Text: "did you buy the milk", Confidence: 0.9, Own: 1}
	if got := listener.Address(u, time.Unix(1000, 0), about); got != conversation.Aside {
		t.Errorf("it is %q when it is over", got)
	}
}
