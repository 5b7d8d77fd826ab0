package prompt

import (
	"slices"

	"earshot"
	"earshot/executive/dialogue"
	"earshot/executive/scene"
)

// A Provenance is what something rests on that an agent says, thinks or does. Its methods return
// another one, and change nothing.
type Provenance struct {
	Visibility earshot.Visibility // who may see all of what it rests on, and so it
	Sources    []earshot.EventID  // with which it is erased, each once
}

// And returns p with something more that it rests on.
func (p Provenance) And(v earshot.Visibility, sources ...earshot.EventID) Provenance {
	p.Visibility = p.Visibility.And(v)
	return p.With(sources...)
}

// With returns p with more sources, which whoever may see it knows already.
func (p Provenance) With(sources ...earshot.EventID) Provenance {
	p.Sources = slices.Clip(p.Sources)
	for _, id := range sources {
		if id != "" && !slices.Contains(p.Sources, id) {
			p.Sources = append(p.Sources, id)
		}
	}
	return p
}

// AndLines returns p with lines of the dialogue of an agent. What the agent said itself is no
// source: it rests on what others said.
func (p Provenance) AndLines(lines []dialogue.Line, agent earshot.ParticipantID) Provenance {
	for _, l := range lines {
		p.Visibility = p.Visibility.And(l.Visibility)
		if l.Author != agent && !l.Announces {
			p = p.With(l.Event)
		}
		for _, m := range l.Mends {
			p = p.With(m.Edit)
		}
		if c := l.Quoted; c != nil {
			p.Visibility = p.Visibility.And(c.Visibility)
			if c.By != agent {
				p = p.With(c.Event)
			}
		}
	}
	return p
}

// AndScene returns p with what is going on. How an agent itself is, is no source.
func (p Provenance) AndScene(items []scene.Item) Provenance {
	for _, i := range items {
		p.Visibility = p.Visibility.And(i.Visibility)
		if i.Field != scene.Agent {
			p = p.With(i.Event)
		}
	}
	return p
}
