package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	recordings "earshot/internal/trial"
	"earshot/language/phones"
	"earshot/models"
	"earshot/models/stt"
	"earshot/models/voiceprint/cast"
)

// agentNames are names that people give an agent.
var agentNames = []string{"Earshot", "Jarvis", "Computer", "Mia", "Robin"}

const (
	wordsAnHour = 9000 // of talk
	copies      = 8    // of the bench's sentences, each misheard otherwise: an hour of talk
	draws       = 40   // of a call by a name, each misheard otherwise
	nameLevel   = 28   // dB between a voice and the noise beside it
)

// misheard are shares of phones that a recogniser has wrong.
var misheard = []float64{0, 0.1, 0.2}

// A wakeTally is what became of what was said to agents of [agentNames], each for itself: by the sound of
// its name, and by the letters alone.
type wakeTally struct {
	calls   map[string]int // by each name
	missed  [2]map[string]int
	falsely [2]int
	hours   float64 // of talk that calls nobody, for all names together
}

func newWakeTally() *wakeTally {
	return &wakeTally{calls: make(map[string]int), missed: [2]map[string]int{make(map[string]int), make(map[string]int)}}
}

// called measures how many calls by names of the user's choice are missed, and how often talk that calls
// nobody is taken for a call: in text of which phones are misheard at random, and by the embedded
// recogniser with voices that nothing was tuned on. The bare thing knows names by their letters.
func called(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutVoice("names", []string{"speech"}, cast.Espeak, cast.Festival); rows != nil {
		return rows, nil
	}
	known, err := homophones()
	if err != nil {
		return nil, err
	}
	for _, wrong := range misheard {
		t := newWakeTally()
		transcriber{known, wrong, rand.New(rand.NewPCG(1, uint64(100*wrong)))}.write(t, min(b.rounds, copies), min(b.rounds, draws))
		rows = append(rows, t.rows(fmt.Sprintf("N %.0f %% of phones misheard", 100*wrong))...)
	}
	d, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	t := newWakeTally()
	for _, f := range foreigners[:min(len(foreigners), 2*b.rounds)] {
		if !f.held {
			continue
		}
		for _, name := range agentNames {
			r := stt.New(stt.Config{Dial: d.to(speechHelper, "hear"), Names: []string{name}, Log: silent})
			within, stop := beside(ctx, r.Run)
			if err := errors.Join(f.call(within, r, name, t, b.rounds), stop()); err != nil {
				return nil, fmt.Errorf("%s %s: %w", f.engine, f.voice, err)
			}
		}
	}
	return append(rows, t.rows("N embedded recogniser")...), nil
}

// callBy returns a sentence of [calling] with another name.
func callBy(name, text string) string { return strings.Replace(text, "earshot", name, 1) }

// talk returns all that the bench says to nobody by name.
func talk() (all []string) {
	all = append(sayings(sentencesText), inTurn...)
	for _, s := range append(sayings(gapsText), sayings(gapsHeld)...) {
		all = append(all, strings.Join(recordings.Words(strings.ReplaceAll(s, "|", " ")), " "))
	}
	return all
}

// call says calls by a name and other sentences to a recogniser that was taught it.
func (f foreigner) call(ctx context.Context, r *stt.Recogniser, name string, t *wakeTally, most int) error {
	number := uint64(0)
	hear := func(text string) (u earshot.Utterance, err error) {
		pcm, err := cast.Person{Engine: f.engine, Voice: f.voice, Tract: 1, Pitch: 1, Pace: 1}.Say(ctx, cast.Calm, text)
		if err != nil {
			return u, err
		}
		number++
		res, err := hears(ctx, r, cast.Channel{SNR: nameLevel}.Through(pcm, rand.New(rand.NewPCG(number, nameLevel))))
		u, told := heard(earshot.Utterance{Text: res.Text, Confidence: res.Confidence, Lasted: inTime(len(pcm))})
		if !told {
			u.Text = ""
		}
		return u, err
	}
	for _, text := range calling {
		u, err := hear(callBy(strings.ToLower(name), text))
		if err != nil {
			return err
		}
		t.call(name, u)
	}
	for _, text := range inTurn[:min(most, len(inTurn))] {
		u, err := hear(text)
		if err != nil {
			return err
		}
		t.aside(name, u, u.Lasted.Hours())
	}
	return nil
}

// isCalled reports whether an utterance after a silence is taken for a call of an agent, while it is said
// or in the end. Letters are those of its name alone.
func isCalled(name string, letters bool, u earshot.Utterance) bool {
	l := unknownEar()
	l.Name, l.As = name, conversation.Spellings(name)
	if letters {
		l.Name, l.As = "", append(l.As, name)
	}
	now, words := time.Now(), strings.Fields(string(u.Text))
	for n := range words {
		so := earshot.Speech{Words: earshot.Text(strings.Join(words[:n], " "))}
		if l.Words(so, now, conversation.SpeechContext{}) == conversation.Called {
			return true
		}
	}
	to := l.Address(u, now, conversation.SpeechContext{Rested: true})
	return to == conversation.Called || to == conversation.Mumbled
}

// call notes whether an agent hears that it is called.
func (t *wakeTally) call(name string, u earshot.Utterance) {
	t.calls[name]++
	for by := range 2 {
		if !isCalled(name, by == 1, u) {
			t.missed[by][name]++
		}
	}
}

// aside notes whether an agent takes for a call what calls nobody.
func (t *wakeTally) aside(name string, u earshot.Utterance, hours float64) {
	t.hours += hours
	for by := range 2 {
		if isCalled(name, by == 1, u) {
			t.falsely[by]++
		}
	}
}

func (t *wakeTally) rows(how string) (rows []Row) {
	for _, name := range agentNames {
		rows = append(rows, row(fmt.Sprintf("%s: calls by %q missed", how, name), fmt.Sprintf("of %d", t.calls[name]),
			same(float64(t.missed[0][name])), same(float64(t.missed[1][name])), ""))
	}
	rate := func(by int) Spread { return same(float64(t.falsely[by]) / t.hours) }
	return append(rows, row(how+": false calls", "an hour and name", rate(0), rate(1), fmt.Sprintf("in %.2f hours of talk for each of %d names", t.hours/float64(len(agentNames)), len(agentNames))))
}

// A transcriber writes what it hears, as a recogniser does: with some phones wrong, and in words that it knows
// where there are any that sound so.
type transcriber struct {
	known map[string]string // a word, by its phones
	wrong float64           // share of phones
	luck  *rand.Rand
}

// homophones returns a word of the dictionary for each row of phones: the shortest, as a rule the most
// usual.
func homophones() (known map[string]string, err error) {
	dir, err := models.Find(models.Dictionary)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(dir, models.Dictionary.Files[0]))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	known = make(map[string]string)
	lines := bufio.NewScanner(io.LimitReader(f, 64<<20))
	for lines.Scan() {
		word, _, _ := strings.Cut(lines.Text(), " ")
		if strings.Trim(word, phones.Letters[1:]) != "" {
			continue
		}
		sounds := phones.Of(word)
		if old, taken := known[sounds]; !taken || len(word) < len(old) {
			known[sounds] = word
		}
	}
	return known, lines.Err()
}

// write notes what becomes of calls of which the name is misheard, and of talk of which anything is.
func (s transcriber) write(t *wakeTally, copies, draws int) {
	for _, name := range agentNames {
		for _, text := range calling {
			for range draws {
				said := callBy(s.spell(s.mishear(phones.Of(name))), text)
				t.call(name, earshot.Utterance{Text: earshot.Text(said), Confidence: 1, Lasted: time.Second})
			}
		}
	}
	for range copies {
		for _, text := range talk() {
			words := strings.Fields(text)
			hours := float64(len(words)) / wordsAnHour
			for i, w := range words {
				sounds := phones.Of(w)
				if wrong := s.mishear(sounds); wrong != sounds {
					words[i] = s.spell(wrong)
				}
			}
			for _, name := range agentNames {
				t.aside(name, earshot.Utterance{Text: earshot.Text(strings.Join(words, " ")), Confidence: 1, Lasted: time.Second}, hours)
			}
		}
	}
}

// spelling has how one writes each phone.
var spelling = map[byte]string{
	'a': "o", '@': "a", 'A': "u", 'c': "aw", 'W': "ow", 'Y': "y", 'b': "b", 'C': "ch", 'd': "d", 'D': "th", 'E': "e", 'e': "ay", 'f': "f",
	'g': "g", 'h': "h", 'I': "i", 'i': "ee", 'J': "j", 'k': "k", 'l': "l", 'm': "m", 'n': "n", 'G': "ng", 'o': "oh", 'O': "oy", 'p': "p", 'r': "r",
	's': "s", 'S': "sh", 't': "t", 'T': "th", 'U': "oo", 'u': "oo", 'v': "v", 'w': "w", 'y': "y", 'z': "z", 'Z': "zh",
}

// mishear returns phones of which some are others that sound alike, missing, or followed by one that was
// not said: six, two and two in ten of those that are wrong.
func (s transcriber) mishear(said string) string {
	var out []byte
	for i := range len(said) {
		switch r := s.luck.Float64(); {
		case r < s.wrong*0.6:
			out = append(out, s.other(said[i:i+1]))
		case r < s.wrong*0.8:
		case r < s.wrong:
			out = append(out, said[i], s.other(""))
		default:
			out = append(out, said[i])
		}
	}
	return string(out)
}

// other returns another phone that sounds like one, or any if there is none.
func (s transcriber) other(than string) byte {
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(spelling)), func(p byte) bool { return string(rune(p)) == than })
	alike := slices.DeleteFunc(slices.Clone(all), func(p byte) bool { return phones.Coarse(string(rune(p))) != phones.Coarse(than) })
	if len(alike) > 0 {
		all = alike
	}
	return all[s.luck.IntN(len(all))]
}

// spell writes phones as a word that sounds so, as two, or else in letters.
func (s transcriber) spell(sounds string) string {
	if w, is := s.known[sounds]; is {
		return w
	}
	for i := 2; i < len(sounds)-1; i++ {
		one, is := s.known[sounds[:i]]
		two, too := s.known[sounds[i:]]
		if is && too {
			return one + " " + two
		}
	}
	var b strings.Builder
	for i := range len(sounds) {
		b.WriteString(spelling[sounds[i]])
	}
	return b.String()
}
