package wire

import (
	"time"

	"earshot"
)

// The headers by which a client says who it is and where. What stands in the
// first two is UTF-8, percent-encoded as in a path.
const (
	IdentityHeader = "Earshot-Identity"
	RoomHeader     = "Earshot-Room"
	TokenHeader    = "Authorization"
	NewHeader      = "Earshot-New" // 1 says that the identity may be new: something is about to be said
)

// Bearer is what stands before a token.
const Bearer = "Bearer "

// AttachPath is where a connection becomes that of a terminal, and nowhere else.
const AttachPath = "/v1/attach"

// MaxBody is the longest body: the longest message with every byte escaped,
// and what stands around it.
const MaxBody = 6*earshot.MaxText + 1<<10

// BodyTime is how long a body may take to come, and an answer to a handshake.
const BodyTime = 10 * time.Second
