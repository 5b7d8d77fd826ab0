package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/daemon/access"
	"earshot/internal/testkit"
	actors "earshot/models/voiceprint/cast"
	"earshot/speakers"
)

// A guest is somebody at a party, with a synthetic voice.
type guest struct {
	name string
	actors.Person
}

// guests have two of flite's voices and one of espeak-ng's. A recogniser understands little of the
// latter, who is only there to be told apart.
var guests = map[string]guest{
	"bob":  {"bob", actors.Person{Engine: actors.Flite, Voice: "rms", Tract: 1, Pitch: 1, Pace: 1}},
	"eve":  {"eve", actors.Person{Engine: actors.Flite, Voice: "awb", Tract: 1, Pitch: 1, Pace: 1}},
	"dave": {"dave", actors.Person{Engine: actors.Espeak, Voice: "en-us+f3", Tract: 1, Pitch: 1, Pace: 1}},
}

// sound returns what a guest says, without the silence around it.
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

// A party is a parlour with guests, and the history that it should leave.
type party struct {
	*parlour
	want []verse
}

// A verse is an expected line of the history, or several lines in a row by the same speaker.
type verse struct {
	who   string // equal for all lines of one speaker
	text  string // of a guest, what was said; of the agent, what was heard
	slips int    // how many words a recogniser may get wrong; with unheard, all of them
	mark  string // how the line ends
}

// unheard is the slips of a verse of which only the speaker counts.
const unheard = 100

// speaks lets a guest say something, and returns it when it has been said.
func (p *party) speaks(who, text string) []int16 {
	p.t.Helper()
	pcm := guests[who].sound(p.t, text)
	p.hears(pcm)
	return pcm
}

// hears plays a sound to the microphone, with silence around it.
func (p *party) hears(pcm []int16) {
	p.t.Helper()
	p.sounds(slices.Concat(hush(200), pcm, hush(900)))
}

// mixed returns two sounds played at once.
func mixed(a, b []int16) []int16 {
	both := make([]int16, max(len(a), len(b)))
	copy(both, a)
	for i, s := range b {
		both[i] = int16(max(-32768, min(32767, int(both[i])+int(s))))
	}
	return both
}

// reads adds to the expected history.
func (p *party) reads(lines ...verse) { p.want = append(p.want, lines...) }

// partyTalk is a model that writes a file when asked to, if it may.
var partyTalk = talker + "  - {when: drawer, reply: I try., calls: [{tool: write_file, arguments: {path: drawer.txt, content: open}}]}\n"

// TestAloudParty: three people and the agent talk through one microphone. The people interrupt the
// agent and each other, go on without a pause, say "mm-hm" while it speaks, and speak at the same
// time. Somebody plays back recordings of the agent and of its owner. The history reads right: a
// name given late also stands in earlier lines, and a voice alone has none of its owner's rights.
func TestAloudParty(t *testing.T) {
	talks(t)
	p := &party{parlour: newParlour(t, "EARSHOT_PROVIDERS_MICROPHONE_LEAST_CONFIDENCE=0", "EARSHOT_SPEAKERS_ENROL_SECONDS=4")}
	p.scripted(partyTalk)
	p.wakes()
	_, owner := access.Self()
	p.enrols("bob", owner)

	p.speaks("eve", "the meeting was moved to three thirty on monday, and then to tuesday")
	p.reads(verse{"voice 2", "the meeting was moved to three thirty on monday and then to tuesday", 5, "[not to me]"})
	p.speaks("dave", "i think we should go to the store after lunch and buy some bread")
	p.reads(verse{"voice 3", "", unheard, "[not to me]"})

	told := p.interrupted()
	p.hears(slices.Concat(guests["bob"].sound(t, "the build was finished at noon, and everybody went home after that"),
		guests["dave"].sound(t, "how long will it take to get there if we leave in the evening")))
	p.reads(verse{owner, "the build was finished at noon and everybody went home after that", 5, "[not to me]"},
		verse{"voice 3", "", unheard, "[not to me]"})
	p.hears(mixed(guests["eve"].sound(t, "the build was finished at noon and everybody went home"),
		guests["bob"].sound(t, "add milk and eggs to the shopping list please")))
	p.reads(verse{"", "", unheard, "[while somebody else spoke] [not to me]"})

	p.hears(told)
	p.reads(verse{"somebody", "", unheard, "[sounds like me] [not to me]"})
	p.operates(owner)
	p.names("voice 3", "Dave")
	p.golden()
}

// enrols has the voice of a guest kept while they talk.
func (p *party) enrols(who, name string) {
	p.t.Helper()
	listens := make(chan result)
	go func() { listens <- p.earshot(nil, "speakers", "enroll", name, "--consents") }()
	said := []string{"i will call you back in ten minutes, when the report is done", "add milk and eggs to the shopping list, and bring some apples too"}
	var r result
	for _, text := range said {
		p.speaks(who, text)
		p.reads(verse{name, strings.ReplaceAll(text, ",", ""), 5, "[not to me]"})
	}
	r = testkit.Receive(p.t, testkit.Patience, "the end of the enrolment", listens)
	if r.code != success || !strings.Contains(r.out, "The voice of "+name+" is now kept.") || !strings.Contains(r.err, "voice 1: 4 of 4 s") {
		p.t.Fatalf("it ended with %d: %s%s", r.code, r.out, r.err)
	}
	if _, err := os.Stat(speakers.Path(filepath.Join(p.dir, "state/earshot/journal"))); err != nil {
		p.t.Error(err)
	}
}

// interrupted lets Eve ask for a story, Bob say something that only shows that he listens, and Eve
// ask something else over it. It returns the sound of the agent up to Bob's word.
func (p *party) interrupted() []int16 {
	p.t.Helper()
	recording, before := p.records(), len(p.replied(0))
	p.speaks("eve", "earshot, tell me about the tide")
	p.reads(verse{"voice 2", "Earshot tell me about the tide", 3, ""})
	p.speaking(recording, 2000)
	told := recording.PCM(0)
	p.speaks("bob", "right")
	if n := len(p.replied(0)); n != before {
		p.t.Error("who only shows that they listen cuts it off")
	}
	p.speaks("eve", "earshot, what about the weather")
	replies := p.replied(before + 2)[before:]
	cut, answer := replies[0], replies[1]
	if cut.Outcome != earshot.Interrupted || cut.Delivered() == "" || answer.Outcome != earshot.Completed {
		p.t.Errorf("the story was %s after %q, and the answer %s", cut.Outcome, string(cut.Delivered()), answer.Outcome)
	}
	p.reads(verse{"Earshot", string(cut.Delivered()), 0, fmt.Sprintf("[cut off by voice 2; not heard: %s]", strings.TrimSpace(string(cut.Remainder())))},
		verse{"voice 2", "Earshot what about the weather", 3, ""}, verse{"Earshot", "It is warm and dry today.", 0, ""})
	return told
}

// operates lets the owner ask aloud for something that needs rights, plays that again, and then
// lets the owner write it.
func (p *party) operates(owner string) {
	p.t.Helper()
	before := len(p.replied(0))
	ask := func() { p.speaks("bob", "earshot, will you please open the drawer over there") }
	for range 2 { // once said, once played
		ask()
		before++
		p.replied(before)
		p.reads(verse{owner, "Earshot will you please open the drawer over there", 4, ""}, verse{"Earshot", "", unheard, ""})
		if p.opened() {
			p.t.Error("a voice opens the drawer")
		}
	}
	p.post("Earshot, open the drawer")
	p.replied(before + 1)
	p.reads(verse{owner, "Earshot, open the drawer", 0, ""}, verse{"Earshot", "", unheard, ""})
	if !p.opened() {
		p.t.Error("its owner writes, and the drawer is not open")
	}
}

// opened reports whether the model has written its file.
func (p *party) opened() (found bool) {
	filepath.WalkDir(p.dir, func(_ string, d fs.DirEntry, _ error) error {
		found = found || d != nil && d.Name() == "drawer.txt"
		return nil
	})
	return found
}

// names gives a voice a name, also in the lines expected so far.
func (p *party) names(voice, name string) {
	p.t.Helper()
	if r := p.earshot(nil, "speakers", "name", voice, name); r.code != success {
		p.t.Fatalf("it ended with %d: %s", r.code, r.err)
	}
	for i := range p.want {
		if p.want[i].who == voice {
			p.want[i].who = name
		}
	}
}

// golden compares the history with the expected one.
func (p *party) golden() {
	p.t.Helper()
	golden(p.t, p.earshot(nil, "history", "-n", "100").out, p.want)
}

// golden compares a history with the expected one. Lines that a pause for breath has split count as
// one, and a few words by nobody in particular count as none, since every expected line has a known
// speaker.
func golden(t testing.TB, shown string, expected []verse) {
	t.Helper()
	t.Logf("history shows\n%s", shown)
	got := verses(shown)
	if len(got) != len(expected) {
		t.Fatalf("history has %d lines, want %d", len(got), len(expected))
	}
	for i, want := range expected {
		if err := want.fits(got[i]); err != nil {
			t.Errorf("line %d: %v", i+1, err)
		}
	}
}

// verses returns the lines of a history.
func verses(shown string) (got []verse) {
	for row := range strings.Lines(shown) {
		m := lineOfHistory.FindStringSubmatch(strings.TrimRight(row, "\n"))
		switch {
		case m == nil && len(got) > 0: // a reply goes on in this row
			got[len(got)-1].text += " " + strings.TrimSpace(row)
			continue
		case m == nil, strings.HasPrefix(m[2], "[has joined"), strings.HasPrefix(m[2], "[writes"), strings.HasSuffix(m[2], "[while I spoke]"):
			continue
		case m[1] == "somebody" && breath.MatchString(m[2]):
			continue
		}
		who := strings.TrimSuffix(m[1], "?")
		text, goesOn := strings.CutPrefix(m[2], "… ")
		if n := before(got, who); goesOn && n >= 0 {
			got[n].text = joined(got[n].text, text)
			continue
		}
		got = append(got, verse{who: who, text: text})
	}
	return got
}

// before returns the index of the verse that a speaker goes on with, among those that may have been
// said at the same time. It is the last index if none of these is theirs, and -1 if there are no
// verses.
func before(all []verse, who string) int {
	const atOnce = 3
	for i := len(all) - 1; i >= max(0, len(all)-atOnce); i-- {
		if all[i].who == who {
			return i
		}
	}
	return len(all) - 1
}

// joined returns two lines as one, with the marks of the one that has more.
func joined(a, b string) string {
	more := marks.FindString(b)
	if m := marks.FindString(a); len(m) > len(more) {
		more = m
	}
	return marks.ReplaceAllString(a, "") + " " + marks.ReplaceAllString(b, "") + more
}

// lineOfHistory matches the time, the speaker and the text. A line from before midnight also has
// its date.
var lineOfHistory = regexp.MustCompile(`^(?:\d{4}-\d\d-\d\d )?\S+  (\S+(?: \S+)?) +(.*)$`)

// breath matches a few words to nobody, such as the end of a sentence that was taken for two.
var breath = regexp.MustCompile(`^([^\s\[]+ ){1,6}\[not to me]$`)

// fits returns an error if a line of the history is not the expected one.
func (v verse) fits(got verse) error {
	text, marked := strings.CutSuffix(got.text, v.mark)
	switch text = strings.TrimSpace(text); {
	case v.who != "" && got.who != v.who:
		return fmt.Errorf("it is by %q, not by %q", got.who, v.who)
	case !marked:
		return fmt.Errorf("it ends otherwise than with %q: %q", v.mark, got.text)
	case v.slips < unheard && wrong(text, v.text) > v.slips:
		return fmt.Errorf("it is not %q: %q", v.text, text)
	}
	return nil
}
