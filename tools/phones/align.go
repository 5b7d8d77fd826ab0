package main

import (
	"math"

	"earshot/language/phones"
)

const (
	rounds   = 6   // of alignment; the next would change nothing
	most     = 3   // phones of one letter, as in the names of letters
	rare     = 3   // a letter that sounds so less often does not
	unlikely = 20  // what such a sound costs, as a negative logarithm; more than any that is there
	nearby   = 1.5 // phones around the place of a letter that may be its own at first
	sounding = 10  // times as often as none, at first
)

// counts are how often each letter has each sound, by both, and how often there is a letter, by itself.
type counts map[string]int

// align returns for each word what each of its letters sounds like; nil for a word with more phones
// than its letters can have. Which are likely is learnt from the words themselves, over and over.
func align(words []word) (sounds [][]string) {
	c := make(counts)
	for _, w := range words {
		c.guess(w)
	}
	for range rounds {
		next := make(counts)
		sounds = sounds[:0]
		for _, w := range words {
			s := c.best(w)
			sounds = append(sounds, s)
			for i := range s {
				next.note(w.letters[i:i+1], s[i], 1)
			}
		}
		for both, n := range next {
			if n < rare && len(both) > 1 {
				delete(next, both)
				next[both[:1]] -= n
			}
		}
		c = next
	}
	return sounds
}

func (c counts) note(letter, sound string, times int) {
	c[letter+"="+sound] += times
	c[letter] += times
}

// guess notes that the letters of a word have the phones at about their place.
func (c counts) guess(w word) {
	for i := range len(w.letters) {
		place := float64(i) / float64(len(w.letters)) * float64(len(w.phones))
		for j := range len(w.phones) {
			if math.Abs(float64(j)-place) <= nearby {
				c.note(w.letters[i:i+1], w.phones[j:j+1], sounding)
			}
		}
		c.note(w.letters[i:i+1], "", 1)
	}
}

// cost is how unlikely a sound of a letter is, as a negative logarithm.
func (c counts) cost(letter, sound string) float64 {
	if n := c[letter+"="+sound]; n > 0 {
		return -math.Log(float64(n) / float64(c[letter]))
	}
	return unlikely + float64(len(sound))
}

// best returns what the letters of a word sound like at the least cost.
func (c counts) best(w word) []string {
	type step struct {
		cost  float64
		taken int // phones by the last letter
	}
	table := make([][phones.Most + 1]step, len(w.letters)+1) // by the letters and phones that are used up
	for i := range table {
		for j := range table[i] {
			table[i][j].cost = math.Inf(1)
		}
	}
	table[0][0].cost = 0
	for i := range len(w.letters) {
		for j := range len(w.phones) + 1 {
			for k := 0; k <= most && j+k <= len(w.phones); k++ {
				if cost := table[i][j].cost + c.cost(w.letters[i:i+1], w.phones[j:j+k]); cost < table[i+1][j+k].cost {
					table[i+1][j+k] = step{cost, k}
				}
			}
		}
	}
	left := len(w.phones)
	if math.IsInf(table[len(w.letters)][left].cost, 1) {
		return nil
	}
	sounds := make([]string, len(w.letters))
	for i := len(sounds); i > 0; i-- {
		k := table[i][left].taken
		sounds[i-1], left = w.phones[left-k:left], left-k
	}
	return sounds
}
