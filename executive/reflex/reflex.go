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

	"earshot"
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
	Resume: {"what were you saying", "go on", "continue", "carry on", "you were saying", "and then", "keep going"},
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

// Recognise returns what text wants of the agent of that name.
func Recognise(text earshot.Text, agent string) Kind {
	if len(text) > 80 {
		return None // nobody says "stop" in so many words
	}
	name := fold(agent)
	words := fold(string(text))
	for {
		before := words
		for _, polite := range []string{"hey", "ok", "okay", "please", name} {
			words = without(words, polite)
		}
		if words == before {
			if words == "" && strings.Contains(fold(string(text)), name) && name != "" {
				return Called
			}
			if k, known := kinds[words]; known {
				return k
			}
			if asksToLook(words) {
				return See
			}
			return None
		}
	}
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

// fold returns text in lower case, without punctuation, one space between
// words.
func fold(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	between := false
	for _, r := range text {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			if between && b.Len() > 0 {
				b.WriteByte(' ')
			}
			between = false
			b.WriteRune(unicode.ToLower(r))
		case unicode.IsSpace(r), r == '-', r == ',', r == '/':
			between = true
		}
	}
	return b.String()
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
	Last   *earshot.Reply   // the last of those that took thought, or continued one that did
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
		return rest(f.Last)
	case See:
		return f.Sight
	case Help:
		return help(f)
	}
	return ""
}

// rest is what was not said of the last reply.
func rest(last *earshot.Reply) string {
	switch {
	case last == nil || last.Remainder() == "" && last.Cut == nil:
		return "I had said all I wanted to say."
	case strings.TrimSpace(string(last.Remainder())) != "":
		return strings.TrimLeft(string(last.Remainder()), " ")
	case last.Delivered() == "":
		return "I was cut off before I began."
	}
	words := strings.Fields(string(last.Delivered()))
	return "I was cut off after \"" + strings.Join(words[max(0, len(words)-8):], " ") + "\" and had not thought further."
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
