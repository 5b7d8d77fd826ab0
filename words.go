package earshot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// longestDeed is how many characters of what a model wrote, or was told, stand in
// a line about it.
const longestDeed = 80

// A deed is how people are told of the use of a tool: what its agent does, and to
// which of its arguments, if to one.
type deed struct{ does, to string }

// deeds are those of the tools of the house that leave no event of their own.
var deeds = map[string]deed{
	"list_files": {"lists its files", ""},
	"read_file":  {"reads", "path"},
	"write_file": {"writes", "path"},
	"recall":     {"looks up", "query"},
}

// evident are the tools that leave an event of their own, which is shown.
var evident = map[string]bool{"message_agent": true, "delegate": true, "note": true, "remind": true, "edit_context": true}

// Deed says in one short line, as it follows the agent's name, what it did, such
// as "writes notes.txt". It is empty if that is to be seen otherwise, or if it
// came to nothing since the turn was cut. What stands in it is a model's, and not to be trusted.
func (u Use) Deed() Text {
	d, known := deeds[u.Tool]
	switch {
	case u.Stopped: // whoever cut it off knows
		return ""
	case u.Refused:
		return Text("was refused " + brief(u.Tool) + ": " + brief(string(u.Result)))
	case u.Failed:
		return Text("failed at " + brief(u.Tool) + ": " + brief(string(u.Result)))
	case evident[u.Tool]:
		return ""
	case !known:
		return Text("uses " + brief(u.Tool))
	}
	return Text(strings.TrimSpace(d.does + " " + brief(u.argument(d.to))))
}

// Whole returns what a message says, with the files that hang at it.
func (m Message) Whole() Text {
	text := string(m.Text)
	for i, a := range m.Attachments {
		if i == MaxAttachments {
			break
		}
		text += "\n" + string(a.Line())
	}
	return Text(strings.TrimPrefix(text, "\n"))
}

// Line says what hangs at a message, in one line, such as
// "[attached: photo.png, image/png, 120 kB]". A name can neither end it nor begin another.
func (a Attachment) Line() Text {
	text := "[attached: " + cmp.Or(bracketed(string(a.Name)), "a file")
	if kind := bracketed(a.Type); kind != "" {
		text += ", " + kind
	}
	switch size := float64(a.Size); {
	case a.Size <= 0:
	case a.Size < 1000:
		text += fmt.Sprintf(", %d bytes", a.Size)
	case a.Size < 1_000_000:
		text += fmt.Sprintf(", %.0f kB", size/1e3)
	default:
		text += fmt.Sprintf(", %.1f MB", size/1e6)
	}
	return Text(text + "]")
}

// Typed returns what a line says that somebody has written: a [Message], or a [Command] if
// it begins with one slash. Two begin a message with one. What cannot be seen before a slash
// makes no difference, such as blanks or the mark that a file begins with, and neither does
// whose keyboard writes a wide one: by a slip nobody may make public what they meant to hide.
func Typed(line string) Body {
	rest, slash := cutSlash(strings.TrimLeftFunc(line, unseen))
	if !slash {
		return Message{Text: Text(line)}
	}
	if _, twice := cutSlash(rest); twice {
		return Message{Text: Text(rest)}
	}
	name, args := rest, ""
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		name, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	return Command{Name: name, Args: Text(args)}
}

// Line returns the line that says t, for [Typed].
func (t Text) Line() string {
	if m, is := Typed(string(t)).(Message); is && m.Text == t {
		return string(t)
	}
	return "/" + strings.TrimLeftFunc(string(t), unseen)
}

func cutSlash(line string) (rest string, is bool) {
	if rest, is = strings.CutPrefix(line, "/"); is {
		return rest, true
	}
	return strings.CutPrefix(line, "／")
}

// Blank reports whether nobody sees anything of t.
func (t Text) Blank() bool { return strings.TrimLeftFunc(string(t), unseen) == "" }

// unseen reports whether nobody sees r where a line begins.
func unseen(r rune) bool {
	return r == '\u2800' || unicode.IsSpace(r) || // a cell of Braille without a dot
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// bracketed returns text as it can stand within brackets: in one short line of what can
// be seen, without brackets.
func bracketed(text string) string {
	return brief(visible(text, func(r rune) rune {
		if unicode.In(r, unicode.Ps, unicode.Pe) || strings.ContainsRune("<>|\ufffd", r) {
			return '_'
		}
		return r
	}))
}

// visible returns what can be seen of text, in one line, with each character as replace has it.
func visible(text string, replace func(rune) rune) string {
	return strings.Map(func(r rune) rune {
		switch r = replace(r); {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, text)
}

// argument returns the text that is called name among the arguments, or nothing.
// Of long ones the end is not kept.
func (u Use) argument(name string) string {
	given := json.NewDecoder(strings.NewReader(string(u.Arguments)))
	if t, err := given.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for given.More() {
		var value any
		key, err := given.Token()
		if err != nil || given.Decode(&value) != nil {
			return ""
		}
		if text, ok := value.(string); ok && key == name {
			return text
		}
	}
	return ""
}

// brief returns text in one short line.
func brief(text string) string { return shortened(text, longestDeed) }

// shortened returns text in one line of at most so many characters.
func shortened(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most]) + "…"
	}
	return text
}

// Deed says in one line, as it follows the agent's name, what became at a time of
// a reminder for somebody. It is empty if that is to be seen otherwise: one that
// fires is said in a reply.
func (r Reminder) Deed(at time.Time, whom string) Text {
	switch r.Act {
	case Ended:
		return Text("will not remind " + whom + " of it any more")
	case Created:
		return Text("will remind " + whom + " " + when(at.Local(), r.Due.Local()) + ": " + brief(string(r.Text)))
	}
	return ""
}

// when returns a time to come as people say it, with its day if that is not today.
func when(now, due time.Time) string {
	date := func(t time.Time) string { return t.Format(time.DateOnly) }
	switch {
	case date(due) == date(now):
		return due.Format("at 15:04:05")
	case date(due) == date(now.AddDate(0, 0, 1)):
		return due.Format("tomorrow, Mon 2 Jan, 15:04")
	case due.Year() == now.Year():
		return due.Format("on Mon 2 Jan, 15:04")
	}
	return due.Format("on Mon 2 Jan 2006, 15:04")
}

// Deed says in one line, as it follows the name of who did it, what an edit did. It is
// empty if nobody did anything: a sense has noticed something.
func (e Edit) Deed() Text {
	was, text := quote(e.Was), quote(e.Text)
	switch {
	case e.Act == Created:
		return Text("added to " + e.Field + ": " + text)
	case e.Act == Changed:
		return Text("changed " + e.Field + ": " + was + " is " + text + " now")
	case e.Act == Ended && e.Undoes == "":
		return Text("took out of " + e.Field + ": " + was)
	case e.Act == Undone && e.Was != "":
		return Text("took a change of " + e.Field + " back: " + was)
	case e.Act == Undone:
		return Text("put back into " + e.Field + ": " + text)
	}
	return ""
}

// quote returns text in quotes, in one short line.
func quote(text Text) string { return `"` + brief(string(text)) + `"` }

// Fate says in a few words, as they follow the agent's name, what happened to it.
func (a Agent) Fate() string {
	switch a.Act {
	case Created:
		return "is an agent now"
	case Ended:
		return "is an agent no longer"
	}
	return "has been changed"
}

// Words says in one line what was forgotten.
func (f ErasureRecord) Words() Text {
	if f.Events == 1 {
		return "one thing that happened here is forgotten"
	}
	return Text(fmt.Sprintf("%d things that happened here are forgotten", f.Events))
}

// Means says why the floor was left to a person.
func (w Why) Means() string {
	switch w {
	case TurnLimit:
		return "they have talked among themselves for long enough"
	case Repetition:
		return "they said the same again and again"
	case Apart:
		return "an agent of another user was called, and that is for a person to do"
	}
	return "it was their wish"
}

// Means says what s is, to the people in the room.
func (s Snooze) Means() string {
	if s.Until.IsZero() {
		return "The agent speaks up again when it has something to say"
	}
	return "The agent says nothing unasked until " + s.Until.Local().Format("Monday 15:04") + "; /snooze off ends that"
}

// longestSeen is how many characters of a code or a caption stand in a line about it.
const longestSeen = 160

// Words says in one short line what was noticed, as it follows the camera's name, such as
// "somebody came into view". What stands in a code or a caption is quoted, and not to be
// trusted.
func (s Sight) Words() Text {
	switch s.What {
	case PeopleChanged:
		if s.People < s.Were && s.Eyes != Clear && s.Eyes != "" {
			return "nobody can tell any more who is in view"
		}
		return passersBy(s.Were, s.People)
	case EyesChanged:
		return s.Eyes.Words()
	case SceneChanged:
		return "the whole picture is another one; the camera was moved, perhaps"
	case CodeRead:
		return "a code is held up, which says " + quoted(s.Text)
	case Captioned:
		return "what a model sees in it: " + quoted(s.Text)
	}
	return ""
}

// passersBy says that so many people are in view where others were.
func passersBy(were, are int) Text {
	switch {
	case are == were:
		return Text(InView(are))
	case were == 0 && are == 1:
		return "somebody came into view"
	case were == 0:
		return Text(fmt.Sprintf("%d people came into view", are))
	case are == 0 && were == 1:
		return "whoever was in view left it"
	case are == 0:
		return Text(fmt.Sprintf("the %d people who were in view left it", were))
	case are > were:
		return Text(fmt.Sprintf("%d more came into view: %s", are-were, InView(are)))
	}
	return Text(fmt.Sprintf("%d left: %s", were-are, InView(are)))
}

// CameraCalled returns how a camera is spoken of that has a name: "camera desk", and
// "camera 2" of one that is called so.
func CameraCalled(name string) string {
	if strings.HasPrefix(strings.ToLower(name), "camera") {
		return name
	}
	return "camera " + name
}

// InView says how many people a camera sees.
func InView(people int) string {
	switch people {
	case 0:
		return "nobody is in view"
	case 1:
		return "1 person is in view"
	}
	return fmt.Sprintf("%d people are in view", people)
}

// Words says how well a camera sees, as it follows its name.
func (e Eyesight) Words() Text {
	switch e {
	case Clear:
		return "it sees"
	case Dark:
		return "it is dark there, or something is before the lens"
	case Frozen:
		return "its picture stands still"
	case Away:
		return "there are no pictures from it"
	}
	return ""
}

// quoted returns foreign words as they stand in a sentence of ours: in one line of what
// can be seen, which they cannot end.
func quoted(text Text) Text {
	words := visible(string(text), func(r rune) rune {
		switch r {
		case '"', '“', '”', '„':
			return '\''
		case utf8.RuneError:
			return -1
		}
		return r
	})
	return Text(`"` + shortened(words, longestSeen) + `"`)
}
