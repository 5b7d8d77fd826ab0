package codec

import "time"

// What is said between the client and the media role of earshot-speech about a
// file or a stream; a process of that role has one source, or one call (see
// [MsgCall]).
//
// The client says open, once. The helper answers with opened, then the frames
// as sound of stream 0, and at last with ended; or with ended at once. All
// frames of a source follow each other without a gap: where something of it is
// lost or damaged, they are silent.
const (
	MsgOpen   = "open"   // body [Request]
	MsgOpened = "opened" // body [Info]
	MsgEnded  = "ended"  // body [Ended]
)

// A Request names the source to open. Exactly one of Path and URL is set.
type Request struct {
	Path    string        `json:"path,omitempty"`
	URL     string        `json:"url,omitempty"`
	Longest time.Duration `json:"longest"` // more than this of it is refused
	Patient time.Duration `json:"patient"` // how long a server may say nothing
}

// Info is what a source is.
type Info struct {
	Format   string        `json:"format"` // of the container, as FFmpeg calls it
	Codec    string        `json:"codec"`
	Rate     int           `json:"rate"` // in the source, samples a second
	Channels int           `json:"channels"`
	Duration time.Duration `json:"duration"` // as the source says; 0 if it does not
}

// Ended is how a source ended.
type Ended struct {
	Frames  int64   `json:"frames"`            // that were sent
	Damaged int64   `json:"damaged,omitempty"` // packets that could not be decoded
	Problem Problem `json:"problem,omitempty"` // empty at its own end
	Detail  string  `json:"detail,omitempty"`  // in the words of FFmpeg
}

// The limits of a source: more is a mistake or an attack.
const (
	MaxStreams  = 64
	MaxChannels = 8 // as many as have a standard layout, by which they can be mixed
	MinRate     = 4000
	MaxRate     = 384000
)
