package audio

const (
	// smooth is the part that a frame has in the energies that are compared:
	// about 40 ms, so that a cut is not held up.
	smooth = 0.4

	// steady is the same of what must not be by chance: half a second.
	steady = 0.04

	// helping is by how much, in dB, a canceller must have lowered some of the
	// last sound to be of use: less it does by chance.
	helping = 3

	// forgetting is how fast that is forgotten, in dB a frame of own sound: in ten
	// seconds what was good help is none.
	forgetting = 0.03

	// again is for how many frames of own sound more nobody is heard above what is
	// left, when the canceller has to learn the room again: 2.4 s.
	again = 120
)

// A Gate judges what an echo canceller makes of each frame: whether there is any
// echo, so that what it made is to be used; and how much of the frame is echo.
// It has no clock; the zero value is ready, and it is for one goroutine at a time.
type Gate struct {
	raw       Echo    // in what is captured
	left      residue // in what the canceller leaves
	now, long energies
	best      float64 // how much the canceller lowered lately, dB
	unsettled int     // frames until what is left is learned again
}

// Energies are those of what is captured and of what the canceller makes of it,
// smoothed.
type energies struct{ in, out float64 }

func (e *energies) add(in, out, part float64) {
	e.in += part * (in - e.in)
	e.out += part * (out - e.out)
}

// Judge judges a frame while our own sound was far, of which the canceller made
// out; where it is not at work out is nil. It sets Own, EchoRatio and Beside, and
// reports whether out is better than the frame.
func (g *Gate) Judge(f *Frame, far, out []int16) (better bool) {
	in := power(Level(f.PCM[:]))
	made := in
	if out != nil {
		made = power(Level(out))
	}
	g.now.add(in, made, smooth)
	g.long.add(in, made, steady)
	f.Own, f.EchoRatio = g.raw.Captured(far, f.PCM[:])
	f.Beside = false
	if out == nil {
		return false
	}
	if g.unsettled > 0 {
		g.unsettled--
		g.left = residue{played: -again}
	}
	better = g.now.out < g.now.in && g.best >= helping
	if g.best < helping {
		g.left.played = 0 // what it leaves when it is of no use says nothing of later
	}
	if rest, beside := g.left.judge(f.Own, f.PCM[:], out); better {
		f.EchoRatio, f.Beside = rest, beside
	}
	if f.Own {
		g.best = max(g.best-forgetting, min(g.lowered(), 2*helping))
	}
	return better
}

// Forget makes the gate assume that the canceller must learn the room again; until then the
// captured sound is left as it is. The echo of sound that was played before, which the canceller
// knew, may still arrive.
func (g *Gate) Forget() { g.unsettled = late }

// lowered returns by how much the canceller lowers what is heard, in dB.
func (g *Gate) lowered() float64 {
	if g.long.in <= audible {
		return 0
	}
	return decibel(g.long.in) - decibel(max(g.long.out, audible))
}

// audible is the power of what is more than the noise of a microphone: -60 dB.
const audible = 1e-6
