package helper

import "errors"

// A Fault is a message in which a helper says why it cannot do its work.
type Fault struct {
	Text    string `json:"text"`
	Cure    string `json:"cure,omitempty"`
	Lasting bool   `json:"lasting,omitempty"` // no restart mends it
}

// NewFault describes err for people, for a helper to report.
func NewFault(err error) Fault {
	f := Fault{Text: err.Error(), Lasting: errors.Is(err, errors.ErrUnsupported)}
	var curable interface{ Cure() string }
	if errors.As(err, &curable) {
		f.Cure = curable.Cure()
	}
	return f
}

// Err returns f as a [*FaultError].
func (f Fault) Err() error { return &FaultError{f} }

// A FaultError is a fault that a helper itself reports.
type FaultError struct{ fault Fault }

// DecodeFault returns the fault in a message as a [*FaultError], or why it cannot be decoded.
func DecodeFault(c Control) error {
	e := new(FaultError)
	if err := c.Decode(&e.fault); err != nil {
		return err
	}
	return e
}

// Error says what is wrong.
func (e *FaultError) Error() string { return e.fault.Text }

// Cure returns what to do about it; empty if that is not known.
func (e *FaultError) Cure() string { return e.fault.Cure }

// Is reports whether the fault is lasting: then it is an [errors.ErrUnsupported].
func (e *FaultError) Is(target error) bool {
	return target == errors.ErrUnsupported && e.fault.Lasting
}
