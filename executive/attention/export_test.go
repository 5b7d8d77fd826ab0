package attention

// Known returns how many things w remembers.
func (w *Watch) Known() int { return len(w.known) }
