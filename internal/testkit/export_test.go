package testkit

import "time"

// Hurry makes [NeedProcessors] wait for at most d.
func Hurry(d time.Duration) (restore func()) {
	before := patience
	patience = d
	return func() { patience = before }
}
