package microphone

import "earshot/internal/audio"

// Phrases are sought only near frames that may hold a voice: to seek them in all of the agent's
// own sound takes the time of a processor for nothing. They begin with consonants that no detector
// takes for a voice, and a spotter decides some frames after their end: models take whole chunks, of
// up to 320 ms, with some of what follows.
const (
	leading  = 15
	trailing = 30
)

// A phraseGate chooses the frames in which phrases are sought. The zero value has seen none; it is
// for one goroutine.
type phraseGate struct {
	voiced  int                  // frames for which a voice is near
	held    [leading]audio.Frame // those before it, as a ring
	next, n int
}

// take has r seek phrases in f and the frames held before it, or holds f.
func (g *phraseGate) take(f *audio.Frame, r Recogniser) {
	if f.Voiced {
		g.voiced = trailing + 1
	}
	if g.voiced == 0 {
		g.held[g.next] = *f
		g.next, g.n = (g.next+1)%leading, min(g.n+1, leading)
		return
	}
	g.voiced--
	for ; g.n > 0; g.n-- {
		r.Spot(&g.held[(g.next+leading-g.n)%leading])
	}
	r.Spot(f)
}
