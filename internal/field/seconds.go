package field

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// mostSeconds is a year: whoever writes more has mistaken the unit.
const mostSeconds = 365 * 24 * 60 * 60

// Seconds is a length of time that the file gives as a number of seconds, such as 5 or 0.25.
type Seconds float64

// Duration returns s as a duration. What no file can hold becomes the nearest
// that it can: no time, or a year.
func (s Seconds) Duration() time.Duration {
	if !(s > 0) { // also what is not a number
		return 0
	}
	return time.Duration(math.Round(float64(min(s, mostSeconds)) * float64(time.Second)))
}

// String returns s with its unit.
func (s Seconds) String() string {
	return strconv.FormatFloat(float64(s), 'g', -1, 64) + "s"
}

// UnmarshalYAML reads a number, and refuses one that is not a length of time.
func (s *Seconds) UnmarshalYAML(n *yaml.Node) error {
	var f float64
	if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" {
		return fmt.Errorf("is %q; must be a number of seconds, such as 5 or 0.25", n.Value)
	}
	if err := n.Decode(&f); err != nil {
		return fmt.Errorf("is %s; must be a number of seconds, such as 5 or 0.25", n.Value)
	}
	switch {
	case math.IsNaN(f) || f < 0:
		return fmt.Errorf("is %s; must not be less than 0 seconds", n.Value)
	case f > mostSeconds:
		return fmt.Errorf("is %s; must be at most %d seconds, which is a year", n.Value, mostSeconds)
	}
	*s = Seconds(f)
	return nil
}
