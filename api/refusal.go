package api

// A Refusal is why something was refused, for a person: the body of every answer that is
// an error.
type Refusal struct {
	Problem string `json:"error"`
	Mend    string `json:"cure,omitempty"` // the command or the step that mends it
}

// Error returns the problem, and the cure if there is one.
func (r *Refusal) Error() string {
	if r.Mend == "" {
		return r.Problem
	}
	return r.Problem + "; " + r.Mend
}

// Cure returns what mends it.
func (r *Refusal) Cure() string { return r.Mend }
