package agents

import "errors"

// What is wrong, for whoever must decide; errors of this package that have one
// of them in their chain say to people what it is, and have a method Cure that
// says what to do.
var (
	ErrUnknown    = errors.New("there is no such agent")
	ErrDead       = errors.New("the agent has ended")
	ErrTaken      = errors.New("there is one already")
	ErrNotYours   = errors.New("that is not yours to do")
	ErrConfigured = errors.New("the configuration says what it is")
	ErrProfile    = errors.New("it cannot be like that")
	ErrFull       = errors.New("there are too many")
	ErrTarget     = errors.New("there is no one place to send it to")
	ErrApart      = errors.New("it is another user's agent")
)
