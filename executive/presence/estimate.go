package presence

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"earshot"
	"earshot/api"
)

// Estimate returns who is probably here at now.
func (c *Tracker) Estimate(now time.Time) api.PresenceEstimate {
	var e api.PresenceEstimate
	seen, least, most := 0, 0, 0
	for _, eye := range c.eyes(now) {
		e.Eyes = append(e.Eyes, eye.CameraPresence)
		// Two cameras may see the same people or different ones: there are at least as many people
		// as one camera sees, and at most as many as all see together.
		seen, least, most = max(seen, eye.People), max(least, eye.least), most+eye.most
	}
	all := c.guesses(now, e.Eyes, seen)
	sure := slices.DeleteFunc(slices.Clone(all), func(g api.PresenceGuess) bool { return g.Sure < comes })
	for _, g := range all {
		if g.Named && c.here(g, now) {
			e.Who = append(e.Who, g)
		}
	}
	probably := slices.DeleteFunc(slices.Clone(all), func(g api.PresenceGuess) bool { return !c.here(g, now) })
	e.Least = max(least, atLeast(sure))
	e.Likely = max(e.Least, seen, atLeast(probably))
	e.Most = max(e.Likely, most+len(all))
	e.Unknown = max(0, e.Likely-len(e.Who))
	e.Against = c.contradictions(now, e.Eyes, seen)
	return e
}

// A camera is what a camera sees, and the least and the most people that this can be.
type camera struct {
	api.CameraPresence
	least, most int
}

// eyes returns what each camera sees.
func (c *Tracker) eyes(now time.Time) (all []camera) {
	for _, name := range slices.Sorted(maps.Keys(c.looks)) {
		looks := slices.DeleteFunc(slices.Clone(c.looks[name]), func(l Look) bool { return l.At.After(now) })
		if len(looks) == 0 {
			continue
		}
		last := looks[len(looks)-1]
		eye := camera{CameraPresence: api.CameraPresence{Camera: name, At: last.At, Eyes: last.Eyes, Sure: share(last.Sure), Sees: last.Eyes == earshot.Clear && now.Sub(last.At) < fresh}}
		if eye.Sees {
			looks = slices.DeleteFunc(looks, func(l Look) bool { return l.Eyes != earshot.Clear || now.Sub(l.At) > window })
			eye.counts(looks)
		}
		all = append(all, eye)
	}
	return all
}

// counts sets how many people some looks saw: likely as many as at least half of them saw, at least
// as many as nine in ten saw, and at most as many as any one saw.
func (e *camera) counts(looks []Look) {
	var people []int
	for _, l := range looks {
		e.most = max(e.most, l.People)
		if !l.sees() {
			l.People = 0
		}
		people = append(people, l.People)
	}
	slices.Sort(people)
	e.People = people[len(people)/2]
	if len(people) >= inARow {
		e.least = people[len(people)/10]
	}
}

// here reports whether somebody counts as being here: they were once noticed with enough certainty,
// and that has not faded since.
func (c *Tracker) here(g api.PresenceGuess, now time.Time) bool {
	if g.Sure < stays {
		return false
	}
	at := c.last(g.ID)
	if at.After(now) {
		at = now
	}
	return g.Sure >= comes || c.sure(g.ID, at) >= comes
}

// guesses returns the people for whose presence there is evidence, the surest first.
func (c *Tracker) guesses(now time.Time, eyes []api.CameraPresence, seen int) (all []api.PresenceGuess) {
	blind := !slices.ContainsFunc(eyes, func(e api.CameraPresence) bool { return e.Sees })
	for _, who := range c.people() {
		g := api.PresenceGuess{ID: who, Sure: c.sure(who, now), By: c.evidence(who, now)}
		if len(g.By) == 0 || g.Sure < hints {
			continue
		}
		for _, k := range []api.EvidenceKind{Heard, Typed, Came} {
			g.Named = g.Named || who != "" && c.told[evidenceKey{who, k}].named
		}
		if !blind && c.nobody(now) && now.Sub(g.By[0].At) > unseen {
			g.Sure *= absent
		}
		all = append(all, g)
	}
	for i := range all {
		if seen > 0 && all[i].ID != "" {
			lift := rules[Seen].sure * math.Min(1, float64(seen)/float64(len(all)))
			all[i].Sure = 1 - (1-all[i].Sure)*(1-lift)
			all[i].By = append(all[i].By, api.PresenceEvidence{Kind: Seen, At: newest(eyes), Text: "somebody in view"})
		}
		all[i].Sure = math.Min(all[i].Sure, certain)
	}
	all = slices.DeleteFunc(all, func(g api.PresenceGuess) bool { return g.Sure < hints })
	slices.SortStableFunc(all, func(a, b api.PresenceGuess) int { return cmp.Or(cmp.Compare(b.Sure, a.Sure), cmp.Compare(a.ID, b.ID)) })
	return all
}

// newest returns the time of the last look of any camera that sees.
func newest(eyes []api.CameraPresence) (at time.Time) {
	for _, e := range eyes {
		if e.Sees {
			at = later(at, e.At)
		}
	}
	return at
}

// nobody reports whether no camera that sees has seen anybody for a while.
func (c *Tracker) nobody(now time.Time) bool {
	for _, looks := range c.looks {
		for _, l := range slices.Backward(looks) {
			if now.Sub(l.At) > window {
				break
			}
			if l.Eyes == earshot.Clear && l.People > 0 {
				return false
			}
		}
	}
	return true
}

// words describe the kinds of evidence.
var words = map[api.EvidenceKind]string{Heard: "a voice like theirs", Typed: "keys at their terminal", Came: "an open terminal"}

// evidence returns the evidence for somebody at now, the newest first.
func (c *Tracker) evidence(who earshot.ParticipantID, now time.Time) (all []api.PresenceEvidence) {
	for _, k := range []api.EvidenceKind{Heard, Typed, Came} {
		if f, ok := c.told[evidenceKey{who, k}]; ok && c.holds(who, k, f) && !f.at.After(now) {
			text := words[k]
			if who == "" {
				text = "a voice"
			}
			all = append(all, api.PresenceEvidence{Kind: k, At: f.at, Text: text})
		}
	}
	slices.SortStableFunc(all, func(a, b api.PresenceEvidence) int { return b.At.Compare(a.At) })
	return all
}

// holds reports whether evidence is still valid. What somebody did at a terminal is not, once they
// have left it.
func (c *Tracker) holds(who earshot.ParticipantID, k api.EvidenceKind, f latestEvidence) bool {
	return k == Heard || !f.at.Before(c.went[who])
}

// sure returns how sure the voices and terminals are that somebody is here at a time.
func (c *Tracker) sure(who earshot.ParticipantID, at time.Time) float64 {
	not := 1.0
	for _, k := range []api.EvidenceKind{Heard, Typed, Came} {
		if f, ok := c.told[evidenceKey{who, k}]; ok && c.holds(who, k, f) && !f.at.After(at) {
			r := rules[k]
			not *= 1 - f.sure*r.sure*math.Exp2(-at.Sub(f.at).Seconds()/r.half.Seconds())
		}
	}
	return math.Min(1-not, certain)
}

// atLeast returns the least number of people for whom there is evidence. A voice without a name may
// belong to a person whose own voice was not heard.
func atLeast(all []api.PresenceGuess) int {
	heard, silent, voices, somebody := 0, 0, 0, 0
	for _, g := range all {
		byVoice := slices.ContainsFunc(g.By, func(e api.PresenceEvidence) bool { return e.Kind == Heard })
		switch {
		case g.ID == "":
			somebody = 1
		case !g.Named:
			voices++
		case byVoice:
			heard++
		default:
			silent++
		}
	}
	return max(heard+max(silent, voices), somebody)
}

// contradictions returns, in words, what does not fit together.
func (c *Tracker) contradictions(now time.Time, eyes []api.CameraPresence, seen int) (all []string) {
	if newest(eyes).IsZero() {
		return nil
	}
	voices, types, some := 0, false, false
	for of, f := range c.told {
		late := f.at.After(now) || now.Sub(f.at) > talk || !c.holds(of.who, of.kind, f)
		switch {
		case late:
		case of.kind == Typed:
			types = true
		case of.kind == Heard && of.who == "":
			some = true
		case of.kind == Heard:
			voices++
		}
	}
	if some {
		voices = max(voices, 1)
	}
	cameras, see := "camera", "sees"
	if len(slices.DeleteFunc(slices.Clone(eyes), func(e api.CameraPresence) bool { return !e.Sees })) > 1 {
		cameras, see = "cameras", "see"
	}
	switch {
	case voices > 0 && voices != seen:
		all = append(all, fmt.Sprintf("the voices say %s and the %s %d", count(voices), cameras, seen))
	case types && seen == 0:
		all = append(all, fmt.Sprintf("somebody types here, and the %s %s nobody", cameras, see))
	}
	return all
}

// count returns a number of people in words.
func count(n int) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}
