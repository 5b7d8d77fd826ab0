package agents

import "errors"

// The errors to branch on. An error of this package that wraps one of them explains to people what
// is wrong, and has a method Cure that says what to do.
var (
	ErrUnknown    = errors.New("there is no such agent")
	ErrDead       = errors.New("the agent has ended")
	ErrTaken      = errors.New("there is one already")
	ErrNotYours   = errors.New("you may not do that")
	ErrConfigured = errors.New("it is set in the configuration")
	ErrProfile    = errors.New("the profile is not valid")
	ErrFull       = errors.New("there are too many")
	ErrTarget     = errors.New("it is not clear where to send it")
	ErrApart      = errors.New("the agent belongs to another user")
)
