package main

import (
	"earshot/internal/terminal"
)

// connection says on a terminal that the connection was lost, or is back.
func connection(t *terminal.Terminal) func(lost bool) {
	return func(lost bool) {
		if lost {
			t.Hear("", terminal.Line{}) // nobody says what becomes of it
			t.Note(terminal.Line{Head: "! ", Text: "the connection to earshot was lost; what you write will be sent when it is back (/exit leaves)"})
			return
		}
		t.Note(terminal.Line{Text: "earshot is back", Quiet: true})
	}
}
