package model

import (
	"strings"

	"earshot"
	"earshot/api"
)

// A Printer puts events into words, one line each, with all that is known about them by then.
type Printer struct {
	past  *transcript
	marks marks
}

// NewPrinter returns a Printer that knows nobody.
func NewPrinter(ascii bool) *Printer {
	p := &Printer{past: newTranscript(newDirectory()), marks: unicodeMarks}
	if ascii {
		p.marks = asciiMarks
	}
	return p
}

// Know updates who exists.
func (p *Printer) Know(h api.Status) { p.past.knows(h) }

// Call updates the names of some participants.
func (p *Printer) Call(names Names) { p.past.learn(names) }

// Add records an event without printing it, so that what is said about the event has a subject.
func (p *Printer) Add(e earshot.Event) { p.past.add(e) }

// Line adds an event, and returns its line; empty if the event changes only what others are.
func (p *Printer) Line(e earshot.Event) string {
	had := p.past.next // counted by key, since the number of entries is bounded
	p.past.add(e)
	var r row
	if d, is := e.Body.(earshot.Decision); is {
		about := "by itself: "
		if of := p.past.by[d.About]; of != nil {
			about = "about " + p.marks.name(p.past.name(of.event.Author)) + " " + p.past.opening(p.marks, of, 60) + ": "
		}
		r = p.past.verdict(p.marks, d, about)
	} else if p.past.next > had {
		text, notes := p.past.tell(p.marks, p.past.all[len(p.past.all)-1])
		r = text
		for _, note := range notes {
			r = append(append(r, span{plain, " | "}), note...)
		}
	} else {
		return ""
	}
	return e.At.Local().Format("2006-01-02 15:04:05 ") + strings.ReplaceAll(r.text(), "\n", " / ") + "\n"
}
