package api

import (
	"time"

	"earshot"
)

// A Satellite is the state of the microphone and loudspeaker of another machine.
type Satellite struct {
	ID        string         `json:"id"`
	Room      earshot.RoomID `json:"room"`
	Connected bool           `json:"connected"`
	Since     time.Time      `json:"since,omitzero"` // of that; zero if it has not been there yet
	Muted     bool           `json:"muted"`          // somebody at the satellite has closed its microphone
	Build     string         `json:"build,omitempty"`

	Recognises bool `json:"recognises,omitempty"` // speech is recognised at the satellite

	ClockAhead  time.Duration `json:"clock_ahead"`  // by how much its clock is ahead
	ClockWithin time.Duration `json:"clock_within"` // by how much that may be wrong

	Old      int64 `json:"old"`      // messages of other sessions, or of utterances that were over
	Repeated int64 `json:"repeated"` // packets of sound that had come before
	Forged   int64 `json:"forged"`   // packets of sound with a time that cannot be true, and words that cannot
	Lost     int64 `json:"lost"`     // sessions that ended
}
