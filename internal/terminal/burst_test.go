package terminal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"earshot"
)

// sketch writes keys in short form.
func sketch(keys []Key) string {
	var words []string
	for _, k := range keys {
		word := string(k.Does)
		switch {
		case k.Over:
			word = "too long"
		case k.Does == Insert:
			word = fmt.Sprintf("%q", k.Text)
		case k.Text != "":
			word = fmt.Sprintf("%s %q", k.Does, k.Text)
		}
		if k.Send {
			word += " sent"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// TestBurst: lines that arrive faster than anybody types become one paste, whatever pieces the line
// delivers them in. What a person types stays as typed, and so do the lines of a program that
// pauses between them.
func TestBurst(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name  string
		every time.Duration // between two bytes
		in    string        // | is a second of silence, · are 40 ms, ⋯ are 85 ms
		want  string
	}{
		{"lines at once", 0, "one\rtwo\rthree\r|", `"one", burst "\ntwo\nthree" sent`},
		{"and no Enter at the end", 0, "one\rtwo|", `"one", burst "\ntwo"`},
		{"an empty line between", 0, "one\r\rtwo\r\r\r|", `"one", burst "\n\ntwo" sent`},
		{"lines that end otherwise", 0, "one\r\ntwo\nthree\r\n|", `"one", burst "\ntwo\nthree" sent`},
		{"tabs", 0, "\tif x\r\t\tgo\r|", `complete, "if x", burst "\n\t\tgo" sent`},
		{"a tab in a line", 0, "a\tb\r|", `"a", burst "\tb" sent`},
		{"a tab at the end", 0, "/st\t|", `"/st", complete`},
		{"one line", 0, "one\r|", `"one", enter`},
		{"one line from elsewhere", 0, "one\r\n·two\r\n|", `"one", enter, "two", enter`},
		{"a serial line of 9600 baud", ms, "one\rtwo\rthree\r|", `"one", burst "\ntwo\nthree" sent`},
		{"a serial line of 300 baud", 33 * ms, "one\rtwo\rthree\r|", `"one", burst "\ntwo\nthree" sent`},
		{"a line that falters within a paste", 2 * ms, "one\rtwo\r·····three\r|", `"one", burst "\ntwo\nthree" sent`},
		{"a paste that comes in parts", 0, "one\rtw·o\r·three\r|", `"one", burst "\ntwo\nthree" sent`},
		{"a program with pauses", 0, "one\r·two\r·three\r|", `"one", enter, "two", enter, "three", enter`},
		{"a slow program with pauses", 5 * ms, "one\r···two\r···three\r|", `"one", enter, "two", enter, "three", enter`},
		{"commands", 0, "/mute\r/resume\rone\r|", `"/mute", enter, "/resume", enter, "one", enter`},
		{"a command, and what follows", 0, "/msg bob hi\rone\rtwo\r|", `"/msg bob hi", enter, "one", burst "\ntwo" sent`},
		{"a path is no command", 0, "/usr/bin\r/etc\r|", `"/usr/bin", burst "\n/etc" sent`},
		{"a slash in a message", 0, "//x\rone\r|", `"//x", burst "\none" sent`},
		{"what became a command", 0, "hm\x01/\rone\r|", `"hm", home, "/", burst "\none" sent`},
		{"dictation", 0, "Hello there.\r|How are you?\r|", `"Hello there.", enter, "How are you?", enter`},
		{"somebody who types", 80 * ms, "one\rtwo\r|", `"one", enter, "two", enter`},
		{"somebody whose finger rolls to Enter", 0, "s⋯e⋯v⋯e⋯n·\r⋯a⋯n⋯d|", `"seven", enter, "and"`},
		{"and who goes on with a roll", 0, "s⋯e⋯v⋯e⋯n·\r·a⋯n⋯d⋯\r|", `"seven", enter, "and", enter`},
		{"a short line by a serial line", 33 * ms, "ok\rgo\r|", `"ok", enter, "go", enter`},
		{"two hundred lines of 300 baud", 33 * ms, strings.Repeat("line\r", 200) + "|", `"line", burst "` + strings.Repeat(`\nline`, 199) + `" sent`},
		{"lines, and then somebody who types", 0, "one\rtwo\r⋯t⋯h⋯r⋯e⋯e⋯\r⋯f⋯o|", `"one", burst "\ntwo" sent, "three", enter, "fo"`},
		{"lines, and then a few letters", 0, "one\rtwo\r⋯n⋯o⋯\r|", `"one", burst "\ntwo" sent, "no", enter`},
		{"lines, and then letters with a roll", 0, "one\rtwo\r⋯s·e⋯v·e⋯n·\r|", `"one", burst "\ntwo" sent, "seven", enter`},
		{"a line that falters after a letter", 2 * ms, "one\rtwo\r·····t⋯hree and\rfour\r|", `"one", burst "\ntwo\nthree and\nfour" sent`},
		{"somebody who holds Enter", 55 * ms, "a\r\r\r|", `"a", enter, enter, enter`},
		{"Enter, and then leaving", 0, "one\r\x04|", `"one", enter, eof`},
		{"Enter, and then Escape", 0, "one\r\x1b|", `"one", enter, escape`},
		{"lines, and then leaving", 0, "one\rtwo\r\x03|", `"one", burst "\ntwo" sent, interrupt`},
		{"Enter, and then a marked paste", 0, "one\r\x1b[200~two\rthree\x1b[201~|", `"one", enter, paste "two\nthree"`},
		{"from the history", 0, "one\r\x1b[A\r|", `"one", enter, up, enter`},
		{"a line more of one's own", 0, "one\x1b\rtwo\r|", `"one", "\n", "two", enter`},
		{"too long", 0, "one\r" + strings.Repeat("x\r", earshot.MaxText) + "|", `"one", too long`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s strokes
			now := time.Unix(0, 0)
			var keys []Key
			pass := func(until time.Time) {
				for at, ok := s.deadline(); ok && !at.After(until); at, ok = s.deadline() {
					keys = append(keys, s.step(at, nil)...)
				}
				now = until
			}
			var in []byte // what arrives together
			come := func() {
				keys = append(keys, s.step(now, in)...)
				in = nil
			}
			for part := range strings.SplitSeq(tt.in, "") {
				if strings.Contains("|·⋯", part) {
					come()
				}
				switch part {
				case "|":
					pass(now.Add(time.Second))
				case "·":
					pass(now.Add(40 * ms))
				case "⋯":
					pass(now.Add(85 * ms))
				default:
					in = append(in, part...)
					if tt.every > 0 {
						come()
						pass(now.Add(tt.every))
					}
				}
			}
			if got := strings.ReplaceAll(sketch(keys), `", "`, ""); got != strings.ReplaceAll(tt.want, `", "`, "") {
				t.Errorf("decoded %s, want %s", got, tt.want)
			}
		})
	}
}
