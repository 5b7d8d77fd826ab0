// Package reason holds the reasons for a decision that the room gives, as they stand in the journal.
// Those about whom a message is for are in package addressing, and those for and against speaking
// unasked in package attention.
package reason

// About something that was said or written.
const (
	Unheeded  = "several people are here, and executive.multi_party.enabled is false"
	Follows   = "it was said aloud right after my answer"
	Pressed   = "it was said aloud while the talk key was held"
	Overheard = "it was said aloud, and not to me"
	Murmured  = "it only showed that somebody is listening"
	Unclear   = "it was said aloud, and I hardly understood it"
	AsksBack  = "it was said to me, but I hardly understood it, so I ask them to say it again"
	Echoed    = "it is the echo of my own voice, which cut me off"
	Stranger  = "I do not know who said it"
	Hushed    = "I was asked to be quiet"
	Disabled  = "executive.enabled is false"
	Unheard   = "the room is off the record"
	Late      = "it arrived long after it was written"
	Replied   = "it replies to what I wrote"
	Reworded  = "its author changed it while I was answering, so I start again"
	Confirmed = "somebody with the right to do so confirmed a tool call that had been held back"
	OwnWords  = "it was asked with the asker's own words alone"
)

// About what nobody has just asked for.
const (
	Due      = "a reminder is due"
	NewVoice = "somebody new must know that what is said is written down"
	OnHold   = "the room is paused"
)

// About what is said to a working agent.
const (
	Commanded  = "it tells me to stop"
	HowFar     = "it asks how far I am, so I say so without stopping"
	Meanwhile  = "it has nothing to do with my current work, so I go on and answer afterwards"
	Afterwards = "it is another task, so I do it after the current one"
	Replaces   = "it replaces what I was doing"
	Steers     = "it changes how I should do my current work, so I start that again"
	Considers  = "it concerns what I am thinking about, so I take it into account"
	Thinks     = "so I stop thinking about the earlier question"
)

// About what agents say to each other.
const (
	HandedTo  = "another agent calls me"
	Overtaken = "a person asked something in the meantime, and people go first"
	Broadcast = "every agent was asked, so their answers call nobody"
	Enough    = "the agents have reached the limit of executive.multi_party.turn_limit messages in a row"
	Again     = "the agents keep repeating themselves"
	Passing   = "an agent passes control to a person"
	Foreign   = "it calls another user's agent, which only people may do"
)
