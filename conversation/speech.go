package conversation

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"earshot"
	"earshot/language"
)

// An AddressClassifier decides whether something said aloud is for the agent. It has no state:
// everything it needs is passed to it.
type AddressClassifier struct {
	Name  string        // the agent's name, which wakes it
	As    []string      // what recognisers may write for the name; compared in lower case
	After time.Duration // how long after its reply the agent still counts as being addressed

	// Others are names of others. Words that name one of them do not sound like the agent's.
	Others []string

	// Sure is the least confidence that a recogniser must have in words without the name. Words
	// with less are not answered, and do not cut a reply.
	Sure float64

	// Asks says that the agent asks back when it hardly understands somebody who speaks to it.
	Asks bool
}

// A SpeechContext is what the agent was doing when something was said.
type SpeechContext struct {
	// Saying is what came out of the agent's voice meanwhile, as it was spoken, and a little more
	// on both sides, because it is not known to the word how far a sound has come.
	Saying earshot.Text

	// Said also includes a few seconds before: in a room that nobody has measured yet, a sound may
	// come back late.
	Said earshot.Text

	// Echoing says that the agent's voice could be heard when somebody began and ended, or just
	// before. Their words may then be that voice, coming back.
	Echoing bool

	Partial  bool // more words may follow at once
	Commands bool // the words are a command for the agent
	Rested   bool // nobody had spoken for a while

	Sounding bool // the agent's voice could be heard meanwhile
	Asked    bool // the agent's last words were a question

	// Stranger says that the agent is talking with somebody whose voice is known, while it is not
	// yet known whose voice this is.
	Stranger bool

	// Other says that the agent is talking with somebody, but that this is said by somebody else.
	// That follows from the voice, or from its answering the words of somebody else.
	Other bool

	Talking   bool      // the agent is answering the speaker
	Answered  time.Time // when the agent last answered the speaker; zero for never
	AskedBack bool      // in that answer the agent said that it had not understood

	// Since is when the speaker asked what the agent is answering, or has answered. Earlier words
	// were not part of a conversation with the agent.
	Since time.Time
}

// An Address says for whom words are that were said aloud, and by what evidence.
type Address string

// The addresses.
const (
	Called    Address = "called"    // the agent, by its name
	Following Address = "following" // the agent, which is talking with the speaker
	Aside     Address = "aside"     // somebody else
	Unsure    Address = "unsure"    // unknown: they were hardly understood
	Own       Address = "own voice" // nobody: they are the agent's own words, come back

	// Pressed means the words are for the agent, because somebody holds a talk key.
	Pressed Address = "pressed"

	// Backchannel means the words are for the agent, but want nothing of it: "mm-hm", while it
	// speaks.
	Backchannel Address = "backchannel"

	// Mumbled means the words are for the agent, which is talking with the speaker and silent, but
	// it has hardly understood them.
	Mumbled Address = "mumbled"
)

// ForAgent reports whether a is for the agent.
func (a Address) ForAgent() bool { return a == Called || a == Following || a == Pressed }

// Address returns for whom an utterance is that began at at. While the agent is being heard, words
// that are among its own, even its name, may be its own voice coming back.
func (l AddressClassifier) Address(u earshot.Utterance, at time.Time, about SpeechContext) Address {
	calls, own := l.calls(u.Text, about.Partial), u.Own > 0
	if slur := l.slur(); about.Sounding && strings.HasPrefix(folded(string(u.Text)), slur) {
		calls = calls || !own || !strings.Contains(folded(string(about.Saying)), slur)
	}
	share, n := echo(string(u.Text), string(about.Saying))
	switch {
	case u.Faint && calls && !own:
		return l.faint(about)
	case u.Faint:
		return l.mumbled(u, at, about)
	case calls && !(own && l.mentioned(about.Saying)):
		return Called
	case own && share >= echoShare && (n > echoFew || share == 1):
		return Own
	case calls:
		return Called
	case about.returns(string(u.Text), own):
		return Own
	case backchannel(u, about):
		return Backchannel
	case l.callsBySound(u.Text, about):
		return Called
	case own && n <= echoFew && share > 0, u.Own >= echoMost && n <= echoMisheard:
		return Unsure
	case u.Confidence < l.Sure:
		return l.mumbled(u, at, about)
	case about.talks(at, l.After):
		return Following
	}
	return Aside
}

// mumbled returns the address of words that the agent hardly understood. They are for the agent if
// they are a sentence and it is the speaker's turn to answer, unless the agent has just asked back.
func (l AddressClassifier) mumbled(u earshot.Utterance, at time.Time, about SpeechContext) Address {
	speaks := u.Own == 0 && u.Lasted >= leastMumble && len(strings.Fields(string(u.Text))) > 1
	if l.Asks && speaks && !about.Sounding && !about.Talking && !about.Stranger && !about.AskedBack && about.talks(at, l.After) {
		return Mumbled
	}
	return Unsure
}

// faint returns the address of words that call the agent by its name, and were understood too
// poorly to be answered.
func (l AddressClassifier) faint(about SpeechContext) Address {
	if l.Asks && !about.Sounding && !about.Talking && !about.AskedBack {
		return Mumbled
	}
	return Unsure
}

// leastMumble is the least duration of a question or statement: coughs, moving chairs and most
// single words are shorter.
const leastMumble = 600 * time.Millisecond

// returns reports whether words are the agent's own, coming back: all of them, in order, are among
// what it is saying or said just before. If none of the agent's own sound was noticed at the same
// time, there must be several words, and its voice must have been heard meanwhile. An answer to the
// agent's question repeats its words, and so may a command.
func (a SpeechContext) returns(text string, own bool) bool {
	heard := spokenWords(text)
	if a.Asked || a.Commands || !own && (!a.Echoing || len(heard) < 2) {
		return false
	}
	return within(heard, spokenWords(string(a.Said)))
}

// skipped is how many words a recogniser may omit between two words.
const skipped = 2

// within reports whether all words that were heard were also said, in this order and with few words
// between them.
func within(heard, said []string) bool {
	if len(heard) == 0 {
		return false
	}
	for from := range said {
		if follows(heard, said[from:], 0) {
			return true
		}
	}
	return false
}

// follows reports whether said begins with heard, after at most skip other words.
func follows(heard, said []string, skip int) bool {
	for i := 0; len(heard) > 0; heard, said, i, skip = heard[1:], said[i+1:], 0, skipped {
		for i < len(said) && i <= skip && !alike(plain(heard[0]), plain(said[i])) {
			i++
		}
		if i > skip || i >= len(said) {
			return false
		}
	}
	return true
}

// talks reports whether somebody who began to speak at at was talking with the agent.
func (a SpeechContext) talks(at time.Time, after time.Duration) bool {
	if a.Other || at.Before(a.Since) {
		return false
	}
	return a.Talking || after > 0 && !a.Answered.IsZero() && at.Sub(a.Answered) <= after
}

// Words is like Address, for words that are still being said, since at. Recognisers do not say how
// sure they are of such words. The first word is a guess, and so are the first two while the agent
// speaks, and the first three if the agent can be heard in the same sound.
func (l AddressClassifier) Words(s earshot.Speech, at time.Time, about SpeechContext) Address {
	u := earshot.Utterance{Text: s.Words, Confidence: 1}
	about.Partial, about.Rested = !s.Stable, false // a name that is misheard badly needs the whole question after it
	least := 2
	switch {
	case s.Own:
		u.Own, least = 1, 4
	case about.Sounding && !s.Stable && !halting(s.Words):
		least = 3 // two may be a murmur, misheard or incomplete; the agent has already paused because of the voice
	}
	to := l.Address(u, at, about)
	if to == Aside && about.Other {
		return to
	}
	if to == Backchannel && !s.Stable || to == Following && (about.Stranger || about.Sounding && !about.Asked && hums(string(s.Words))) {
		return Unsure // more may follow, and the speaker may soon be known
	}
	if n := len(strings.Fields(string(s.Words))); to != Called && to != Own && to != Backchannel && n < least {
		return Unsure
	}
	if share, _ := echo(string(s.Words), string(about.Saying)); s.Own && to == Following && share >= echoDoubt {
		return Unsure
	}
	return to
}

// Calls returns the address of a phrase that is listened for while the agent can be heard, such as
// "stop talking" or its name. The phrase is for the agent, unless the agent is saying it itself.
func (l AddressClassifier) Calls(s earshot.Speech, about SpeechContext) Address {
	said, phrase := folded(string(about.Saying)), folded(string(s.Words))
	if s.Own && strings.Contains(said, phrase) {
		return Own
	}
	return Called
}

// mentioned reports whether the agent says its own name, at any position.
func (l AddressClassifier) mentioned(said earshot.Text) bool {
	words := strings.Fields(string(said))
	for i := range words {
		if l.named(words[i:]) > 0 {
			return true
		}
	}
	return false
}

// Correct returns text with the agent's name spelt correctly, if the agent was called by it and a
// recogniser wrote something else.
func (l AddressClassifier) Correct(text earshot.Text) earshot.Text {
	words := strings.Fields(string(text))
	i, n := l.vocative(words, false)
	return l.write(words, i, n, text)
}

// CorrectMisheard is like Correct, for a misheard name, as found by [AddressClassifier.Misheard].
func (l AddressClassifier) CorrectMisheard(text earshot.Text, about SpeechContext) earshot.Text {
	at, n := l.Misheard(text, about)
	return l.write(strings.Fields(string(text)), at, n, text)
}

// write returns text with the agent's name in place of n of its words.
func (l AddressClassifier) write(words []string, at, n int, text earshot.Text) earshot.Text {
	if n == 0 {
		return text
	}
	out := append(append(append([]string(nil), words[:at]...), l.Name), words[at+n:]...)
	return earshot.Text(strings.Join(out, " "))
}

func (l AddressClassifier) calls(text earshot.Text, partial bool) bool {
	_, n := l.vocative(strings.Fields(string(text)), partial)
	return n > 0
}

func (l AddressClassifier) callsBySound(text earshot.Text, about SpeechContext) bool {
	_, n := l.Misheard(text, about)
	return n > 0
}

// greetings are the words that may precede a called name. A name between a greeting and the end of
// a sentence is called too.
var greetings = language.Set(`hey hi hello ok okay so well and but um uh please oh yes no now good morning evening thanks thank
	you sorry wait stop`)

// summons are the words after which a name is called at any position.
var summons = language.Set("hey hi hello ok okay")

// governing are the words after which a name is not called.
var governing = language.Set(`a an the this that these those my your his her our their another any every some no
	about at by for from in like of on than to with without and or am are called is named was were`)

// vocative returns where in words the agent is called, and by how many words; 0 if it is not
// called. A name is called at the beginning, after at most greetings, at the end, or after a
// summons; inside a sentence it is only talked about, and so it is at the end of "tell the computer".
// The end of words that are partial is none.
func (l AddressClassifier) vocative(words []string, partial bool) (at, n int) {
	greeting := true
	for i := range words {
		if n := l.named(words[i:]); n > 0 {
			if ends := i+n == len(words) && !partial; greeting || ends && !governing[plain(words[i-1])] || summons[plain(words[i-1])] {
				return i, n
			}
		}
		greeting = greeting && greetings[plain(words[i])]
	}
	return 0, 0
}

// named returns how many words at the beginning of a text name the agent.
func (l AddressClassifier) named(words []string) int {
	for _, name := range append([]string{l.Name}, l.As...) {
		if spells(words, name) {
			return len(strings.Fields(name))
		}
	}
	return l.parted(words)
}

// spells reports whether words begin with a name.
func spells(words []string, name string) bool {
	want := strings.Fields(name)
	same := func(a, b string) bool { return plain(a) == plain(b) }
	return len(want) > 0 && len(want) <= len(words) && slices.EqualFunc(words[:len(want)], want, same)
}

// parted returns how many words at the beginning of a text name the agent, if they are its name
// with spaces in other places.
func (l AddressClassifier) parted(words []string) int {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, l.Name)
	so := ""
	for i, w := range words {
		so += plain(w)
		if so == name {
			return i + 1
		}
		if len(so) >= len(name) {
			break
		}
	}
	return 0
}

// spellings are what recognisers that were not taught a name may write for it, besides the name as
// two words, which is always understood. "Your shot" was written for one voice in four; the others
// are similar.
var spellings = map[string][]string{
	"earshot": {"ear shot", "ear shut", "your shot", "here shot", "air shot"},
}

// slurs are what recognisers may write for a name that is said while the agent speaks, although
// people also say these words. Somebody who interrupts with "in short" counts as talking to the
// agent.
var slurs = map[string]string{"earshot": "in short"}

// slur returns the slur of the agent's name, folded. If there is none, it returns a line break,
// which no folded text contains.
func (l AddressClassifier) slur() string {
	if slur, ok := slurs[strings.ToLower(l.Name)]; ok {
		return folded(slur)
	}
	return "\n"
}

// Spellings returns what recognisers may write for a name.
func Spellings(name string) []string { return slices.Clone(spellings[strings.ToLower(name)]) }

// plain returns a word in lower case, without surrounding punctuation.
func plain(word string) string {
	return strings.TrimFunc(strings.ToLower(word), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// An echo must consist to this share of words that the agent has just said, in their order. A
// loudspeaker in a room costs a recogniser every second word; somebody who answers repeats at most
// one word in three. If there are only one or two words, all must match, because every other
// sentence has a "the" in it; a single word is doubtful.
const (
	echoShare = 0.5
	echoDoubt = 0.25
	echoFew   = 2

	// A few words that were heard almost only together with the agent's own sound may be that
	// sound, misheard. A recogniser makes up to three words of it.
	echoMost     = 0.5
	echoMisheard = 3
)

// echo returns the share of the heard words that the agent said, and how many words there are.
func echo(heard, said string) (share float64, n int) {
	h, s := spokenWords(heard), spokenWords(said)
	if len(h) == 0 {
		return 0, 0
	}
	return float64(common(h, s)) / float64(len(h)), len(h)
}

// spokenWords returns the words of a text as a recogniser writes them: a hyphenated word is two
// words.
func spokenWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '-' })
}

// folded returns text as words in lower case with one space around each.
func folded(text string) string {
	var b strings.Builder
	b.WriteByte(' ')
	for w := range strings.FieldsSeq(text) {
		b.WriteString(plain(w))
		b.WriteByte(' ')
	}
	return b.String()
}

// common returns the length of the longest common subsequence of words. It keeps one row of the
// usual table.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			best := max(row[j], row[j+1])
			if alike(plain(x), plain(y)) {
				best = max(best, diagonal+1)
			}
			diagonal = row[j+1]
			row[j+1] = best
		}
	}
	return row[len(b)]
}

// alike reports whether a recogniser may have written one word for the other: they are equal, or
// are long and begin alike.
func alike(a, b string) bool {
	if a == b {
		return true
	}
	n := min(len(a), len(b))
	return n >= 4 && a[:n*3/4] == b[:n*3/4]
}
