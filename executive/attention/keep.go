package attention

import "earshot/language"

// keeps reports whether a text says something that may matter later: something that its words mark as
// worth remembering, or a future event with its time.
func keeps(text string) bool {
	for _, s := range sentences(text) {
		if s.asks || len(s.words) < 3 {
			continue
		}
		if text := said(s.words); says(text, keepSigns) || s.words[0] == "remember" || timed(s.words, text) {
			return true
		}
	}
	return false
}

// timed reports whether a sentence says what will happen, and when.
func timed(ws []string, text string) bool {
	return has(ws, coming) && !has(ws, past) && (has(ws, days) || says(text, clockSigns))
}

var (
	days = language.Set(`monday tuesday wednesday thursday friday saturday sunday tomorrow tonight today weekend january february march
		april june july august september october november december oclock pm noon midnight`)

	coming = language.Set(`will ill youll well hell shell theyll itll wont need needs must have has come comes coming is are im its were
		theyre start starts open opens close closes leave leaves leaving arrive arrives due moving move going fly flies flying
		booked meet meets meeting expect expects promise promised should`)

	past = language.Set("was did said spoke had went called fired died yesterday ago last")

	clockSigns = phrases(`half past, quarter past, quarter to, at one, at two, at three, at four, at five, at six,
		at seven, at eight, at nine, at ten, at eleven, at twelve, next week, next month, next year, this evening,
		this afternoon, in the morning, this weekend`)

	keepSigns = phrases(`bear in mind, keep in mind, dont forget, mustnt forget, must not forget, do not forget,
		intolerant, diabetic, cant eat, cant have, doesnt eat, doesnt drink, does not eat, does not drink, allergic,
		vegetarian, vegan, birthday is, deadline, i promise, make a note`)
)
