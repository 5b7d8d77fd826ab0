package acoustic

import "earshot/internal/audio"

// A Listener takes in a voice. It is used from one goroutine.
type Listener struct {
	analyser   Analyser
	gate       Gate
	statistics statistics
	mixture    *prepared
	voiced     int
}

// Listen returns a listener that has heard nothing.
func (m *Mixture) Listen() *Listener { return &Listener{mixture: m.prepare()} }

// Again returns a listener like l that has heard nothing.
func (l *Listener) Again() *Listener { return &Listener{mixture: l.mixture} }

// Reset forgets what was heard.
func (l *Listener) Reset() { *l = Listener{mixture: l.mixture} }

// Step takes 20 ms, unless they have no voice. It allocates nothing.
func (l *Listener) Step(f *audio.Frame) { l.Take(l.analyser.Step(f)) }

// Take is Step for the measurement of an [Analyser]. A listener must be given frames in only one of
// the two ways.
func (l *Listener) Take(s *Sound) {
	if s.Voiced {
		l.voiced++
	}
	voice := false
	windows := s.Windows()
	for i := range windows {
		if w := &windows[i]; l.gate.Passes(w) {
			l.mixture.take(&l.statistics, &w.Shape)
			voice = true
		}
	}
	if voice {
		l.statistics.hum(s.Pitch)
	}
}

// Voiced returns how many frames of 20 ms had a voice.
func (l *Listener) Voiced() int { return l.voiced }

// Windows returns how many windows of 10 ms were taken in.
func (l *Listener) Windows() int { return l.statistics.windows }

// Hums returns how many frames of 20 ms had a pitch.
func (l *Listener) Hums() int { return l.statistics.hums }

// Raw fills v with what was heard.
func (l *Listener) Raw(v *[Raw]float64) { l.mixture.raw(v, &l.statistics) }
