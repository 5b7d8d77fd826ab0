// Package monitor shows on a terminal what goes on in a room: what was heard and with what
// certainty, what was said and how much of it anybody heard, what is thought, and why the agent
// spoke or kept silent. The person who watches can take part in the same place.
//
// The monitor knows only what a daemon tells the person who asks, who may know all of it; it reads
// no file and decides nothing about privacy. What happened comes as events, from the newest page
// on and then live; the state of the room comes as snapshots, of which only the newest matters.
//
// [Model] holds all of the logic: events, snapshots and keys go in, a [Screen] and effects come
// out. It has no goroutine and no clock. Around it, [Run] has bubbletea read the keys and draw,
// and [Lines] writes one line per event where there is no screen.
//
// The bounds are:
//
//   - the transcript: 20,000 entries or 64 MiB of words; then the oldest goes, and is
//     loaded again when somebody scrolls up. After anything is forgotten, all is read anew.
//   - events on their way to the screen: 2,048; then the stream waits, and with it the
//     daemon, which reads its journal when the stream reads;
//   - snapshots, and how far a reply has come out here: the newest alone;
//   - typed lines that wait for the room: 16; further ones are refused, with a message;
//   - the screen is drawn twenty times a second at most.
//
// When the connection is lost, the last row says so, once. The monitor reconnects and continues
// after the last sequence it received, so nothing is lost and nothing doubled. Input that was
// typed and not acknowledged is sent again with the same ID, and kept once.
//
// All text is foreign: it goes through [earshot/internal/terminal.Safe], and rows after the first
// are indented, so that nobody can write a line that looks like another person's.
//
// Terminals do not agree on how wide emoji and some scripts are. Each cluster is given the largest
// width that any of them uses, so a divider may stand a column too far to the right.
package monitor
