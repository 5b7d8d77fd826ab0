package speakers

import (
	"math"
	"slices"
	"time"

	"earshot"
	"earshot/models/voiceprint"
)

// A Judgement says whose voice it is.
type Judgement struct {
	Speaker earshot.Handle // empty: nobody can tell
	Sure    float64        // that it is Speaker's, or the agent's; 0 to 1
	New     bool           // Speaker was not known before
	Own     bool           // it is like the agent's own voice; whether it is that, its sound tells
	Again   bool           // the very same sound was heard before: it is played, not said
	Strange bool           // it is like no voice that is known, and too little was heard to begin one, or nothing is learnt
}

const (
	// stranger is how likely somebody speaks who is not known, before the voice
	// is looked at. What a judgement is worth that is made with it says [Calibrations].
	stranger = 0.5

	// strange is how likely it must be a stranger's to begin a voice, and teaches
	// how sure one must be to learn from it. Both are meant to be wrong rarely: a
	// voice that was begun in vain merges, one that was taught wrongly misleads.
	// Strange is more than what is reckoned with before, so that a voice must speak
	// for it. With both, of what four people say whom nobody knows, 9 of 100 are
	// taken for another's through a good microphone and 18 in a room; with a stranger
	// of 0.2 it was 15 and 27. Teaches is as sure as the 0.95 were with which that was
	// measured, before it was learnt what those are worth.
	strange = 0.6
	teaches = 0.85

	// mine is how sure one must be that it is the agent's voice: who is taken for that is
	// not heard while it speaks.
	mine = 0.65

	// absent voices that nobody has named are this much less likely than those
	// heard in the last while.
	absent = 0.2
	while  = 10 * time.Minute

	// one is how sure one must be that two voices that nobody has named are one,
	// of which enough was heard each.
	one    = 0.97
	enough = 4 * time.Second

	// doubt is what is left of a judgement on sound that was heard before, and
	// confused of one on a voice beside which somebody else is heard. Of 24 mixtures of
	// three synthetic voices at 6 dB, 20 are given to somebody, 4 of these to the softer
	// one; where one must be as sure as this asks for, 11 are, all to the louder one.
	// Nobody who was silent is named.
	doubt    = 0.5
	confused = 0.6

	// same is how far two prints may lie apart, in parts of their length, and be of
	// the same sound: nobody says a thing twice like this.
	same       = 1e-3
	mostRecent = 256
)

// Whose judges whose voice v is, which began to speak at a time. It learns from voices that it is
// sure of, and from new ones. It takes less than half a microsecond for each known voice. A nil v
// belongs to nobody, and so does a voice of which too little was heard.
func (b *Registry) Whose(v *earshot.Voice, at time.Time) Judgement {
	p, ok := b.print(v)
	if !ok {
		return Judgement{}
	}
	b.mu.Lock()
	j := b.judge(p, at, true)
	merged := len(b.pending) > 0
	b.mu.Unlock()
	if merged {
		b.tell()
	}
	return j
}

// Guess is Whose for a voice that is still speaking: nothing is learnt.
func (b *Registry) Guess(v *earshot.Voice, at time.Time) Judgement {
	p, ok := b.print(v)
	if !ok {
		return Judgement{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.judge(p, at, false)
}

// LearnOwn learns the agent's own voice, as it was synthesised or as it was heard while nobody
// else spoke.
func (b *Registry) LearnOwn(v *earshot.Voice) {
	if p, ok := b.print(v); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.is.own.live, b.is.added = add(slices.Clone(b.is.own.live), p), nil
	}
}

// print returns what can be compared of v.
func (b *Registry) print(v *earshot.Voice) (print, bool) {
	if v == nil || !b.set().Enabled || v.Heard < voiceprint.Least || len(v.Channel) > channelBytes || !valid(v.Print) {
		return print{}, false
	}
	return print{v.Channel, slices.Clone(v.Print), v.Heard, v.Overlapped}, true
}

// valid reports whether numbers are a print.
func valid(numbers []float32) bool {
	return len(numbers) == voiceprint.Size && !slices.ContainsFunc(numbers, func(n float32) bool {
		return math.IsNaN(float64(n)) || math.Abs(float64(n)) > 1e6
	})
}

// judge judges p, and learns from it if that is wanted and nothing is being
// written down.
func (b *Registry) judge(p print, at time.Time, learns bool) Judgement {
	s := sample{at, p}
	odds := b.is.matchVoices(p, at)
	if odds.best != nil && !b.cfg.Raw {
		odds.sure = odds.best.worth(p).Of(odds.sure)
	}
	learns = learns && !b.frozen && !p.mixed
	if p.mixed {
		odds.sure *= confused
	}
	if b.again(s, learns) {
		j := b.decide(odds, odds.sure*doubt)
		j.Again = true
		return j
	}
	j := b.decide(odds, odds.sure)
	switch {
	case !learns:
	case odds.best != nil && odds.best != &b.is.own && odds.sure >= teaches:
		odds.best.learn(s)
		b.is.added = nil
		b.unite(odds.best, at)
	case odds.strange >= strange && p.heard >= b.set().Begin.Duration():
		v := b.begin(b.is)
		v.learn(s)
		b.crowd()
		b.is.added = nil
		return Judgement{Speaker: v.handle(), Sure: odds.strange, New: true}
	}
	j.Strange = j.Speaker.ID == "" && !j.Own && !p.mixed && odds.strange >= strange
	return j
}

// decide returns the judgement that somebody is as sure of as said.
func (b *Registry) decide(o voiceMatch, sure float64) Judgement {
	switch {
	case o.best == nil || sure < b.set().Sure || o.best == &b.is.own && sure < mine:
		return Judgement{}
	case o.best == &b.is.own:
		return Judgement{Own: true, Sure: sure}
	}
	return Judgement{Speaker: o.best.handle(), Sure: sure}
}

// A voiceMatch is how likely a voice is whose.
type voiceMatch struct {
	best    *voice // nil if there is nobody
	sure    float64
	strange float64 // that it is nobody's who is known
}

// matchVoices weighs all voices against each other and against somebody unknown. Each
// comparison alone says how likely two prints are one voice when nothing else is
// known; what they say together is what Bayes would make of it.
func (s *state) matchVoices(p print, at time.Time) voiceMatch {
	all := s.estimateOffsets()
	centred := all.centred(p)
	var weights, sum, best float64
	var who *voice
	for _, v := range append([]*voice{&s.own}, s.voices...) {
		if v.heard() == 0 {
			continue
		}
		likely := min(max(all.alike(p, centred, v), 1e-6), 1-1e-6)
		weight := v.weight(at)
		weights += weight
		is := weight * likely / (1 - likely)
		sum += is
		if is > best {
			best, who = is, v
		}
	}
	if who == nil {
		return voiceMatch{strange: 1}
	}
	share := (1 - stranger) / weights
	total := stranger + share*sum
	return voiceMatch{who, share * best / total, stranger / total}
}

// weight says how likely it is that v speaks, beside others.
func (v *voice) weight(at time.Time) float64 {
	if v.number > 0 && v.who == "" && at.Sub(v.last) > while {
		return absent
	}
	return 1
}

// again reports whether the same sound was heard before, and remembers it. What is
// judged twice while it is spoken was not.
func (b *Registry) again(s sample, learns bool) bool {
	var long float64
	for _, n := range s.numbers {
		long += float64(n) * float64(n)
	}
	heard := slices.ContainsFunc(b.recent, func(r sample) bool {
		return s.at.Sub(r.at).Abs() > min(r.heard, s.heard) && near(r.numbers, s.numbers, same*same*long)
	})
	if learns {
		b.recent = append(b.recent, s)
		if len(b.recent) > mostRecent {
			b.recent = slices.Delete(b.recent, 0, 1)
		}
	}
	return heard
}

// near reports whether the square of the distance of two prints is at most so large. Most
// are told apart by their first numbers.
func near(a, b []float32, most float64) bool {
	apart := 0.0
	for i, x := range a {
		d := float64(x - b[i])
		if apart += d * d; apart > most {
			return false
		}
	}
	return true
}

// unite merges voices that nobody has named into the older one, where v turns out
// to be one with them.
func (b *Registry) unite(v *voice, at time.Time) {
	if v.who != "" || v.heard() < enough {
		return
	}
	all := b.is.estimateOffsets()
	for _, other := range b.is.voices {
		if other == v || other.who != "" || other.heard() < enough || all.both(v, other) < one {
			continue
		}
		into, from := v, other
		if other.number < v.number {
			into, from = other, v
		}
		b.is.merge(into, from)
		b.is.added = nil
		b.pending = append(b.pending, Change{Act: Merged, Voice: into.handle(), Other: from.handle(), Said: Attestation{At: at}})
		return
	}
}

// both returns how likely two voices are one, by what was heard most of both.
func (s channelOffsets) both(v, other *voice) float64 {
	prints := v.prints()
	p := prints[0]
	for _, q := range prints {
		if q.heard > p.heard {
			p = q
		}
	}
	return s.alike(p, s.centred(p), other)
}

// crowd drops the voices that were heard longest ago when there are too many that are
// not kept, those without a name first.
func (b *Registry) crowd() {
	var passing []*voice
	for _, v := range b.is.voices {
		if !v.agreed {
			passing = append(passing, v)
		}
	}
	slices.SortFunc(passing, func(v, w *voice) int {
		if (v.who == "") != (w.who == "") {
			return map[bool]int{true: -1, false: 1}[v.who == ""]
		}
		return v.last.Compare(w.last)
	})
	for _, v := range passing[:max(0, len(passing)-b.set().MostUnknown)] {
		b.is.drop(v)
	}
}
