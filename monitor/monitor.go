// Package monitor shows on a terminal what goes on in a room: what was heard and how sure
// that is, what was said and how much of it anybody heard, what is thought, and why the
// agent spoke or kept silent. Who watches can take part in the same place.
//
// It knows only what a daemon tells whoever asks it, and they may know all of that; it
// reads no file and decides nothing about privacy. What happened comes as events, from
// the newest page on and then live; how the room is comes as snapshots, of which the
// newest alone matters.
//
// [Model] is all of it that thinks: events, snapshots and keys go in, a [Screen] and
// what is to be done come out. It has no goroutine and no clock. Around it, [Run] has
// bubbletea read the keys and draw, and [Lines] writes a line an event where there is no
// screen.
//
// These are the bounds:
//
//   - the transcript: 20,000 entries or 64 MiB of words; then the oldest goes, and is
//     loaded again for who scrolls up. What was forgotten while it is here is read anew.
//   - events on their way to the screen: 2,048; then the stream waits, and with it the
//     daemon, which reads its journal when the stream reads;
//   - snapshots, and how far a reply has come out here: the newest alone;
//   - what was typed and waits for the room: 16 lines, then no more is taken, and said;
//   - the screen is drawn twenty times a second at most.
//
// Where the connection is lost the last row says so, once; it is tried again, and goes on
// after the last sequence that came, so nothing is lost and nothing doubled. What was
// typed and not acknowledged is sent again with the same ID, and kept once.
//
// All text is foreign: it goes through [earshot/internal/terminal.Safe], and rows after
// the first are indented, so that nobody can write a line that looks like another's. The
// width of each cluster is the most that any terminal makes of it.
//
// Terminals do not agree on how wide emoji and some scripts are. Each cluster is given the
// most that any of them makes of it, so a divider may stand a column too far to the right.
package monitor
