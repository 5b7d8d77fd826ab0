package console

import (
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/internal/terminal"
)

// types feeds s the text as typed letters, all at once.
func types(s *session, text string) {
	s.step(time.Unix(0, 0), terminal.Key{Does: terminal.Insert, Text: text}, false)
}

func TestComplete(t *testing.T) {
	commands := []string{"who", "why", "mute", "msg", "merge", "exit"}
	names := []string{"Ann", "Bob", "Jo Wren", "Jo Smith", "Ärzte"}
	for _, tt := range []struct{ name, typed, line, hint string }{
		{"a command", "/mu", "/mute ", ""},
		{"in any case", "/MU", "/mute ", ""},
		{"what several have in common", "/wh", "/wh", "/who /why"},
		{"more than was typed", "/w", "/wh", ""},
		{"all commands", "/", "/", "/exit /merge /msg /mute /who /why"},
		{"a whole one", "/who", "/who ", ""},
		{"none", "/x", "/x", "bell"},
		{"the one that leaves", "/ex", "/exit ", ""},
		{"a text with a slash", "//mu", "//mu", "bell"},
		{"what comes behind a command", "/mute n", "/mute n", "bell"},
		{"a name", "@a", "@Ann ", ""},
		{"in a sentence", "is that right, @bo", "is that right, @Bob ", ""},
		{"a name of several words", "@jo w", "@Jo Wren ", ""},
		{"what names have in common", "@j", "@Jo ", ""},
		{"several names", "@Jo ", "@Jo ", "@Jo Smith @Jo Wren"},
		{"letters of the world", "@ä", "@Ärzte ", ""},
		{"an address", "write to me@b", "write to me@b", "bell"},
		{"no name", "hello", "hello", "bell"},
		{"nothing", "", "", "bell"},
		{"whom a message is for", "/msg b", "/msg Bob ", ""},
		{"and who else", "/msg Bob,an", "/msg Bob,Ann ", ""},
		{"all of them", "/msg ", "/msg ", "Ann Bob Jo Smith Jo Wren Ärzte"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s session
			types(&s, tt.typed)
			d := s.complete(commands, names)
			hint := d.hint
			if d.bell {
				hint = "bell"
			}
			if s.line.Text() != tt.line || s.line.Cursor() != len(tt.line) || hint != tt.hint {
				t.Errorf("the line is %q, the hint %q; want %q and %q", s.line.Text(), hint, tt.line, tt.hint)
			}
		})
	}
}

// TestCompleteInTheMiddle: completing a word leaves the text behind the cursor alone.
func TestCompleteInTheMiddle(t *testing.T) {
	var s session
	types(&s, "/m now")
	for range 4 {
		s.step(time.Unix(0, 0), terminal.Key{Does: terminal.Left}, false)
	}
	if s.complete([]string{"mute"}, nil); s.line.Text() != "/mute  now" || s.line.Cursor() != len("/mute ") {
		t.Errorf("the line is %q, the cursor at %d", s.line.Text(), s.line.Cursor())
	}
}

func TestSearch(t *testing.T) {
	sent := []string{"tell me about the tides", "what time is it?", "//srv is full", "/msg Ann the ring", "/note buy tea", "and the tides of Mars?", "what time is it?"}
	const esc, again, rub, enter, left, up = "<", "^", "~", "!", "{", "}"
	keys := map[string]terminal.Stroke{esc: terminal.Escape, again: terminal.Search, rub: terminal.Rubout, enter: terminal.Enter, left: terminal.Left, up: terminal.Up}
	for _, tt := range []struct {
		name, typed string
		prompt      string // with | for the cursor
		sent        string
	}{
		{"nothing yet", "^", "(search: ) |", ""},
		{"the newest", "^tides", "(search: tides) and the |tides of Mars?", ""},
		{"in any case", "^MARS", "(search: MARS) and the tides of |Mars?", ""},
		{"letter by letter", "^wi~", "(search: w) |what time is it?", ""},
		{"the next", "^tides^", "(search: tides) tell me about the |tides", ""},
		{"each once", "^what^", "(search: what) |what time is it?", ""},
		{"none", "^tidesx", "(search: tidesx) |", ""},
		{"none, and less of it", "^tidesx~", "(search: tides) and the |tides of Mars?", ""},
		{"sent", "^mars!", "|", "and the tides of Mars?"},
		{"nothing is sent where nothing was found", "^nowhere!", "|", ""},
		{"changed", "^mars{{", "and the tides of Mar|s?", ""},
		{"taken back", "draft^mars<", "draft|", ""},
		{"a text with a slash", "^srv!", "|", "/srv is full"},
		{"a command", "^buy!", "|", "/note buy tea"},
		{"what was to be hidden", "^ring", "(search: ring) |", ""},
		{"then the history", "^mars}", "what time is it?|", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s session
			for _, line := range sent {
				types(&s, line)
				s.step(time.Unix(0, 0), terminal.Key{Does: terminal.Enter}, false)
			}
			var said []string
			for key := range strings.SplitSeq(tt.typed, "") {
				k := terminal.Key{Does: terminal.Insert, Text: key}
				if does, is := keys[key]; is {
					k = terminal.Key{Does: does}
				}
				d := s.step(time.Unix(0, 0), k, false)
				if d.also == terminal.Search {
					s.begin(false)
				}
				for _, body := range d.say {
					switch b := body.(type) {
					case earshot.Message:
						said = append(said, string(b.Text))
					case earshot.Command:
						said = append(said, "/"+b.Name+" "+string(b.Args))
					}
				}
			}
			line, at := s.prompt()
			if got := line[:at] + "|" + line[at:]; got != tt.prompt || strings.Join(said, "|") != tt.sent {
				t.Errorf("there stands %q, sent %q; want %q and %q", got, said, tt.prompt, tt.sent)
			}
		})
	}
}

// TestSearchElsewhere: if somebody else knows what was sent, the search covers that. Of the lines
// sent from here it then covers only the commands, since the rest may not have been kept.
func TestSearchElsewhere(t *testing.T) {
	var s session
	for _, line := range []string{"off the record", "/note on the record"} {
		types(&s, line)
		s.step(time.Unix(0, 0), terminal.Key{Does: terminal.Enter}, false)
	}
	s.begin(true)
	types(&s, "record")
	if line, _ := s.prompt(); line != "(search: record) /note on the record" {
		t.Errorf("there stands %q", line)
	}
	s.add([]string{"yesterday's record", "/path of a record", "nothing"})
	if line, _ := s.prompt(); line != "(search: record) //path of a record" {
		t.Errorf("there stands %q", line)
	}
	s.step(time.Unix(0, 0), terminal.Key{Does: terminal.Search}, false)
	if line, _ := s.prompt(); line != "(search: record) yesterday's record" {
		t.Errorf("there stands %q", line)
	}
	s.step(time.Unix(0, 0), terminal.Key{Does: terminal.Search}, false)
	s.step(time.Unix(0, 0), terminal.Key{Does: terminal.Search}, false)
	if line, _ := s.prompt(); line != "(search: record) /note on the record" {
		t.Errorf("there stands %q", line)
	}
}
