package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/reflex"
	recordings "earshot/internal/trial"
	"earshot/language"
	"earshot/models/stt"
	"earshot/models/voiceprint/cast"
	"earshot/providers/microphone"
)

// A foreigner is a voice of which no model here was made. What is decided by sounds and by
// confidence was chosen on half of them, and the other half was held out.
type foreigner struct {
	engine, voice string
	held          bool
}

var foreigners = []foreigner{
	{cast.Espeak, "en-us", false}, {cast.Espeak, "en-us+f5", true},
	{cast.Espeak, "en-us+f2", false}, {cast.Espeak, "en-us-nyc", true},
	{cast.Espeak, "en-us+m3", false}, {cast.Espeak, "en-us+m7", true},
	{cast.Espeak, "en-gb", false}, {cast.Espeak, "en-gb-x-rp", true},
	{cast.Espeak, "en-gb-scotland", false}, {cast.Espeak, "en-029", true},
	{cast.Festival, "kal_diphone", false}, {cast.Festival, "ked_diphone", true},
	{cast.Espeak, "en-us+f4", false}, {cast.Festival, "cmu_us_slt_arctic_hts", true},
}

// What they say: twelve sentences in their turn to speak, and to nobody; what calls, what stops, and what
// only shows that they listen.
var (
	inTurn = []string{
		"what time is it", "my neighbor plays the violin at night", "how far away is the moon", "remind me to call my mother tomorrow",
		"what is the weather like in paris", "can you tell me a story about a dragon", "i would like to bake bread this weekend", "why is the sky blue",
		"how do i remove a coffee stain", "the train was late again this morning", "who wrote the first novel", "could you turn that down a little",
	}
	calling  = []string{"earshot what time is it", "hey earshot how far away is the moon", "earshot can you hear me"}
	stopping = []string{"stop talking", "be quiet", "stop it"}
	humming  = []string{"mm-hmm", "uh-huh"}
)

// levels are how loud a voice is beside white noise, in dB.
var levels = []float64{45, 28, 18}

// A tally is what became of what some voices said at one level.
type tally struct {
	words, wrong                     int
	said, answered, askedBack, right int // in their turn; right are those of the answered that were understood but for a word in four
	called, missed, falsely          int
	stops, goesOn                    int
	hums, cuts                       int
}

// understood measures what becomes of what unknown voices say, at three levels of noise: whether it is
// answered, asked back or met with silence, and whether calls, stops and murmurs are taken for what they are.
func understood(ctx context.Context, b bench) ([]Row, error) {
	if rows := withoutVoice("foreign", []string{"speech"}, cast.Espeak, cast.Festival); rows != nil {
		return rows, nil
	}
	d, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	of := map[bool][]tally{false: make([]tally, len(levels)), true: make([]tally, len(levels))}
	for _, f := range foreigners[:min(len(foreigners), 2*b.rounds)] {
		if err := f.examine(ctx, d, min(b.rounds, len(inTurn)), of[f.held]); err != nil {
			return nil, fmt.Errorf("%s %s: %w", f.engine, f.voice, err)
		}
	}
	return append(tallied("tuned on", of[false]), tallied("held out", of[true])...), nil
}

// examine has a recogniser that has never heard the voice listen to all that it says.
func (f foreigner) examine(ctx context.Context, d dial, sentences int, of []tally) error {
	r := stt.New(stt.Config{Dial: d.to(speechHelper, "hear"), Names: []string{executive.DefaultConfig().Name}, Log: silent})
	ctx, stop := beside(ctx, r.Run)
	err := f.listenTo(ctx, r, sentences, of)
	return errors.Join(err, stop())
}

func (f foreigner) listenTo(ctx context.Context, r *stt.Recogniser, sentences int, of []tally) error {
	for i, text := range inTurn[:sentences] {
		if err := f.each(ctx, r, text, i, of, (*tally).turn); err != nil {
			return err
		}
	}
	for _, kind := range []struct {
		said []string
		note func(*tally, string, earshot.Utterance)
	}{{calling, (*tally).call}, {stopping, (*tally).stop}, {humming, (*tally).hum}} {
		for i, text := range kind.said {
			if err := f.each(ctx, r, text, 100+i, of, kind.note); err != nil {
				return err
			}
		}
	}
	return nil
}

// each says a text at each level, and notes what came of it.
func (f foreigner) each(ctx context.Context, r *stt.Recogniser, text string, number int, of []tally, note func(*tally, string, earshot.Utterance)) error {
	p := cast.Person{Engine: f.engine, Voice: f.voice, Tract: 1, Pitch: 1, Pace: 1}
	pcm, err := p.Say(ctx, cast.Calm, text)
	if err != nil {
		return err
	}
	for i, level := range levels {
		luck := rand.New(rand.NewPCG(uint64(number), uint64(level)))
		res, err := hears(ctx, r, cast.Channel{SNR: level}.Through(pcm, luck))
		if err != nil {
			return err
		}
		if path := os.Getenv("EARSHOT_BENCH_HEARD"); path != "" {
			if err := noteHeard(path, f, level, text, res); err != nil {
				return err
			}
		}
		note(&of[i], text, earshot.Utterance{Text: res.Text, Confidence: res.Confidence, Lasted: inTime(len(pcm))})
	}
	return nil
}

// noteHeard appends what was understood to a file, for whoever chooses thresholds.
func noteHeard(path string, f foreigner, level float64, text string, res stt.Result) error {
	out, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%v\t%s\t%.0f\t%s\t%s\t%.2f\n", f.held, f.voice, level, text, string(res.Text), res.Confidence)
	return errors.Join(err, out.Close())
}

// hears returns what is understood of some sound, once the recogniser is there.
func hears(ctx context.Context, r *stt.Recogniser, pcm []float64) (res stt.Result, err error) {
	quiet := make([]float64, inSamples(margin))
	all := append(append(append([]float64(nil), quiet...), pcm...), quiet...)
	for {
		got := make(chan stt.Result, 1)
		s := r.Begin(func(r stt.Result) {
			if r.Final {
				got <- r
			}
		})
		for _, f := range cast.Frames(all) {
			s.Feed(&f)
		}
		s.End()
		if res, err = await("the utterance was recognised", got); err != nil || !errors.Is(res.Err, stt.ErrAway) {
			return res, cmp.Or(err, res.Err)
		}
		if ctx.Err() != nil {
			return res, context.Cause(ctx)
		}
	}
}

// unknownEar is how the agent listens by default.
func unknownEar() conversation.AddressClassifier {
	set := executive.DefaultConfig()
	return conversation.AddressClassifier{
		Name: set.Name, As: conversation.Spellings(set.Name), After: set.Speech.FollowUp.Duration(), Sure: set.Speech.LeastConfidence, Asks: set.Speech.AskBack,
	}
}

// heard returns what a room hears of u, and false if it hears nothing.
func heard(u earshot.Utterance) (earshot.Utterance, bool) {
	faint, told := microphone.Understood(string(u.Text), u.Confidence, microphone.DefaultConfig().LeastConfidence)
	u.Faint = faint
	return u, told
}

// turn notes what becomes of a sentence in talk, and of the same out of it.
func (t *tally) turn(text string, u earshot.Utterance) {
	want := recordings.Words(text)
	wrong := language.Edits(want, recordings.Words(string(u.Text)))
	t.words, t.wrong, t.said = t.words+len(want), t.wrong+wrong, t.said+1
	u, told := heard(u)
	if !told {
		return
	}
	now := time.Now()
	switch unknownEar().Address(u, now, conversation.SpeechContext{Answered: now.Add(-time.Second)}) {
	case conversation.Following:
		t.answered++
		if 4*wrong <= len(want) {
			t.right++
		}
	case conversation.Mumbled:
		t.askedBack++
	}
	if to := unknownEar().Address(u, now, conversation.SpeechContext{Rested: true}); to == conversation.Called || to == conversation.Mumbled {
		t.falsely++
	}
}

// call notes whether the agent knows that it is called.
func (t *tally) call(_ string, u earshot.Utterance) {
	t.called++
	u, told := heard(u)
	to := unknownEar().Address(u, time.Now(), conversation.SpeechContext{Rested: true})
	if !told || to != conversation.Called && to != conversation.Mumbled {
		t.missed++
	}
}

// stop notes whether it falls silent while it talks with somebody else, by the words alone.
func (t *tally) stop(_ string, u earshot.Utterance) {
	t.stops++
	name := executive.DefaultConfig().Name
	u, told := heard(u)
	if !told || !reflex.Recognise(u.Text, name).Cuts() && reflex.Misheard(u.Text, name) == "" {
		t.goesOn++
	}
}

// hum notes whether a murmur ends a reply to whoever makes it.
func (t *tally) hum(_ string, u earshot.Utterance) {
	t.hums++
	u, told := heard(u)
	if told && unknownEar().Address(u, time.Now(), conversation.SpeechContext{Talking: true, Sounding: true, Answered: time.Now()}).ForAgent() {
		t.cuts++
	}
}

// tallied are the rows of some voices.
func tallied(which string, of []tally) (rows []Row) {
	for i, t := range of {
		add := func(name string, n, all int) {
			rows = append(rows, Row{Name: fmt.Sprintf("L %s, %.0f dB: %s", which, levels[i], name), Unit: fmt.Sprintf("of %d", all), Ours: same(float64(n))})
		}
		rows = append(rows, Row{Name: fmt.Sprintf("L %s, %.0f dB: word error rate", which, levels[i]), Unit: "%", Ours: same(100 * float64(t.wrong) / float64(max(t.words, 1)))})
		add("answered", t.answered, t.said)
		add("answered, and understood", t.right, t.said)
		add("asked back", t.askedBack, t.said)
		add("met with silence", t.said-t.answered-t.askedBack, t.said)
		add("calls missed", t.missed, t.called)
		add("false wakes", t.falsely, t.said)
		add("stops missed, by words alone", t.goesOn, t.stops)
		add("replies ended by a murmur", t.cuts, t.hums)
	}
	if len(rows) > 0 {
		rows[0].Note = "voices of " + strings.Join([]string{cast.Espeak, "Festival"}, " and ") + ", beside white noise; thresholds were chosen on those that are tuned on"
	}
	return rows
}
