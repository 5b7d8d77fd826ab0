package webcam

import (
	"slices"
	"time"

	"earshot"
)

const (
	// again is how long a code must have been out of view to be reported again.
	again = 5 * time.Minute

	// mostCodes is how many codes are remembered, and at most that many are reported within fresh:
	// a screen may show another one every second.
	mostCodes = 10
	fresh     = time.Minute
)

// A code is a code that was seen.
type code struct {
	text earshot.Text
	told time.Time
	seen time.Time // last
}

// Codes holds the codes seen recently. It has no clock.
type codes []code

// look returns the codes to report among those seen at a time.
func (c *codes) look(at time.Time, seen []earshot.Seen) (tell []earshot.Seen) {
	*c = slices.DeleteFunc(*c, func(k code) bool { return at.Sub(k.seen) >= again })
	for _, s := range seen {
		if s.What != earshot.Code || s.Text == "" {
			continue
		}
		if i := slices.IndexFunc(*c, func(k code) bool { return k.text == s.Text }); i >= 0 {
			(*c)[i].seen = at
			continue
		}
		if len(*c) >= mostCodes {
			oldest := (*c)[0]
			if at.Sub(oldest.told) < fresh {
				continue
			}
			*c = slices.Delete(*c, 0, 1)
		}
		*c = append(*c, code{text: s.Text, told: at, seen: at})
		tell = append(tell, s)
	}
	return tell
}
