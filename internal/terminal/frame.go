package terminal

// A Line is something to show that is not a reply, such as what somebody else
// wrote.
type Line struct {
	Head  string // who or what it is about, made to stand out
	Text  string
	Quiet bool // of little weight
}

// A renderer is how things look on one kind of device. It is a value: what it
// returns is written later, and if only a part of it could be, the renderer from
// before is asked again for less.
type renderer interface {
	clone() renderer

	name(agent string) frame          // a reply by agent begins with the next text
	text(text string) frame           // text goes on the reply
	end(mark string) frame            // the reply is over
	note(l Line) frame                // l stands before what comes now
	echo(text string) frame           // what was typed stands after the reply
	prompt(line string, at int) frame // what is being typed, with the cursor
}

// A frame is what one change of a renderer sends to the device.
type frame struct {
	bytes []byte
	marks []mark // ascending in both; the first is where the text begins
	aside bool   // it goes to standard error
}

// A mark says that the first text bytes of a text have been shown once the
// first out bytes of its frame have been written. What a renderer returns for
// those bytes of text alone begins with the same out bytes.
type mark struct{ out, text int }

func (f *frame) put(s string) { f.bytes = append(f.bytes, s...) }

func (f *frame) mark(text int) { f.marks = append(f.marks, mark{len(f.bytes), text}) }

// shown returns how much of the text has been shown by n bytes.
func (f *frame) shown(n int) int {
	text := 0
	for _, m := range f.marks {
		if m.out > n {
			break
		}
		text = m.text
	}
	return text
}

// upTo returns the least of the text that n bytes have begun to show.
func (f *frame) upTo(n int) int {
	for _, m := range f.marks {
		if m.out >= n {
			return m.text
		}
	}
	if len(f.marks) == 0 {
		return 0
	}
	return f.marks[len(f.marks)-1].text
}
