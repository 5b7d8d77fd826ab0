package davetest

import "testing"

// TestLateForUpgrade: while a call of three becomes encrypted, one is slow: its key package comes
// when the two others have a group that nobody uses yet.
func TestLateForUpgrade(t *testing.T) {
	s := newStage(t, Rules{})
	s.d.version = 0
	for user := range uint64(3) {
		s.join(user + 1)
		s.people[user+1].out = nil // in an unencrypted call nobody has a key package
	}
	s.d.Upgrade()
	for _, user := range []uint64{1, 2, 3} {
		s.hear(s.people[user])
	}
	slow := s.people[3].out
	s.people[3].out = nil
	for !s.d.established && s.step(0) {
	}
	s.people[3].out = slow
	s.people[3].out[0]()
	s.people[3].out = nil
	s.settle()
	s.agree()
}
