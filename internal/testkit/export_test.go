package testkit

import "time"

// Hurry has [NeedProcessors] wait for no more than d.
func Hurry(d time.Duration) (restore func()) {
	before := patience
	patience = d
	return func() { patience = before }
}
