package conversation

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/language"
	"earshot/participants"
)

// A Directory lists who can be addressed in a room, prepared for looking up names in many texts. It
// is safe for concurrent use.
type Directory struct {
	names  []string                    // as they are shown
	first  map[string][]directoryEntry // by the first word, folded; the longest name first
	byKey  map[string]directoryEntry   // by the look of the name; see [participants.Key]
	widest int                         // words in the longest name
}

// A directoryEntry is somebody, with the words of their name after the first, folded.
type directoryEntry struct {
	who  earshot.ParticipantID
	gone string // the former name of an agent that has ended; otherwise empty
	more []string
}

// NewDirectory returns the directory of some people and agents, and of agents that have ended. If
// somebody now has the name of an ended agent, the name means them.
func NewDirectory(who []participants.Participant, former ...string) *Directory {
	d := &Directory{first: make(map[string][]directoryEntry), byKey: make(map[string]directoryEntry)}
	for _, p := range who {
		for _, name := range []string{p.Name, p.Username} {
			if d.enter(name, directoryEntry{who: p.ID}) {
				d.names = append(d.names, name)
			}
		}
	}
	for _, name := range former {
		if _, taken := d.byKey[participants.Key(name)]; !taken {
			d.enter(name, directoryEntry{gone: name})
		}
	}
	for _, same := range d.first {
		slices.SortStableFunc(same, func(a, b directoryEntry) int { return cmp.Compare(len(b.more), len(a.more)) })
	}
	return d
}

// enter adds somebody under a name. It returns false for a name that nobody could write.
func (d *Directory) enter(name string, c directoryEntry) bool {
	var words []string
	for w := range strings.FieldsSeq(name) {
		words = append(words, string(foldWord(nil, w[:wordLen(w)])))
	}
	if len(words) == 0 || words[0] == "" {
		return false
	}
	c.more = words[1:]
	d.first[words[0]] = append(d.first[words[0]], c)
	d.byKey[participants.Key(name)] = c
	d.widest = max(d.widest, len(words))
	return true
}

// find returns the participant that the beginning of text names, and the length of the name in
// bytes; 0 if it names nobody. The longest name wins.
func (d *Directory) find(text string) (directoryEntry, int) {
	var folded [maxWord]byte
	n := wordLen(text)
	for _, c := range d.first[string(foldWord(folded[:0], text[:n]))] {
		if end, ok := follow(text, n, c.more); ok {
			return c, end
		}
	}
	return directoryEntry{}, 0
}

// similar is like [Directory.find], for a name that is written in other letters that look the same.
// It is slower.
func (d *Directory) similar(text string) (directoryEntry, int) {
	var ends []int
	for at := 0; len(ends) < d.widest; {
		n := wordLen(text[at:])
		if n == 0 {
			break
		}
		at += n
		ends = append(ends, at)
		at += blank(text[at:])
	}
	for _, end := range slices.Backward(ends) {
		if c, ok := d.byKey[participants.Key(text[:end])]; ok {
			return c, end
		}
	}
	return directoryEntry{}, 0
}

// follow reports whether words occur in text from at on, and where they end.
func follow(text string, at int, words []string) (end int, ok bool) {
	var folded [maxWord]byte
	for _, w := range words {
		space := blank(text[at:])
		n := wordLen(text[at+space:])
		if space == 0 || string(foldWord(folded[:0], text[at+space:at+space+n])) != w {
			return 0, false
		}
		at += space + n
	}
	return at, true
}

// maxWord is more bytes than any word of a name has.
const maxWord = 96

// foldWord appends word to to, in lower case. A word that is too long for a name becomes empty.
func foldWord(to []byte, word string) []byte {
	if len(word) > maxWord*2/3 { // lower case may need more bytes
		return to[:0]
	}
	for _, r := range word {
		if r < utf8.RuneSelf {
			to = append(to, lower(byte(r)))
			continue
		}
		to = utf8.AppendRune(to, unicode.ToLower(r))
	}
	return to
}

// wordLen returns the length of the first word of text, such as "Ann", "O'Brien", "guest_1" or
// "r2.d2"; punctuation at the end is not part of it.
func wordLen(text string) int {
	n, end := 0, 0 // so far, and up to the last letter
	for n < len(text) {
		c, size := rune(text[n]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(text[n:])
		}
		switch {
		case letter(c):
			end = n + size
		case end == 0 || !strings.ContainsRune(".'’-+#", c):
			return end
		case c == '+' || c == '#':
			end = n + size
		}
		n += size
	}
	return end
}

// letter reports whether r can be part of a word.
func letter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// blank returns how many bytes of space text begins with.
func blank(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

// Hint tells the sender of a text which of the called participants are absent, and who may be
// meant: "nobody here is called erashot; did you mean @Earshot?" It is empty if everybody was
// found.
func (d *Directory) Hint(to Addressees) string {
	var parts []string
	for _, u := range to.Unknown {
		parts = append(parts, d.hint(participants.OneLine(u)))
	}
	return strings.Join(parts, ". ")
}

func (d *Directory) hint(unknown string) string {
	said := "nobody here is called " + unknown
	near := d.Nearest(unknown, 3)
	if len(near) == 0 {
		return said + "; /who shows who is here"
	}
	return said + "; did you mean @" + strings.Join(near, " or @") + "?"
}

// Nearest returns up to most names that are closest to name, the nearest first; none if nothing is
// close. One letter in three may be wrong.
func (d *Directory) Nearest(name string, most int) []string {
	type near struct {
		name string
		far  int
	}
	var all []near
	key := []rune(participants.Key(name))
	for _, n := range d.names {
		far := language.EditsAndSwaps(key, []rune(participants.Key(n)))
		for w := range strings.FieldsSeq(n) { // one of the words of a longer name
			far = min(far, language.EditsAndSwaps(key, []rune(participants.Key(w))))
		}
		if far <= max(1, len(key)/3) && far < len(key) {
			all = append(all, near{n, far})
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.far, b.far) })
	var names []string
	for _, n := range all[:min(most, len(all))] {
		names = append(names, n.name)
	}
	return names
}
