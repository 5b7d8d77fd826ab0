package participants

import "errors"

// What is wrong, for whoever must decide; errors of this package that have one
// of them in their chain say to people what it is, and have a method Cure that
// says what to do.
var (
	ErrName     = errors.New("the name cannot be used")
	ErrReserved = errors.New("the name belongs to an agent")
	ErrTaken    = errors.New("the name is too similar to another")
	ErrToken    = errors.New("a token is needed")
	ErrUnknown  = errors.New("nobody has that name")
	ErrFull     = errors.New("there are too many")
	ErrNotYours = errors.New("you may not do that")
)

// A refusal is why something is not done, for people.
type refusal struct {
	why           error // one of those above
	problem, cure string
}

// Refuse returns an error that says to people what the problem is, has a method Cure
// that says what to do about it, and has why in its chain.
func Refuse(why error, problem, cure string) error { return &refusal{why, problem, cure} }

// Error returns the problem.
func (r *refusal) Error() string { return r.problem }

// Cure returns what to do about it.
func (r *refusal) Cure() string { return r.cure }

// Unwrap returns what is wrong, for whoever must decide.
func (r *refusal) Unwrap() error { return r.why }
