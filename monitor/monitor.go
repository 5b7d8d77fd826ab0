// Package monitor shows on a terminal what goes on in a room: what was heard and with what
// certainty, what was said and how much of it anybody heard, what is being thought, and why the
// agent spoke or kept silent. The person who watches can also take part.
//
// The monitor knows only what a daemon tells the person who asks, and that person may know all of
// it. It reads no file and decides nothing about privacy. What happened arrives as events,
// beginning with the newest page and then live. The state of the room arrives as snapshots, of
// which only the newest matters.
//
// A [earshot/monitor/model.Model] decides what is shown. Around it, [Run] has bubbletea read the
// keys and draw, and [Lines] writes one line for each event if there is no screen.
//
// The bounds are:
//
//   - the transcript: 20,000 entries or 64 MiB of words; beyond that the oldest entry is dropped,
//     and loaded again when somebody scrolls up. After anything was forgotten, everything is read
//     again.
//   - events on their way to the screen: 2,048; beyond that the stream waits, and so does the
//     daemon, which reads its journal when the stream reads;
//   - snapshots, and how far a reply has come out at this terminal: only the newest;
//   - typed lines that wait for the room: 16; further ones are refused, with a message;
//   - the screen is drawn twenty times a second at most.
//
// When the connection is lost, the last row says so, once. The monitor reconnects and continues
// after the last sequence it received, so nothing is lost or doubled. Input that was typed and not
// acknowledged is sent again with the same ID, and kept only once.
package monitor
