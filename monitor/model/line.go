package model

import (
	"strings"

	"earshot"
	"earshot/internal/search"
	"earshot/internal/terminal"
)

// A purpose is the reason for which a line is written.
type purpose int

const (
	nothing purpose = iota
	chat
	seeking
	filtering
	jump
)

// A line is the text being written in the last row.
type line struct {
	editor terminal.Editor
	chats  terminal.Editor // its history holds what was said
	is     purpose
	typing bool // the room was told that somebody is typing
}

func (l *line) open() bool { return l.is != nothing }

func (l *line) begin(is purpose) {
	l.is = is
	if is != chat {
		l.editor = terminal.Editor{}
	}
}

// in returns the active editor.
func (l *line) in() *terminal.Editor {
	if l.is == chat {
		return &l.chats
	}
	return &l.editor
}

// prompts precede the line.
var prompts = map[purpose]string{chat: "say: ", seeking: "search: ", filtering: "show only: ", jump: "go to time: "}

// hints are shown in an empty line.
var hints = map[purpose]string{
	chat:      "text, or /command; Enter sends, Esc leaves",
	seeking:   "words, tid*, \"high tide\", from:NAME, on:DAY; Enter looks upwards, then n and N",
	filtering: "names, private, said voice replies thoughts tools edits sights …; empty shows all",
	jump:      "14:05, yesterday 14:05, 2026-11-22 14:05",
}

// strokes are the editing keys of a line.
var strokes = map[string]terminal.Stroke{
	"backspace": terminal.Rubout, "ctrl+h": terminal.Rubout, "delete": terminal.Delete, "left": terminal.Left, "right": terminal.Right,
	"ctrl+b": terminal.Left, "ctrl+f": terminal.Right, "alt+left": terminal.WordLeft, "alt+right": terminal.WordRight,
	"ctrl+left": terminal.WordLeft, "ctrl+right": terminal.WordRight, "alt+b": terminal.WordLeft, "alt+f": terminal.WordRight,
	"home": terminal.Home, "end": terminal.End, "ctrl+a": terminal.Home, "ctrl+e": terminal.End, "up": terminal.Up, "down": terminal.Down,
	"ctrl+u": terminal.KillLine, "ctrl+k": terminal.KillEnd, "ctrl+w": terminal.KillWord, "alt+backspace": terminal.KillWord, "ctrl+y": terminal.Yank,
}

// write handles a key in a line.
func (m *Model) write(k Key) []Effect {
	in := m.line.in()
	switch {
	case k.Name == "esc":
		return m.leave()
	case k.Name == "enter":
		return m.sends()
	case k.Name == "pgup" || k.Name == "pgdown":
		return m.moves(k.Name)
	case k.Name == "paste":
		if !in.Step(terminal.Key{Does: terminal.Paste, Text: k.Text}) {
			m.said = "that is too long for one message"
		}
	case strokes[k.Name] != "":
		in.Step(terminal.Key{Does: strokes[k.Name]})
	case k.Text != "":
		if !in.Step(terminal.Key{Does: terminal.Insert, Text: k.Text}) {
			m.said = "the line is full"
		}
	}
	return m.typed()
}

// typed tells the room when somebody begins to write to it, and when they stop without sending.
func (m *Model) typed() []Effect {
	if m.line.is != chat {
		return nil
	}
	text := m.line.chats.Text()
	order, is := earshot.Typed(text).(earshot.Command)
	talks := text != "" && (!is || strings.EqualFold(order.Name, "msg") || strings.EqualFold(order.Name, earshot.OwnWords))
	if talks == m.line.typing {
		return nil
	}
	m.line.typing = talks
	return []Effect{Emit{earshot.Typing{Began: talks}}}
}

// leave closes the line.
func (m *Model) leave() (effects []Effect) {
	if m.line.is == chat {
		m.line.chats.Drop()
		effects = m.typed()
	}
	m.line.is = nothing
	return effects
}

// sends acts on the finished line.
func (m *Model) sends() []Effect {
	is := m.line.is
	text := m.line.in().Take()
	if is == chat {
		return m.says(text)
	}
	m.line.is = nothing
	switch text = strings.TrimSpace(text); is {
	case seeking:
		if m.sought = ""; text == "" {
			return nil
		}
		var err error
		if m.query, err = search.Parse(text, m.at); err != nil {
			m.said = err.Error()
			return nil
		}
		m.meant(m.query.From)
		m.sought = text
		return m.seek(text, -1)
	case filtering:
		m.filter = parseFilter(text)
		m.follows()
	case jump:
		return m.jumps(text)
	}
	return nil
}

// says sends a line to the room, and follows the transcript so that the answer is seen.
func (m *Model) says(text string) []Effect {
	typing := m.line.typing
	m.line.typing = false
	m.follows()
	over := func(more ...Effect) []Effect {
		if typing {
			return append([]Effect{Emit{earshot.Typing{}}}, more...)
		}
		return more
	}
	body := earshot.Typed(text)
	order, is := body.(earshot.Command)
	order.Name = strings.ToLower(order.Name)
	switch {
	case strings.TrimSpace(text) == "":
		m.line.is = nothing
		return over()
	case !is:
		return []Effect{Emit{body}}
	case order.Name == "exit", order.Name == "quit":
		m.line.is = nothing
		return over()
	case order.Name == "":
		m.said = "a command needs a name, such as /help; to begin a text with a slash, write //"
		return over()
	}
	return over(Emit{order})
}
