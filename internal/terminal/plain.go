package terminal

import "strings"

// A plainRenderer is the renderer of what is no terminal, or of one that understands
// nothing: replies one after the other. Escape sequences never appear.
type plainRenderer struct {
	named bool // replies begin with the agent's name
	apart bool // what is not a reply goes to standard error

	agent string
	open  bool       // the last row of a reply has no end yet
	began bool       // something of this reply has been shown
	gate  runeFilter // of this reply
}

func (p *plainRenderer) clone() renderer { c := *p; return &c }

func (p *plainRenderer) name(agent string) frame {
	p.agent, p.began, p.gate = agent, false, runeFilter{}
	return frame{}
}

func (p *plainRenderer) text(text string) frame {
	var f frame
	if !p.began && p.named {
		f.put(label(p.agent, 40) + ": ")
		p.open = true
	}
	p.began = true
	f.mark(0)
	for done := 0; done < len(text); {
		show, n := p.gate.fit(text[done:])
		if p.named && !p.open && show != "\n" && show != "" {
			f.put(hang)
		}
		if show != "" {
			f.put(show)
			p.open = show != "\n"
		}
		done += n
		f.mark(done)
	}
	return f
}

func (p *plainRenderer) end(mark string) frame {
	var f frame
	if p.open {
		f.put(mark + "\n")
	}
	p.open, p.began = false, false
	return f
}

func (p *plainRenderer) note(l Line) frame {
	f := frame{aside: p.apart}
	if p.open && !p.apart {
		f.put("\n")
		p.open = false
	}
	f.put(strings.ReplaceAll(Safe(l.Head+l.Text), "\n", "\n  ") + "\n")
	return f
}

// What is typed is shown by whoever it is typed into.
func (p *plainRenderer) echo(string) frame        { return frame{} }
func (p *plainRenderer) prompt(string, int) frame { return frame{} }
