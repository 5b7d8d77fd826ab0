package attention

import (
	"time"

	"earshot"
	"earshot/interrupt"
)

// The reasons for a decision about somebody who has come into view.
const (
	SomebodyCame = "somebody has come into view after an absence"
	NoGreeting   = "executive.sight.greet is false"
	NotAway      = "nobody was away for long"
	OthersGreet  = "others were in view already"
	LeftAgain    = "the person who came has left again"
	Talking      = "we are already talking"
	TooLate      = "they have been here for a while"
)

const (
	// welcome is how long after an arrival a greeting still makes sense.
	welcome = 30 * time.Second

	// readily is by what factor the aggressive style shortens the absence before a greeting.
	readily = 5
)

// An Arrival is what the decision needs to know about somebody who comes into view.
type Arrival struct {
	At      time.Time
	Greet   bool          // greetings are wanted at all
	After   time.Duration // the absence after which somebody is greeted
	Absence time.Duration // for how long nobody had been noticed before
	Were    int           // how many people were in view already
	Sure    float64       // how sure it is that somebody came, 0 to 1
	Gone    bool          // nobody is in view any more
	Met     bool          // the agent has said something since
}

// decideArrival decides whether somebody who has come is greeted. An obstacle either passes in
// time, or ends the greeting: somebody who has been here for a while is not greeted.
func decideArrival(f Facts) (earshot.Verdict, []string) {
	a := f.Arrival
	after := a.After
	if f.Style == interrupt.Aggressive {
		after /= readily
	}
	switch {
	case !a.Greet:
		return earshot.Silent, []string{NoGreeting}
	case !f.Set.SpeakUnasked:
		return earshot.Silent, []string{Unasked}
	case f.Style == interrupt.Passive:
		return earshot.Silent, []string{Passive}
	case a.Absence < after:
		return earshot.Silent, []string{NotAway}
	case a.Were > 0 && f.Style != interrupt.Aggressive:
		return earshot.Silent, []string{OthersGreet}
	case !(a.Sure >= f.Set.LeastConfidence):
		return earshot.Silent, []string{NotSure}
	case a.Gone:
		return earshot.Silent, []string{LeftAgain}
	case a.Met:
		return earshot.Silent, []string{Talking}
	case f.Now.Sub(a.At) >= welcome:
		return earshot.Silent, []string{TooLate}
	}
	if all := limits(f); len(all) > 0 {
		return earshot.Silent, reasons(all)
	}
	if all := occupied(f); len(all) > 0 {
		return earshot.Wait, reasons(all)
	}
	return earshot.Speak, []string{SomebodyCame}
}
