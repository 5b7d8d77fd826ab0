package audio

// Gain returns the gain of the sample that was changed last.
func (f *Fader) Gain() float64 { return 1 - f.less }

// Moving reports whether a ramp is not over yet.
func (f *Fader) Moving() bool { return f.left > 0 }
