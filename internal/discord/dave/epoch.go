package dave

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"earshot/internal/discord/mls"
)

// An epoch holds what a session needs of a group: its members and their keys. It outlives the
// group.
type epoch struct {
	number    uint64
	members   []uint64 // in the order of their leaves
	keys      map[uint64][]byte
	code      string
	send      *sender
	receivers map[uint64]*receiver // of everybody but ourselves

	until time.Time // when it is forgotten; zero while it is executed or prepared
}

// newEpoch derives the keys of a group. It refuses a group in which an identity is not a user, or
// appears twice ("Client Commit Validity"), or in which self is missing.
func newEpoch(g *mls.Group, self uint64, now time.Time) (*epoch, error) {
	e := &epoch{number: g.Epoch(), keys: make(map[uint64][]byte), receivers: make(map[uint64]*receiver)}
	members := g.Members()
	if err := distinct(members, self); err != nil {
		return nil, err
	}
	for _, m := range members {
		user, _ := userOf(m.Identity)
		base, err := g.Export("Discord Secure Frames v0", binary.LittleEndian.AppendUint64(nil, user), keySize)
		if err != nil {
			return nil, fmt.Errorf("deriving the key of a sender: %w", err)
		}
		if user == self {
			e.send = newSender(base)
		} else {
			e.receivers[user] = newReceiver(base, now)
		}
		clear(base)
		e.members = append(e.members, user)
		e.keys[user] = append([]byte(nil), m.SignatureKey...)
	}
	e.code = code(g.EpochAuthenticator(), privacyGroups)
	return e, nil
}

// distinct requires every member to be a user, none twice, and self among them.
func distinct(members []mls.Member, self uint64) error {
	seen := make(map[uint64]bool, len(members))
	for _, m := range members {
		user, err := userOf(m.Identity)
		if err != nil {
			return err
		}
		if seen[user] {
			return errors.New("dave: a user is in the group twice")
		}
		seen[user] = true
	}
	if !seen[self] {
		return errors.New("dave: a group without ourselves")
	}
	return nil
}

// userOf reads the identity of a credential: a user's number, most significant byte
// first.
func userOf(identity []byte) (uint64, error) {
	if len(identity) != 8 {
		return 0, fmt.Errorf("dave: an identity of %d bytes", len(identity))
	}
	return binary.BigEndian.Uint64(identity), nil
}

func (e *epoch) clear() {
	e.send.clear()
	for _, r := range e.receivers {
		r.clear()
	}
}
