package reflex

import "time"

// Greeting returns the greeting for somebody who comes, by the time of day where they are.
func Greeting(now time.Time) string {
	switch h := now.Hour(); {
	case h < 5 || h >= 22:
		return "Hello."
	case h < 12:
		return "Good morning."
	case h < 18:
		return "Good afternoon."
	}
	return "Good evening."
}
