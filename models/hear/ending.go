package hear

import (
	"slices"
	"strings"
	"unicode"

	"earshot/language"
)

// lastWords is how much of the end of the words is examined, in bytes: the longest sentence that
// anybody asks in.
const lastWords = 256

// Judge says how complete words sound when nothing follows. They are English, as a recogniser
// writes them: a word may be wrong and punctuation may be missing, but it is used if present. The
// result is a guess, which costs some patience where it is wrong.
func Judge(words string, about Talk) Ending {
	words = strings.TrimSpace(words[max(0, len(words)-lastWords):])
	said := language.Words(words)
	waits := asksForTime(said)
	said, calls := uncall(said, about.Name)
	polite := trimAny(said, courtesies)
	switch {
	case len(said) == 0 && calls:
		return Hanging
	case waits, asksForTime(polite):
		return Waits
	case trails(words, ",", "...", "…"):
		return Hanging
	case trails(words, ".", "?", "!"):
		return Finished
	case thinks(said), dictates(polite, about):
		return Hesitates
	case answers(said):
		return Finished
	case hangs(polite):
		return Hanging
	case len(polite) < len(said), whole(polite) && !lacks(polite):
		return Finished
	case closes(polite):
		return Finished
	case about.Asked && (about.List || len(said) <= fewWords):
		return Hanging
	}
	return Unclear
}

// fewWords is how many words count as the first of an answer.
const fewWords = 2

// Asks returns the kind of answer that the last sentence of the agent asks for: none, unless it is
// a question.
func Asks(said string) Talk {
	said = strings.TrimSpace(said)
	if !strings.HasSuffix(said, "?") {
		return Talk{}
	}
	said = said[strings.LastIndexAny(said[:len(said)-1], ".!?\n")+1:]
	words := language.Words(said)
	in := func(of map[string]bool) bool {
		return slices.ContainsFunc(words, func(w string) bool { return of[w] })
	}
	return Talk{Asked: true, Dictation: in(dictated) && len(words) > 0 && !offers[words[0]], List: in(several)}
}

func trails(words string, any ...string) bool {
	return slices.ContainsFunc(any, func(s string) bool { return strings.HasSuffix(words, s) })
}

// uncall removes the agent's name, and the words around it, from both ends, and reports whether it
// did.
func uncall(said []string, name string) (rest []string, calls bool) {
	names := language.Words(name)
	for len(said) > 0 {
		n := len(names)
		switch {
		case n > 0 && len(said) >= n && slices.Equal(said[:n], names):
			said, calls = said[n:], true
		case n > 0 && len(said) >= n && slices.Equal(said[len(said)-n:], names):
			said, calls = said[:len(said)-n], true
		case len(said) == 1 && summons[said[0]], len(said) > 1 && (summons[said[0]] || leads[said[0]]):
			calls = calls || summons[said[0]]
			said = said[1:]
		default:
			return said, calls
		}
	}
	return said, calls
}

// ends removes phrase from the end of said, and reports whether it was there.
func ends(said []string, phrase string) ([]string, bool) {
	p := strings.Fields(phrase)
	if n := len(said) - len(p); n >= 0 && slices.Equal(said[n:], p) {
		return said[:n], true
	}
	return said, false
}

func endsAny(said, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { _, is := ends(said, p); return is })
}

// trimAny removes any of the phrases from the end.
func trimAny(said, phrases []string) []string {
	for _, p := range phrases {
		if rest, is := ends(said, p); is {
			return trimAny(rest, phrases)
		}
	}
	return said
}

// last returns the nth word from the end, or nothing.
func last(said []string, n int) string {
	if n > len(said) {
		return ""
	}
	return said[len(said)-n]
}

// asksForTime reports whether somebody asks the others to wait.
func asksForTime(said []string) bool {
	rest, is := ends(said, "wait")
	if is && (len(rest) == 0 || leads[last(rest, 1)] || answers(rest)) {
		return true
	}
	return endsAny(said, moments)
}

// thinks reports whether the speaker is searching for words.
func thinks(said []string) bool {
	return fillers[last(said, 1)] || len(said) > 0 && !helps[said[0]] && endsAny(said, pondering)
}

// dictates reports whether the speaker is in the middle of a number, an address, a date, or
// letters: or has announced one, whatever has followed.
func dictates(said []string, about Talk) bool {
	l, before := last(said, 1), last(said, 2)
	switch {
	case digits[l] && digits[before], joins[l], letter(l) && letter(before), l == "in" && before == "as":
		return true
	case about.Dictation && len(said) > 0 && !answers(said) && !whole(said):
		return true
	}
	sentence := strings.Join(said, " ") + " "
	return !whole(said) && slices.ContainsFunc(announces, func(a string) bool { return strings.Contains(sentence, a+" ") })
}

func letter(w string) bool { return len(w) == 1 && unicode.IsLetter(rune(w[0])) }

// answers reports whether these few words are a complete answer or saying.
func answers(said []string) bool { return slices.Contains(sayings, strings.Join(said, " ")) }

// hangs reports whether the words require another.
func hangs(said []string) bool {
	l, before := last(said, 1), last(said, 2)
	switch {
	case len(said) == 0:
		return false
	case hanging[l], takes[l] && (before == "" || !asking[said[0]] || helps[before] || persons[before]):
		return true
	case l == "that" && (reports[before] || giving[last(said, 3)] && persons[before]), giving[before] && persons[l]:
		return true
	case clauses[l] && asking[said[0]] && len(said) > 2: // "what happens when"
		return true
	case helps[before] && persons[l] && len(said) <= 3: // "what do you"
		return true
	}
	return len(said) == 2 && takes[before] && particles[l] // "turn on"
}

// whole reports whether it is a question or a command that could end here. "When you have time" is
// not a question.
func whole(said []string) bool {
	switch {
	case len(said) >= 3 && (asking[said[0]] && !subjects[said[1]] || helps[said[0]] && persons[said[1]] || being[said[0]]):
		return true
	}
	return len(said) >= 2 && commands[said[0]]
}

// lacks reports whether a question or a command that could end here rarely does: its verb lacks a
// complement, it ends with a bare subject, or in a relative clause.
func lacks(said []string) bool {
	return wants(said) || bare(said) || relates(said)
}

// wants reports whether a command lacks what its verb needs, such as the time of a timer.
func wants(said []string) bool {
	said = ordered(said)
	if len(said) == 0 {
		return false
	}
	with, is := complements[said[0]]
	return is && !slices.ContainsFunc(said[1:], func(w string) bool { return slices.Contains(with, w) })
}

// ordered returns the command in a question such as "could you".
func ordered(said []string) []string {
	for len(said) > 0 && leads[said[0]] {
		said = said[1:]
	}
	if len(said) > 2 && helps[said[0]] && said[1] == "you" {
		said = said[2:]
	}
	for len(said) > 0 && leads[said[0]] {
		said = said[1:]
	}
	return said
}

// bare reports whether the words end with a subject, after "does" or "because", without its verb.
func bare(said []string) bool {
	begins := func(n int) bool {
		w := last(said, n)
		return subordinates[w] && !(w == "that" && being[last(said, n+1)]) // "is that the door" is all
	}
	return articles[last(said, 2)] && (does[last(said, 3)] || begins(3)) || articles[last(said, 3)] && begins(4) || verbless(said)
}

// verbless reports whether a question with "does" has a subject and a place, and no verb yet, as
// in "when does the next train to the city".
func verbless(said []string) bool {
	from := slices.IndexFunc(said, func(w string) bool { return does[w] })
	if from < 0 || from > 1 || len(said) < from+6 || !articles[said[from+1]] || !articles[last(said, 2)] || !places[last(said, 3)] {
		return false
	}
	between := said[from+2 : len(said)-3]
	return len(between) <= 2 && !slices.ContainsFunc(between, func(w string) bool { return commands[w] || takes[w] || moves[w] })
}

// relates reports whether the words end with the verb of a relative clause, as in "the song that
// we heard".
func relates(said []string) bool {
	return relatives[last(said, 3)] && subjects[last(said, 2)] && len(said) > 3
}

// closes reports whether a statement has reached its time expression, with which most end.
func closes(said []string) bool {
	if len(said) < 4 || subordinates[said[0]] {
		return false
	}
	return times[last(said, 1)] || near[last(said, 2)] && spans[last(said, 1)]
}
