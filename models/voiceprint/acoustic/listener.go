package acoustic

import "earshot/internal/audio"

// A Listener takes in a voice. It is used from one goroutine.
type Listener struct {
	analyser   Analyser
	tuner      Tuner
	statistics statistics
	mixture    *prepared
}

// Listen returns a listener that has heard nothing.
func (m *Mixture) Listen() *Listener { return &Listener{mixture: m.prepare()} }

// Again returns a listener like l that has heard nothing.
func (l *Listener) Again() *Listener { return &Listener{mixture: l.mixture} }

// Reset forgets what was heard.
func (l *Listener) Reset() { *l = Listener{mixture: l.mixture} }

// Step takes in 20 ms, unless no voice is in it. It allocates nothing.
func (l *Listener) Step(f *audio.Frame) {
	windows := l.analyser.Step(f, f.Voiced)
	for i := range windows {
		l.mixture.take(&l.statistics, &windows[i])
	}
	l.statistics.hum(l.tuner.Step(f, len(windows) > 0))
}

// Windows returns how many windows of 10 ms were taken in.
func (l *Listener) Windows() int { return l.statistics.windows }

// Hums returns how many frames of 20 ms had a pitch.
func (l *Listener) Hums() int { return l.statistics.hums }

// Raw fills v with what was heard.
func (l *Listener) Raw(v *[Raw]float64) { l.mixture.raw(v, &l.statistics) }
