package microphone_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/models/voiceprint"
	"earshot/providers/microphone"
)

// asking returns a performance whose room asks whose voice it is.
func asking(c *take, results ...result) *performance {
	p := &performance{rec: &recogniser{results: results}, room: &room{began: time.Now()}}
	p.Provider = microphone.New(quick(), microphone.Parts{
		Capture: c, Recogniser: p.rec, Notice: p.room.notice, Voices: true,
	})
	return p
}

// heard returns, for each event, from how many tenths of a second of the voice its sample was
// taken; 0 means that there is no sample.
func (r *room) heard() string {
	var all []string
	for _, e := range r.events {
		switch b := e.Body.(type) {
		case earshot.Speech:
			if b.Stage == earshot.VoiceWords {
				all = append(all, "w"+tenths(b.Voice))
			}
		case earshot.Utterance:
			all = append(all, "U"+tenths(b.Voice))
		}
	}
	return strings.Join(all, " ")
}

func tenths(v *earshot.Voice) string {
	switch {
	case v == nil:
		return "0"
	case v.Channel != "microphone:default" || len(v.Print) != voiceprint.Size:
		return "?"
	}
	return fmt.Sprint(int(v.Heard / (100 * time.Millisecond)))
}

// TestVoices: an utterance comes with a sample of the voice as soon as enough of it was heard, and
// with nothing of the voice before it.
func TestVoices(t *testing.T) {
	words := strings.Split(",,,,one,one,one two,one two,one two three", ",")
	for _, tt := range []struct {
		name, picture, want string
		results             []result
	}{
		{"too little", "..#####.......", "U0", []result{{text: "one more"}}},
		{"enough", "..##########.......", "U10", []result{{text: "one more"}}},
		{"as it comes", "..#########.......", "w0 w0 w6 w9 U9", []result{{partials: words, text: "one two three"}}},
		{"one after the other", "..##########......#######......", "U10 U7", []result{{text: "one more"}, {text: "two more"}}},
		{"with a pause", "..####..####......", "U8", []result{{text: "one more"}}},
		{"with much of the agent's own", "..####ee####......", "U8", []result{{text: "one more"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := asking(&take{picture: tt.picture}, tt.results...)
				if err := p.Run(t.Context(), p.room.emit); err != nil {
					t.Fatal(err)
				}
				if got := p.room.heard(); got != tt.want {
					t.Errorf("heard %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// TestNobodyAsks: if nobody asks whose voice it is, events hold no sample.
func TestNobodyAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPerformance(&take{picture: "..##########......"}, result{text: "one more"})
		if err := p.Run(t.Context(), p.room.emit); err != nil {
			t.Fatal(err)
		}
		if got := p.room.heard(); got != "U0" {
			t.Errorf("heard %s", got)
		}
	})
}
