// Package attention decides when an agent thinks unasked, and when it speaks
// unasked.
//
// A [NoveltyTracker] follows how much of what happens in a room is new, compared with what has
// recently been usual there. It says when that is worth a thought, and when to check again if it
// was not quite. [Read] says what people's words amount to: a question to the room, one side of a
// telephone call, grief. [Decide] answers "shall I speak?", about words, a finding, or somebody who
// comes into view, with its reasons; [Again] says when a wait may be over.
//
// All of it is pure: the time is an argument, nothing has a goroutine, and no model is asked. So a
// decision can be explained in words later, and tested on scenes of people: see testdata/ambient.
package attention
