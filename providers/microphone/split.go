package microphone

import (
	"slices"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/models/voiceprint"
)

// around is how many frames on each side of a detected voice change may be the actual place: 240
// ms.
const around = 12

// turn splits the open utterance near a detected voice change, if what follows sounds like another
// voice by itself. The recognition of both together is discarded: each is recognised anew, the
// first to its end.
func (l *listener) turn(t voiceprint.SpeakerChange) {
	at := pause(l.tape, len(l.tape)-t.Since)
	before, after := l.measured[max(0, at-sampleOf):at], l.measured[max(at, len(l.measured)-sampleOf):]
	if voiceprint.Change(before, after, t.Gained) < another {
		l.turns.Refuse()
		return
	}
	was, crowded := l.soundOf(0, at)
	l.soundOf(at, len(l.tape))
	first, second := l.tape[:at], l.tape[at:]
	l.open.session.Cancel()
	ended, goesOn := l.part(first, second)
	ended.voice, ended.overlaps = was, crowded
	if l.attend(ended) {
		play(ended.session, first)
		ended.session.End()
	}
	if l.attend(goesOn) {
		play(goesOn.session, second)
	}
	l.keep(at)
}

// keep removes from the tape what was before frame at.
func (l *listener) keep(at int) {
	l.tape, l.measured = slices.Delete(l.tape, 0, at), slices.Delete(l.measured, 0, at)
	l.turns.Reset()
	for i := range l.tape {
		l.turns.Take(alone(&l.tape[i], &l.measured[i]))
	}
}

func play(s Session, frames []audio.Frame) {
	for i := range frames {
		s.Feed(&frames[i])
	}
}

// part replaces the open voice by two, of which the first has ended, and tells the room about the
// second.
func (l *listener) part(first, second []audio.Frame) (ended, goesOn *voice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.open
	l.settle(was)
	l.voices++
	ended = &voice{number: was.number, began: was.began, over: was.over}
	_, ended.lasted, ended.own = extent(first)
	goesOn = &voice{number: l.voices, later: true, turn: was.turn}
	goesOn.began, _, goesOn.own = extent(second)
	goesOn.over = goesOn.own > 0
	l.admit(ended)
	l.admit(goesOn)
	l.open = goesOn
	l.believe(goesOn)
	return ended, goesOn
}

// soundOf analyses only the frames of the tape in a range, and returns their voice, and whether
// somebody else is heard in them.
func (l *listener) soundOf(from, to int) (v *earshot.Voice, crowded bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sampler.Reset()
	l.crowd.Reset()
	for i := max(from, to-sampleOf); i < to; i++ {
		l.study(&l.tape[i], &l.measured[i])
	}
	return l.sampled(), l.crowd.Overlap()
}

// pause returns the frame near at that is the quietest together with its neighbours, since nobody
// breaks into the middle of a vowel.
func pause(tape []audio.Frame, at int) int {
	from, to := max(1, at-around), min(at+around, len(tape)-2)
	best, quiet := at, 0.0 // no sound is louder
	for i := from; i <= to; i++ {
		loud := 0.0
		for j := i - 1; j <= i+1; j++ {
			loud += audio.Level(tape[j].PCM[:])
		}
		if loud < quiet {
			best, quiet = i, loud
		}
	}
	return best
}

// extent returns when the first voiced frame of tape began, the time to the end of the last, and
// which share of the voice coincided with the agent's own sound, from 0 to 1.
func extent(tape []audio.Frame) (began time.Time, lasted time.Duration, own float64) {
	voiced, ours := 0, 0
	for i := range tape {
		f := &tape[i]
		if !f.Voiced || f.EchoRatio >= foreign {
			continue
		}
		if voiced++; voiced == 1 {
			began = f.At
		}
		if f.Own {
			ours++
		}
		lasted = f.At.Sub(began) + audio.Time
	}
	if voiced == 0 {
		return tape[0].At, 0, 0
	}
	return began, lasted, float64(ours) / float64(voiced)
}
