package speakers

import (
	"math"
	"slices"
	"time"

	"earshot"
	"earshot/models/voiceprint"
)

// A Judgement says whose voice was heard.
type Judgement struct {
	Speaker earshot.Handle // empty if unknown
	Sure    float64        // how likely the voice is Speaker's, or the agent's; 0 to 1
	New     bool           // Speaker was not known before
	Own     bool           // it is like the agent's own voice; its sound tells whether it is that voice
	Again   bool           // exactly the same sound was heard before, so it was played, not said
	Strange bool           // it is unlike every known voice, and too little was heard to begin a new one, or nothing is learnt
}

const (
	// stranger is the prior probability that an unknown person is speaking. [Calibrations] say what
	// a judgement that was made with it is worth.
	stranger = 0.5

	// strange is how likely it must be that a voice is a stranger's to begin a new one, and teaches
	// is how sure a judgement must be to learn from it. Both should rarely be wrong: a voice that
	// was begun in vain merges later, but one that was taught wrongly misleads. strange is greater
	// than stranger, so that the voice itself must support it. With both, of 100 things that four
	// unknown people say, 9 are taken for another person's through a good microphone, and 18 in a
	// room; with a stranger of 0.2 it was 15 and 27. teaches is equivalent to the 0.95 with which
	// that was measured, before it was learnt what that figure is worth.
	strange = 0.6
	teaches = 0.85

	// mine is how sure a judgement must be that a voice is the agent's: somebody who is mistaken
	// for the agent is not heard while it speaks.
	mine = 0.65

	// absent is the factor by which unnamed voices are less likely if they were not heard within
	// while.
	absent = 0.2
	while  = 10 * time.Minute

	// one is how likely it must be that two unnamed voices are one, if enough was heard of each.
	one    = 0.97
	enough = 4 * time.Second

	// doubt is the factor for a judgement on sound that was heard before, and confused is the
	// factor for one on a voice with somebody else in the background. Of 24 mixtures of three
	// synthetic voices at 6 dB, 20 are attributed to somebody, 4 of these to the softer voice; with
	// this factor, 11 are attributed, all to the louder one. Nobody who was silent is named.
	doubt    = 0.5
	confused = 0.6

	// same is how far apart two prints may be, relative to their length, to count as prints of the
	// same sound: nobody says something twice in so similar a way.
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

// Guess is like Whose, for a voice that is still speaking: it learns nothing.
func (b *Registry) Guess(v *earshot.Voice, at time.Time) Judgement {
	p, ok := b.print(v)
	if !ok {
		return Judgement{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.judge(p, at, false)
}

// LearnOwn learns the agent's own voice, as it was synthesised, or as it was heard while nobody
// else spoke.
func (b *Registry) LearnOwn(v *earshot.Voice) {
	if p, ok := b.print(v); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.is.own.live, b.is.added = add(slices.Clone(b.is.own.live), p), nil
	}
}

// print returns the print of v for comparison.
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

// judge judges p. It learns from p if learns is set, and no change is being written.
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

// decide returns the judgement for a match with this certainty.
func (b *Registry) decide(o voiceMatch, sure float64) Judgement {
	switch {
	case o.best == nil || sure < b.set().Sure || o.best == &b.is.own && sure < mine:
		return Judgement{}
	case o.best == &b.is.own:
		return Judgement{Own: true, Sure: sure}
	}
	return Judgement{Speaker: o.best.handle(), Sure: sure}
}

// A voiceMatch says whose voice it most likely is.
type voiceMatch struct {
	best    *voice // nil if there is none
	sure    float64
	strange float64 // how likely it is no known voice
}

// matchVoices weighs all voices against each other and against a stranger. Each single comparison
// says how likely two prints are of one voice if nothing else is known. Bayes' rule combines them.
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

// weight returns how likely it is that v is speaking, relative to others.
func (v *voice) weight(at time.Time) float64 {
	if v.number > 0 && v.who == "" && at.Sub(v.last) > while {
		return absent
	}
	return 1
}

// again reports whether the same sound was heard before, and remembers it. A second judgement of
// the same utterance does not count as before.
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

// near reports whether the squared distance of two prints is at most most. For most prints, the
// first few numbers already show that it is not.
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

// unite merges v with another unnamed voice, into the older of the two, if they turn out to be one.
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

// both returns how likely two voices are one, judged by the print of each that was heard most.
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

// crowd drops voices when too many are not kept: those that were heard longest ago, beginning with
// the ones without a name.
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
