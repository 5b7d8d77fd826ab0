package wire

import (
	"time"

	"earshot"
)

// The headers by which a client says who and where it is. The first two hold UTF-8,
// percent-encoded as in a path.
const (
	IdentityHeader = "Earshot-Identity"
	RoomHeader     = "Earshot-Room"
	TokenHeader    = "Authorization"
	NewHeader      = "Earshot-New" // 1 says that the identity may be new: something is about to be said
)

// PrincipalHeader is the header by which one daemon tells another whose request it passes on. What a
// client sends in it is removed.
const PrincipalHeader = "Earshot-Principal"

// Bearer is the prefix of a token.
const Bearer = "Bearer "

// AttachPath is the only path where a connection becomes that of a terminal.
const AttachPath = "/v1/attach"

// MaxBody is the longest body: the longest message with every byte escaped, and the JSON around
// it.
const MaxBody = 6*earshot.MaxText + 1<<10

// BodyTime is how long a body, or the answer to a handshake, may take to come.
const BodyTime = 10 * time.Second
