// Package attention decides when an agent thinks unasked, and when it speaks
// unasked.
//
// A [NoveltyTracker] follows how much of what happens in a room is new, against what has
// been usual there of late. It says when that is worth a thought, and when to look
// again where it was not quite. [Read] says what the words of people amount to: a
// question to the room, one side of a telephone call, grief. [Decide] answers
// "shall I speak?", about what was said, something found out, or somebody who comes into
// view, with its reasons; [Again] says when a wait may be over.
//
// All of it is pure: the time is an argument, nothing has a goroutine, and nothing
// is asked of a model. What is decided here can therefore be said in words later,
// and tried on scenes of people: see testdata/ambient.
package attention
