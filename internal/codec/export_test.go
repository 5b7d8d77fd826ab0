package codec

import "time"

// Patience makes the client wait that long for a server, and no longer, until
// the function that it returns is called.
func Patience(d time.Duration) (restore func()) {
	was := patient
	patient = d
	return func() { patient = was }
}
