package dave_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"earshot/internal/discord/dave"
)

// ExampleSession: a member of an encrypted call stays silent until it is in a group. Until then it
// offers its keys to the gateway, and seals nothing.
func ExampleSession() {
	s := dave.New(rand.Reader, 80351110224678912, 41771983423143937)
	defer s.Close()
	s.Connected(80351110224678913)     // op 11: who else is in the call
	answers := s.Select(1, time.Now()) // op 4: the gateway has chosen version 1
	for _, a := range answers {        // what to send to the gateway
		fmt.Println("key package:", a.Op == dave.OpKeyPackage, len(a.Body) > 0)
	}
	_, err := s.Seal(nil, []byte("a frame of Opus"))
	fmt.Println(errors.Is(err, dave.ErrNotReady), s.State().Version, s.State().Ready)

	s = dave.New(rand.Reader, 80351110224678912, 41771983423143937)
	defer s.Close()
	s.Select(0, time.Now()) // the gateway wants no encryption
	frame, err := s.Seal(nil, []byte("a frame of Opus"))
	fmt.Println(string(frame), err)
	// Output:
	// key package: true true
	// true 1 false
	// a frame of Opus <nil>
}
