package interrupt

import "fmt"

// A Style is how an agent takes turns among people.
type Style int

// The styles, by how an agent reacts when somebody talks at the same time.
const (
	Polite     Style = iota // yields to voices, comes back when it was nothing
	Aggressive              // yields to those who speak to it, talks on beside others
	Passive                 // yields to everything, and does not come back by itself
)

var styles = [...]string{Polite: "polite", Aggressive: "aggressive", Passive: "passive"}

// ParseStyle returns the style of that name, if there is one.
func ParseStyle(name string) (Style, bool) {
	for s, n := range styles {
		if n == name {
			return Style(s), true
		}
	}
	return 0, false
}

// String returns the style's name.
func (s Style) String() string { return styles[s] }

// An Action is what a signal does to whoever holds the floor.
type Action int

// The actions, from the gentlest to the last. Duck and Pause are demands that
// last until the same source withdraws them.
const (
	Leave  Action = iota // nothing changes
	Stay                 // the source's demand is withdrawn, but whoever has the floor stays as he is
	Resume               // the source's demand is withdrawn
	Duck
	Pause
	Cut
)

// String returns the action's name.
func (a Action) String() string {
	return [...]string{"leave", "stay", "resume", "duck", "pause", "cut"}[a]
}

// gate is the whole judgement. An onset only lowers the voice, since half of
// all onsets are nothing; a voice that stays pauses it, words cut it. What
// turns out to be no interruption gives the floor back where it paused.
var gate = map[Kind][3]Action{
	//           Polite  Aggressive Passive
	Ambient:     {Leave, Leave, Leave},
	OtherAgent:  {Leave, Leave, Pause},
	Echo:        {Resume, Resume, Resume},
	Noise:       {Resume, Resume, Resume},
	Backchannel: {Resume, Resume, Resume},
	Bystanders:  {Resume, Resume, Stay},
	Onset:       {Duck, Leave, Pause},
	Voice:       {Pause, Duck, Pause},
	Unclear:     {Leave, Leave, Leave}, // what they paused stays so for longer
	Typing:      {Pause, Leave, Pause},
	Words:       {Cut, Duck, Cut},
	Addressed:   {Cut, Cut, Cut},
	Command:     {Cut, Cut, Cut},
	Shutdown:    {Cut, Cut, Cut},
	Over:        {Resume, Resume, Resume},
}

// Judge says what a signal of kind k does to an agent of style s. It is pure,
// and knows every pair.
func Judge(s Style, k Kind) Action {
	row, ok := gate[k]
	if !ok {
		panic(fmt.Sprintf("interrupt: no row for %v", k))
	}
	return row[s]
}
