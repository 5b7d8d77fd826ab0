package testkit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// FreeAddress returns an address of this machine where nobody listens, for a server that is started later. Its port
// is not one that the system gives to connections, as that of a listener at port 0 is: one of those would be in
// use now and then by the time that the server starts.
func FreeAddress() (string, error) {
	const first, last, attempts = 10000, 32767, 100
	var faults error
	for range attempts {
		address := fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(last-first+1))
		l, err := net.Listen("tcp", address)
		if err == nil {
			return address, l.Close()
		}
		faults = errors.Join(faults, err)
	}
	return "", faults
}
