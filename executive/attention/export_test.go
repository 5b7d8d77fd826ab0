package attention

// Known returns how many things w remembers.
func (w *NoveltyTracker) Known() int { return len(w.known) }
