package webcam

import (
	"slices"
	"time"

	"earshot"
)

const (
	// again is how long a code must not have been seen to be told once more.
	again = 5 * time.Minute

	// mostCodes is how many are remembered, and at most that many are told within fresh: a
	// screen may show another one every second.
	mostCodes = 10
	fresh     = time.Minute
)

// A code is one that was seen.
type code struct {
	text earshot.Text
	told time.Time
	seen time.Time // last
}

// Codes are those that were seen of late. They have no clock.
type codes []code

// look returns those that are to be told of what was seen at a time.
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
