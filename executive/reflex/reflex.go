// Package reflex answers at once, and without a language model, what needs
// none: the time, what works and what is missing, what was said of late, and
// the words by which one makes a speaker stop. It recognises whole utterances
// only, so that a question that merely contains such words goes to the model.
package reflex

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/conversation"
	"earshot/language"
)

// A Kind is what somebody wants.
type Kind int

// The kinds. None is everything that takes thought.
const (
	None   Kind = iota
	Stop        // say no more
	Quiet       // say no more until called
	Wake        // you may speak again
	Called      // the agent's name, and nothing else
	Clock       // what time is it
	Date        // what day is it
	Status      // what works
	Lately      // what was said
	Repeat      // say that again
	Resume      // what were you saying
	Help
	Moment // wait, I have not said it yet
	See    // look, and say what there is to see
)

// Cuts reports whether k is a command word: it takes the floor from whoever
// has it.
func (k Kind) Cuts() bool { return k == Stop || k == Quiet || k == Moment }

// phrases are what people say, folded as by fold.
var phrases = map[Kind][]string{
	Stop: {"stop", "stop it", "stop talking", "enough", "that is enough", "thats enough", "cancel", "never mind", "nevermind"},
	Moment: {"wait", "wait a moment", "wait a minute", "wait a second", "hold on", "hold on a second", "hold on a minute", "hang on", "one moment", "just a moment", "just a second",
		"just a minute", "one second", "one minute", "give me a second", "give me a minute", "give me a moment", "bear with me"},
	Quiet:  {"be quiet", "quiet", "silence", "shut up", "hush", "be silent", "shush"},
	Wake:   {"you can talk", "you can talk again", "you may talk", "you may speak", "you can speak", "you can speak again", "speak", "speak up", "wake up"},
	Clock:  {"what time is it", "whats the time", "what is the time", "time", "what time is it now", "tell me the time"},
	Date:   {"what day is it", "whats the date", "what is the date", "date", "what is todays date", "whats todays date", "what day is today", "what is the date today"},
	Status: {"what works", "what is missing", "whats missing", "what does not work", "what doesnt work", "status", "what can you do", "are you there", "what is wrong", "whats wrong"},
	Lately: {"what was said", "what was said lately", "what did i miss", "what was said recently", "what have we said", "what were we talking about"},
	Repeat: {"repeat", "repeat that", "say that again", "say it again", "what did you say", "come again", "once more", "again"},
	Help:   {"help", "what can i say", "how do i use this", "what are the commands"},
}

var kinds = func() map[string]Kind {
	m := make(map[string]Kind)
	for k, list := range phrases {
		for _, p := range list {
			m[p] = k
		}
	}
	return m
}()

// sounding are the phrases that make a speaker stop, or wait, as far as they are long enough to be
// known by their sounds.
var sounding = func() (all []heardPhrase) {
	for _, k := range []Kind{Stop, Quiet, Moment} {
		for _, p := range phrases[k] {
			all = append(all, heardPhrase{p, conversation.NewPhrase(p)})
		}
	}
	return all
}()

type heardPhrase struct {
	text   string
	phrase conversation.Phrase
}

// Misheard returns the phrase that text, which was said while the agent speaks, is taken for:
// one that makes a speaker stop, or wait, and sounds the same but for one sound at most. It is empty if
// there is none, or text is a phrase as it is.
func Misheard(text earshot.Text, agent string) earshot.Text {
	if len(text) > 80 || Recognise(text, agent) != None {
		return ""
	}
	words := bare(language.Fold(string(text)), language.Fold(agent))
	for _, p := range sounding {
		if p.phrase.Heard(words) {
			return earshot.Text(p.text)
		}
	}
	return ""
}

// Recognise returns what text wants of the agent of that name.
func Recognise(text earshot.Text, agent string) Kind {
	if len(text) > longestResume {
		return None // nobody wants so little in so many words
	}
	name := language.Fold(agent)
	words := bare(language.Fold(string(text)), name)
	if len(text) > 80 { // nobody says "stop" in so many words
		if asksToResume(words) {
			return Resume
		}
		return None
	}
	if words == "" && strings.Contains(language.Fold(string(text)), name) && name != "" {
		return Called
	}
	if k, known := kinds[words]; known {
		return k
	}
	if asksToLook(words) {
		return See
	}
	if asksToResume(words) {
		return Resume
	}
	return None
}

// bare returns words without those that one says around them, such as the name.
func bare(words, name string) string {
	for before := ""; words != before; {
		before = words
		for _, polite := range []string{"hey", "ok", "okay", "please", name} {
			words = without(words, polite)
		}
	}
	return words
}

// without returns words without those that it begins or ends with.
func without(words, polite string) string {
	if rest, ok := strings.CutPrefix(words, polite); ok && (rest == "" || rest[0] == ' ') {
		words = strings.TrimLeft(rest, " ")
	}
	if rest, ok := strings.CutSuffix(words, polite); ok && (rest == "" || rest[len(rest)-1] == ' ') {
		words = strings.TrimRight(rest, " ")
	}
	return words
}

// A Line is something that was said.
type Line struct {
	Name string
	Text earshot.Text
	At   time.Time
}

// Facts are what the answers are made of; everything in them may be seen by
// whoever hears the answer.
type Facts struct {
	Agent  string
	Now    time.Time
	Works  []string         // such as "console"
	Faults []earshot.Notice // what is missing, with the cure
	Lately []Line           // the oldest first
	Said   *earshot.Reply   // the agent's last reply of which something was offered
	Cut    *earshot.Reply   // the reply that was cut off and can be resumed; nil if there is none
	Sight  string           // what is answered to who asks to look; empty if that takes thought
}

// Answer returns what the agent says to k, or "" if it says nothing.
func Answer(k Kind, f Facts) string {
	switch k {
	case Wake:
		return "I am listening."
	case Called:
		return "Yes?"
	case Clock:
		return f.Now.Format("It is 15:04.")
	case Date:
		return f.Now.Format("It is Monday, 2 January 2006.")
	case Status:
		return status(f)
	case Lately:
		return lately(f)
	case Repeat:
		if f.Said == nil || f.Said.Delivered() == "" {
			return "I have not said anything yet."
		}
		return string(f.Said.Delivered())
	case Resume:
		return resumed(f.Cut)
	case See:
		return f.Sight
	case Help:
		return help(f)
	}
	return ""
}

// resumed is what is said without a model to who asks for the rest of a reply.
func resumed(cut *earshot.Reply) string {
	if cut == nil {
		return "I had said all I wanted to say."
	}
	if rest, last := Rest(*cut); cut.Remainder() != "" && rest+last != "" {
		return rest + last
	}
	words := strings.Fields(string(cut.Delivered()))
	if len(words) == 0 {
		return "I was cut off before I began."
	}
	return "I was cut off after \"" + strings.Join(words[max(0, len(words)-8):], " ") + "\" and had not thought further."
}

// Rest returns the words with which a reply is resumed that was cut off: those of it
// that are kept, from the beginning of the sentence in which it was cut. Last is the end of
// one that is not finished, from the space before its last word on, which may be half of
// one.
func Rest(cut earshot.Reply) (rest, last string) {
	text := string(cut.Offered)
	rest = strings.TrimLeftFunc(text[sentence(text, len(cut.Delivered())):], unicode.IsSpace)
	if r, _ := utf8.DecodeLastRuneInString(rest); cut.Unfinished && (unicode.IsLetter(r) || unicode.IsNumber(r)) {
		space := strings.LastIndexFunc(rest, unicode.IsSpace)
		if len(rest)-space <= longestWord { // else it is a script without spaces
			return rest[:max(0, space)], rest[max(0, space):]
		}
	}
	return strings.TrimRightFunc(rest, unicode.IsSpace), ""
}

// longestWord is the longest word that may be half of one, in bytes.
const longestWord = 32

// longestSentence is how far before a cut its sentence may begin, in bytes: half a minute
// of speech. What is longer is a list or a table, of which the last words are enough.
const longestSentence = 400

// sentence returns where the sentence begins in which text was cut at a byte: behind the
// last end of a sentence or of a line before it.
func sentence(text string, at int) int {
	least := max(0, at-longestSentence)
	word := least // where the first word behind least begins
	begin := least
	previous := rune(' ')
	for i, r := range text[:at] {
		switch {
		case i < least:
		case r == '\n', strings.ContainsRune("。！？", previous), unicode.IsSpace(r) && strings.ContainsRune(".!?…", previous):
			begin = i
		case word == least && unicode.IsSpace(r):
			word = i
		}
		if !strings.ContainsRune("\"'”’)*_`", r) { // which close after the end of a sentence
			previous = r
		}
	}
	next, _ := utf8.DecodeRuneInString(text[at:])
	switch whole := at == len(text) || unicode.IsSpace(next); {
	case strings.TrimSpace(text[begin:at]) == "", whole && strings.ContainsRune(".!?…。！？", previous):
		return at // it was cut between two sentences
	case begin == least && least > 0:
		return word
	}
	return begin
}

// Reporting is how an answer about the house begins. It may tell of faults, so
// it is no part of a prompt.
const Reporting = "This works: "

// status names what is at fault, and the cure. The text of a fault may be that
// of a server somewhere, so it is not repeated.
func status(f Facts) string {
	var b strings.Builder
	works := "nothing but reflexes"
	if len(f.Works) > 0 {
		works = strings.Join(f.Works, ", ")
	}
	fmt.Fprintf(&b, "%s%s.", Reporting, works)
	if len(f.Faults) == 0 {
		b.WriteString(" Nothing is missing.")
	}
	for _, n := range f.Faults {
		fmt.Fprintf(&b, "\nThis does not: the %s.", n.Key)
		if n.Cure != "" {
			fmt.Fprintf(&b, " To mend it: %s", n.Cure)
		}
	}
	return b.String()
}

// recent is how many lines one wants to hear read out.
const recent = 6

func lately(f Facts) string {
	lines := f.Lately[max(0, len(f.Lately)-recent):]
	if len(lines) == 0 {
		return "Nothing was said of late."
	}
	var b strings.Builder
	for _, l := range lines {
		text := []rune(strings.Join(strings.Fields(string(l.Text)), " "))
		if len(text) > 120 {
			text = append(text[:119], '…')
		}
		fmt.Fprintf(&b, "%s %s: %s\n", l.At.In(f.Now.Location()).Format("15:04"), l.Name, string(text))
	}
	return strings.TrimRight(b.String(), "\n")
}

func help(f Facts) string {
	return "Type and press Enter, or say \"" + f.Agent + "\" and what you want: " + f.Agent + " answers. " +
		"Begin to type while it talks and it pauses; press Enter and it stops; empty the line and it goes on. " +
		"Aloud, a sentence to it or \"stop talking\" stops it.\n" +
		"Without any model I know: what time is it, what day is it, what works, what was said, what do you see, " +
		"say that again, what were you saying, stop, be quiet, speak.\n" +
		"Commands: /help /who /why /context /stop /exit"
}
