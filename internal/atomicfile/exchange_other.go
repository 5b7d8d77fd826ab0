//go:build !linux

package atomicfile

import "errors"

// Exchange is not supported here.
func Exchange(a, b string) error { return errors.ErrUnsupported }
