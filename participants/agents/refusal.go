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

// A refusal is why something is not done, for people.
type refusal struct {
	why           error // one of those above
	problem, cure string
}

func refuse(why error, problem, cure string) error { return &refusal{why, problem, cure} }

// Error returns the problem.
func (r *refusal) Error() string { return r.problem }

// Cure returns what to do about it.
func (r *refusal) Cure() string { return r.cure }

// Unwrap returns what is wrong, for whoever must decide.
func (r *refusal) Unwrap() error { return r.why }
