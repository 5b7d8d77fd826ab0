// Package attention decides when an agent thinks unasked, and when it speaks unasked.
//
// A [NoveltyTracker] tracks how much of what happens in a room is new, compared with what has
// recently been usual there. It says when that is worth a thought, and when to check again if it
// almost was. [Read] says what people's words amount to, such as a question to the room, one side
// of a telephone call, or grief. [Decide] decides whether to speak, about words, a finding, or
// somebody who comes into view, and gives its reasons; [Again] says when a wait may be over.
//
// All of it is pure: the time is an argument, no goroutine is started, and no model is asked. So a
// decision can be explained in words later, and tested on scenes of people: see testdata/ambient.
package attention
