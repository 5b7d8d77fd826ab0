package speakers

import (
	"slices"
	"time"

	"earshot"
	"earshot/models/voiceprint"
)

const (
	mostSamples  = 16 // samples of a voice, to separate two voices that were taken for one
	mostAlso     = 64
	mostChannels = 8

	// slow is how much of a voice its print represents: later sound gradually replaces the
	// earliest.
	slow = time.Minute
)

// A voice is a known voice. Its parts are replaced and never changed, so a copy of the struct is a
// copy of the voice.
type voice struct {
	id     string
	also   []string // its former IDs
	number int
	who    earshot.ParticipantID
	said   Attestation
	agreed bool          // said records a consent
	kept   []print       // what the file has of it
	live   []print       // what was learnt since
	spoken time.Duration // in this run
	last   time.Time
	recent []sample
}

// A print is the mean of what was heard of a voice through one channel. The numbers are as heard,
// and not centred.
type print struct {
	channel string
	numbers []float32
	heard   time.Duration
	mixed   bool // somebody else is audible in it, so it becomes part of no voice
}

// A sample is one utterance.
type sample struct {
	at time.Time
	print
}

// handle returns the handle of a voice.
func (v *voice) handle() earshot.Handle { return handleOf(v.id) }

func handleOf(id string) earshot.Handle { return earshot.Handle{Provider: provider, ID: id} }

// ids returns all IDs of v.
func (v *voice) ids() []string { return append([]string{v.id}, v.also...) }

// speaker returns v without its print.
func (v *voice) speaker() Speaker {
	s := Speaker{Handle: v.handle(), Number: v.number, Who: v.who, Kept: v.agreed, Said: v.said, Heard: v.heard(), Spoken: v.spoken, Last: v.last}
	for _, id := range v.also {
		s.Also = append(s.Also, handleOf(id))
	}
	return s
}

// clone returns a copy that shares only parts that are never changed.
func (v *voice) clone() *voice {
	c := *v
	c.also, c.kept, c.live, c.recent = slices.Clone(v.also), slices.Clone(v.kept), slices.Clone(v.live), slices.Clone(v.recent)
	return &c
}

// heard returns the duration of the sound in the print of v.
func (v *voice) heard() (d time.Duration) {
	for _, p := range v.prints() {
		d += p.heard
	}
	return d
}

// prints returns what v sounds like through each channel. What was learnt since a print was kept
// counts for no more than the kept print, so that a voice cannot be led away from it.
func (v *voice) prints() []print {
	if len(v.kept) == 0 {
		return v.live
	}
	all := slices.Clone(v.kept)
	for _, p := range v.live {
		i := slices.IndexFunc(all, func(k print) bool { return k.channel == p.channel })
		if i < 0 {
			all = append(all, p)
			continue
		}
		p.heard = min(p.heard, all[i].heard)
		all[i] = all[i].with(p)
	}
	return all
}

// through reports whether it is known how v sounds through a channel.
func (v *voice) through(channel string) bool {
	return slices.ContainsFunc(v.prints(), func(p print) bool { return p.channel == channel && p.heard >= voiceprint.Least })
}

// with returns the mean of two prints through one channel.
func (p print) with(q print) print {
	sum := p.heard + q.heard
	if sum <= 0 || len(p.numbers) != len(q.numbers) {
		return p
	}
	share := float32(q.heard) / float32(sum)
	numbers := make([]float32, len(p.numbers))
	for i, n := range p.numbers {
		numbers[i] = n + share*(q.numbers[i]-n)
	}
	return print{channel: p.channel, numbers: numbers, heard: sum}
}

// add adds p to the mean of its channel.
func add(prints []print, p print) []print {
	i := slices.IndexFunc(prints, func(k print) bool { return k.channel == p.channel })
	if i < 0 {
		if len(prints) == mostChannels {
			prints = slices.Delete(prints, 0, 1)
		}
		return append(prints, p)
	}
	mean := prints[i].with(p)
	mean.heard = min(mean.heard, slow)
	prints[i] = mean
	return prints
}

// learn learns from what v has said. It copies the numbers, so that they can be erased.
func (v *voice) learn(s sample) {
	s.numbers = slices.Clone(s.numbers)
	v.live = add(v.live, print{channel: s.channel, numbers: slices.Clone(s.numbers), heard: s.heard})
	v.spoken += s.heard
	v.recent = append(v.recent, s)
	if len(v.recent) > mostSamples {
		v.recent = slices.Delete(v.recent, 0, 1)
	}
	if s.at.After(v.last) {
		v.last = s.at
	}
}

// known adds former IDs of v; the oldest are dropped.
func (v *voice) known(ids ...string) {
	v.also = append(v.also, ids...)
	if n := len(v.also) - mostAlso; n > 0 {
		v.also = slices.Delete(v.also, 0, n)
	}
}

// channelOffsets are what each channel adds to a voice.
type channelOffsets map[string][]float32

// estimateOffsets estimates the offsets of the channels from all voices.
func (s *state) estimateOffsets() channelOffsets {
	if s.added != nil {
		return s.added
	}
	heard := make(map[string][][]float32)
	for _, v := range append([]*voice{&s.own}, s.voices...) {
		for _, p := range v.prints() {
			heard[p.channel] = append(heard[p.channel], p.numbers)
		}
	}
	s.added = make(channelOffsets, len(heard))
	for channel, prints := range heard {
		s.added[channel] = voiceprint.Shift(prints)
	}
	return s.added
}

// centred returns the numbers of p without what its channel adds.
func (s channelOffsets) centred(p print) []float32 {
	return voiceprint.Centre(nil, p.numbers, s[p.channel])
}

// even is the likelihood below which a voice is, by the kept print alone, more likely somebody
// else's.
const even = 0.5

// alike returns how likely p, with the given centred numbers, is a print of v, if it is as likely
// as not beforehand. What was learnt since a voice was kept makes the result surer. But a print
// that the kept print alone attributes to somebody else is never attributed to v: otherwise
// somebody could gradually lead the kept voice to their own.
func (s channelOffsets) alike(p print, centred []float32, v *voice) float64 {
	likely := s.among(p, centred, v.prints())
	if len(v.kept) > 0 && len(v.live) > 0 {
		if alone := s.among(p, centred, v.kept); alone < even {
			return min(likely, alone)
		}
	}
	return likely
}

// among does the same for the prints of one voice. Sound through the same channel takes precedence.
func (s channelOffsets) among(p print, centred []float32, prints []print) float64 {
	var mean print
	var room [voiceprint.Size]float32 // room saves an allocation for each known voice
	for _, k := range prints {
		if k.channel == p.channel && k.heard >= voiceprint.Least {
			its := voiceprint.Centre(room[:0], k.numbers, s[k.channel])
			return voiceprint.Probability(voiceprint.Score(centred, its), min(p.heard, k.heard))
		}
		k.numbers = s.centred(k)
		if mean.numbers == nil {
			mean = k
		} else {
			mean = mean.with(k)
		}
	}
	return voiceprint.Probability(voiceprint.Score(centred, mean.numbers), min(p.heard, mean.heard))
}
