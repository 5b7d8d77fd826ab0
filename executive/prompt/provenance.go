package prompt

import (
	"slices"

	"earshot"
	"earshot/executive/dialogue"
	"earshot/executive/scene"
)

// A Provenance is what an agent's words, thoughts or actions rest on. Its methods return a new one,
// and change nothing.
type Provenance struct {
	Visibility earshot.Visibility // who may see all of what it rests on, and therefore the result
	Sources    []earshot.EventID  // the events with which it is erased, each once
}

// And returns p with something else that it rests on.
func (p Provenance) And(v earshot.Visibility, sources ...earshot.EventID) Provenance {
	p.Visibility = p.Visibility.And(v)
	return p.With(sources...)
}

// With returns p with more sources, which everybody who may see p knows already: its visibility
// stays.
func (p Provenance) With(sources ...earshot.EventID) Provenance {
	p.Sources = slices.Clip(p.Sources)
	for _, id := range sources {
		if id != "" && !slices.Contains(p.Sources, id) {
			p.Sources = append(p.Sources, id)
		}
	}
	return p
}

// AndLines returns p with lines of the dialogue of an agent. The agent's own lines are no sources:
// they rest on what others said.
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

// AndScene returns p with entries of the scene. The state of an agent is no source.
func (p Provenance) AndScene(items []scene.Item) Provenance {
	for _, i := range items {
		p.Visibility = p.Visibility.And(i.Visibility)
		if i.Field != scene.Agent {
			p = p.With(i.Event)
		}
	}
	return p
}
