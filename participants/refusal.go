package participants

import "errors"

// The errors to branch on. An error of this package that wraps one of them explains to people what
// is wrong, and has a method Cure that says what to do.
var (
	ErrName     = errors.New("the name cannot be used")
	ErrReserved = errors.New("the name belongs to an agent")
	ErrTaken    = errors.New("the name is too similar to another")
	ErrToken    = errors.New("a token is needed")
	ErrUnknown  = errors.New("nobody has that name")
	ErrFull     = errors.New("there are too many")
	ErrNotYours = errors.New("you may not do that")
)

// A refusal explains to people why something is not done.
type refusal struct {
	why           error // one of the errors above
	problem, cure string
}

// Refuse returns an error whose text is the problem, with a method Cure that says what to do about
// it. The error wraps why.
func Refuse(why error, problem, cure string) error { return &refusal{why, problem, cure} }

// Error returns the problem.
func (r *refusal) Error() string { return r.problem }

// Cure returns what to do about it.
func (r *refusal) Cure() string { return r.cure }

// Unwrap returns the error to branch on.
func (r *refusal) Unwrap() error { return r.why }
