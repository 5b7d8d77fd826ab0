// Package reflex answers at once what needs no language model: the time, what works and what is
// missing, what was said recently, and the words that make a speaker stop. It recognises only whole
// utterances, so a question that merely contains such words goes to the model.
package reflex

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/conversation"
	"earshot/language"
)

// A Kind is what somebody wants.
type Kind int

// The kinds. None stands for everything that needs a model.
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
	Follow      // go on where I am now
	Help
	Moment // wait, I have not said it yet
	See    // look, and say what there is to see
)

// Cuts reports whether k is a command word, which takes the floor from whoever has it.
func (k Kind) Cuts() bool { return k == Stop || k == Quiet || k == Moment }

// phrases are what people say, folded by [language.Fold].
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
	Follow: {"follow me", "come with me", "come along", "come over here", "over here", "i am over here", "im over here", "i am in here", "im in here", "go on in here", "go on here", "go on over here",
		"continue in here", "continue here", "continue over here", "carry on in here", "carry on here", "keep talking in here", "talk to me in here"},
	Help: {"help", "what can i say", "how do i use this", "what are the commands"},
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

// sounding are the phrases that make a speaker stop or wait, and are long enough to be recognised
// by their sounds.
var sounding = sync.OnceValue(func() (all []heardPhrase) {
	for _, k := range []Kind{Stop, Quiet, Moment} {
		for _, p := range phrases[k] {
			all = append(all, heardPhrase{p, conversation.NewPhrase(p)})
		}
	}
	return all
})

type heardPhrase struct {
	text   string
	phrase conversation.Phrase
}

// Misheard returns the phrase that text, which was heard while the agent was speaking, is taken for.
// Such a phrase makes a speaker stop or wait, and differs from text by one sound at most. Misheard
// returns an empty text if there is none, or if text is such a phrase itself.
func Misheard(text earshot.Text, agent string) earshot.Text {
	if len(text) > 80 || Recognise(text, agent) != None {
		return ""
	}
	words := bare(language.Fold(string(text)), language.Fold(agent))
	for _, p := range sounding() {
		if p.phrase.Heard(words) {
			return earshot.Text(p.text)
		}
	}
	return ""
}

// Recognise returns what text wants of the agent with that name.
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

// bare returns words without those that only surround a request, such as the name.
func bare(words, name string) string {
	for before := ""; words != before; {
		before = words
		for _, polite := range []string{"hey", "ok", "okay", "please", name} {
			words = without(words, polite)
		}
	}
	return words
}

// without returns words without a polite word at their beginning or end.
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

// Facts are what the answers are made of. Everybody who hears the answer may know all of it.
type Facts struct {
	Agent  string
	Now    time.Time
	Works  []string         // such as "console"
	Faults []earshot.Notice // what is missing, with the cure
	Lately []Line           // the oldest first
	Said   *earshot.Reply   // the agent's last reply of which something was offered
	Cut    *earshot.Reply   // the reply that was cut off and can be resumed; nil if there is none
	Sight  string           // the answer to somebody who asks the agent to look; empty if that needs a model
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
	case Follow:
		return "I am here."
	case See:
		return f.Sight
	case Help:
		return help(f)
	}
	return ""
}

// resumed returns what is said without a model to somebody who asks for the rest of a reply.
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

// Rest returns the words with which an interrupted reply is resumed: what is kept of the reply,
// from the beginning of the sentence in which it was cut. If the reply is unfinished, its last word
// may be only half a word; last is then that word with the space before it, and rest is what comes
// before.
func Rest(cut earshot.Reply) (rest, last string) {
	text := string(cut.Offered)
	rest = strings.TrimLeftFunc(text[sentence(text, len(cut.Delivered())):], unicode.IsSpace)
	if r, _ := utf8.DecodeLastRuneInString(rest); cut.Unfinished && (unicode.IsLetter(r) || unicode.IsNumber(r)) {
		space := strings.LastIndexFunc(rest, unicode.IsSpace)
		if len(rest)-space <= longestWord { // otherwise the script has no spaces
			return rest[:max(0, space)], rest[max(0, space):]
		}
	}
	return strings.TrimRightFunc(rest, unicode.IsSpace), ""
}

// longestWord is the longest word that may be incomplete, in bytes.
const longestWord = 32

// longestSentence is how many bytes before a cut its sentence may begin: half a minute of speech.
// Anything longer is a list or a table, of which the last words are enough.
const longestSentence = 400

// sentence returns the beginning of the sentence of text that contains byte at, at which text was
// cut: the end of the last sentence or line before that byte.
func sentence(text string, at int) int {
	least := max(0, at-longestSentence)
	word := least // where the first whole word after least begins
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

// status names what does not work, and the remedy. The text of a fault may come from some server,
// so it is not repeated.
func status(f Facts) string {
	var b strings.Builder
	works := "nothing but reflexes"
	if len(f.Works) > 0 {
		works = strings.Join(f.Works, ", ")
	}
	fmt.Fprintf(&b, "%s%s.", conversation.StatusReport, works)
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

// recent is how many lines people want to hear read out.
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
		"say that again, what were you saying, follow me, stop, be quiet, speak.\n" +
		"Commands: /help /who /why /context /stop /exit"
}

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
