package codec

import "time"

// Patience makes the client wait d for a server, and no longer, until restore is called.
func Patience(d time.Duration) (restore func()) {
	was := patient
	patient = d
	return func() { patient = was }
}
