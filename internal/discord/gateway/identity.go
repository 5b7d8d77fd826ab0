package gateway

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
)

// epoch is the first millisecond that Discord's numbers count, since 1970.
const epoch = 1420070400000

// Number parses a number of Discord's (a snowflake) as written in JSON; 0 if it is invalid.
func Number(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Digits formats a number as it is written in JSON.
func Digits(id uint64) string { return strconv.FormatUint(id, 10) }

// An Allowlist is a list of numbers in a configuration; an empty one allows all.
type Allowlist map[uint64]bool

// NewAllowlist returns the list of these numbers.
func NewAllowlist(ids []string) Allowlist {
	l := make(Allowlist)
	for _, id := range ids {
		l[Number(id)] = true
	}
	return l
}

// Allows reports whether l allows a number.
func (l Allowlist) Allows(id uint64) bool { return len(l) == 0 || l[id] }

// Provider is the name of the provider in the handles of Discord's users.
const Provider = "discord"

// HandleOf returns the handle of a user.
func HandleOf(user uint64) earshot.Handle {
	return earshot.Handle{Provider: Provider, ID: Digits(user)}
}

// Made returns the creation time in a number of Discord's, to the millisecond.
func Made(id uint64) time.Time { return time.UnixMilli(int64(id>>22) + epoch) }

// Since returns the least number of Discord's that can have been made at t; 0 before there were
// any.
func Since(t time.Time) uint64 {
	if ms := t.UnixMilli() - epoch; ms > 0 {
		return uint64(ms) << 22
	}
	return 0
}

// EventOf returns the name of the event for a message in a channel. It is always the same, so that
// a repeated message is kept once, and an edit or a deletion finds its message without a table:
// the time at which Discord made the message, then the other 22 bits of its number and 56 of a
// hash of both numbers. [MessageOf] is the inverse.
func EventOf(channel, message uint64) earshot.EventID { return eventID(channel, message, 0) }

// MessageOf returns the message in a channel for the event with a name, and reports whether there
// is one.
func MessageOf(channel uint64, event earshot.EventID) (message uint64, ok bool) {
	id, err := ulid.ParseStrict(string(event))
	if err != nil {
		return 0, false
	}
	low := id.Entropy()
	message = (id.Time()-epoch)<<22 | uint64(low[0])<<16 | uint64(low[1])<<8 | uint64(low[2])
	return message, EventOf(channel, message) == event
}

// RevisionOf returns the name of the event for an edit of a message, made at a time; it sorts by
// that time.
func RevisionOf(channel, message uint64, at time.Time) earshot.EventID {
	return eventID(channel, message, at.UnixMicro())
}

// eventID names a message, or its edit at a time in microseconds that is not 0.
func eventID(channel, message uint64, edited int64) earshot.EventID {
	at := Made(message)
	if edited != 0 {
		at = time.UnixMicro(edited)
	}
	b := append([]byte(nil), "discord message\x00"...)
	b = binary.BigEndian.AppendUint64(b, channel)
	b = binary.BigEndian.AppendUint64(b, message)
	if edited != 0 {
		b = binary.BigEndian.AppendUint64(b, uint64(edited))
	}
	sum := sha256.Sum256(b)
	if edited == 0 {
		low := message & (1<<22 - 1)
		sum[0], sum[1], sum[2] = byte(low>>16), byte(low>>8), byte(low)
	}
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(at) & (1<<48 - 1)) // fails only beyond 48 bits
	_ = id.SetEntropy(sum[:10])                      // fails only for another length
	return earshot.EventID(id.String())
}
