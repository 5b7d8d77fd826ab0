package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	actors "earshot/models/voiceprint/cast"
)

// A guest is somebody at a party, with a voice that is made and not recorded.
type guest struct {
	name string
	actors.Person
}

// guests are two of flite's voices, and one of espeak-ng's, of which a recogniser
// understands little: he is there to be told apart.
var guests = map[string]guest{
	"bob":  {"bob", actors.Person{Engine: actors.Flite, Voice: "rms", Tract: 1, Pitch: 1, Pace: 1}},
	"eve":  {"eve", actors.Person{Engine: actors.Flite, Voice: "awb", Tract: 1, Pitch: 1, Pace: 1}},
	"dave": {"dave", actors.Person{Engine: actors.Espeak, Voice: "en-us+f3", Tract: 1, Pitch: 1, Pace: 1}},
	"slt":  {"slt", actors.Person{Engine: actors.Flite, Voice: "slt", Tract: 1, Pitch: 1, Pace: 1}}, // the agent itself
}

// sound returns the sound of what a guest says, without the silence around it.
func (g guest) sound(t testing.TB, text string) []int16 {
	t.Helper()
	wave, err := g.Say(t.Context(), actors.Calm, text)
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, len(wave))
	for i, v := range wave {
		pcm[i] = int16(max(-32768, min(32767, v)))
	}
	loud := func(s int16) bool { return s > 300 || s < -300 }
	first, last := slices.IndexFunc(pcm, loud), len(pcm)
	for last > first && !loud(pcm[last-1]) {
		last--
	}
	return pcm[max(0, first):last]
}

// A turn is who spoke from one time to another.
type turn struct {
	who      string
	from, to time.Time
}

// A party is a parlour with guests, and who has spoken there when.
type party struct {
	*parlour
	turns []turn
}

// A remark is what a guest says.
type remark struct{ who, text string }

// speaks lets a guest say something, and notes when.
func (p *party) speaks(who, text string) {
	p.t.Helper()
	p.speak(remark{who, text})
}

// speak lets guests say something one after the other, without a pause between
// them, and notes when: each from the middle of what was said before.
func (p *party) speak(remarks ...remark) {
	p.t.Helper()
	pcm, ends := hush(200), make([]int, len(remarks))
	for i, s := range remarks {
		pcm = append(pcm, guests[s.who].sound(p.t, s.text)...)
		ends[i] = len(pcm)
	}
	pcm = append(pcm, hush(600)...)
	from := time.Now()
	p.sounds(pcm)
	over := time.Now()
	for i, s := range remarks {
		to := over
		if i+1 < len(remarks) {
			to = over.Add(-time.Duration(len(pcm)-ends[i]/2) * time.Second / rate)
		}
		p.turns = append(p.turns, turn{s.who, from, to})
		from = to
	}
}

// said returns all that is written down of what a guest has said.
func (p *party) said(who string) (all []earshot.Utterance) {
	for _, e := range p.journal() {
		u, ok := e.Body.(earshot.Utterance)
		if ok && slices.ContainsFunc(p.turns, func(t turn) bool { return t.who == who && !e.At.Before(t.from) && e.At.Before(t.to) }) {
			all = append(all, u)
		}
	}
	return all
}

// voices returns whose voice each of those was taken for, without those of which
// nobody can tell.
func voicesOf(said []earshot.Utterance) (all []earshot.Handle) {
	for _, u := range said {
		if u.Speaker != (earshot.Handle{}) {
			all = append(all, u.Speaker)
		}
	}
	return all
}

// TestSpokenParty: three people talk with the agent and with each other through
// one microphone, at times without a pause between them. Each is told from the
// others, who is named later is named in what was said before, too, and what
// sounds like the agent is nobody's.
func TestSpokenParty(t *testing.T) {
	talks(t)
	p := &party{parlour: newParlour(t, attribution+"=true", "EARSHOT_PROVIDERS_MICROPHONE_LEAST_CONFIDENCE=0")}
	p.scripted(talker)
	p.wakes()
	p.speaks("bob", "earshot, what is the weather like today in the city")
	p.replied(1)
	p.speaks("dave", "i think we should go to the store after lunch and buy some bread")
	p.speaks("eve", "the meeting was moved to three thirty on monday, and then to tuesday")
	p.speaks("bob", "i will call you back in ten minutes, when the report is done")
	p.speaks("dave", "please send the report to john before friday, or on saturday morning")
	p.interrupted("eve")
	p.speaks("slt", "please put the large box of books on the table in the other room")
	p.speaks("eve", "add milk and eggs to the shopping list, and bring some apples too")
	p.speak(remark{"bob", "the build was finished at noon, and everybody went home after that"},
		remark{"dave", "how long will it take to get there if we leave in the evening"})
	testkit.Await(t, soon, "the last words", func() bool { return len(p.said("bob")) >= 3 && len(p.said("dave")) >= 3 })

	whose := p.tellsApart()
	if heard := voicesOf(p.said("slt")); len(heard) > 0 {
		t.Errorf("the agent's own voice is somebody's: %v", heard)
	}
	p.names("dave", "Dave", whose)
}

// interrupted lets a guest, to whom the agent tells a story, stop it.
func (p *party) interrupted(who string) {
	p.t.Helper()
	recording, before := p.records(), len(p.replied(0))
	p.speaks(who, "earshot, tell me about the tide")
	p.speaking(recording, 1500)
	p.speaks(who, "stop talking")
	if told := p.replied(before + 1)[before]; told.Outcome != earshot.Interrupted {
		p.t.Errorf("%s stopped a reply, which was %s", who, told.Outcome)
	}
}

// tellsApart checks that each guest is told from the others, and returns the voice
// of each.
func (p *party) tellsApart() map[string]earshot.Handle {
	p.t.Helper()
	voices, whose := make(map[string]earshot.Handle), make(map[earshot.Handle]string)
	for _, who := range []string{"bob", "eve", "dave"} {
		heard := voicesOf(p.said(who))
		if len(heard) < 2 {
			p.t.Errorf("of %s %d things were understood, and whose they are was known of %d", who, len(p.said(who)), len(heard))
			continue
		}
		for _, h := range heard {
			if other := whose[h]; other != "" && other != who {
				p.t.Errorf("%s and %s are one", who, other)
			}
			whose[h], voices[who] = who, h
		}
	}
	return voices
}

// names says who a guest is, whose name is in the history from then on wherever
// they had been somebody unknown.
func (p *party) names(who, name string, whose map[string]earshot.Handle) {
	p.t.Helper()
	lines := func(of string) int {
		shown := p.earshot(nil, "history", "-n", "100").out
		return strings.Count(shown, "  "+of+" ")
	}
	called := p.called(whose[who])
	before := lines(called)
	if r := p.earshot(nil, "speakers", "name", called, name); r.code != success {
		p.t.Fatalf("it ended with %d: %s", r.code, r.err)
	}
	if after := lines(name); before == 0 || after != before || lines(called) > 0 {
		p.t.Errorf("%d lines of %s have become %d of %s:\n%s", before, called, after, name, p.earshot(nil, "history", "-n", "100").out)
	}
}

// called returns what a voice is called while nobody knows whose it is.
func (p *party) called(h earshot.Handle) string {
	p.t.Helper()
	var list []singer
	r := p.earshot(nil, "speakers", "list", "--json")
	if err := json.Unmarshal([]byte(r.out), &list); err != nil {
		p.t.Fatalf("%v: %s%s", err, r.out, r.err)
	}
	for _, s := range list {
		if s.Handle == h {
			return s.Called
		}
	}
	p.t.Fatalf("%v is not among %s", h, r.out)
	return ""
}
