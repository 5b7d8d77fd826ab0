package terminal

// A Key is what one stroke on the keyboard, or one paste, means.
type Key struct {
	Does Stroke
	Text string // what to insert, for Insert, Paste and Burst; valid UTF-8
	Over bool   // a paste that was longer than any line may be; Text is empty
	Send bool   // a burst that ended with Enter
}

// A Stroke is what a key does to the line.
type Stroke string

// The strokes.
const (
	Insert    Stroke = "insert"
	Paste     Stroke = "paste"
	Burst     Stroke = "burst" // a paste that the terminal did not mark, from the end of its first line on
	Enter     Stroke = "enter"
	Rubout    Stroke = "rubout" // the one before the cursor
	Delete    Stroke = "delete" // the one under the cursor
	Left      Stroke = "left"
	Right     Stroke = "right"
	WordLeft  Stroke = "word left"
	WordRight Stroke = "word right"
	Home      Stroke = "home"
	End       Stroke = "end"
	Up        Stroke = "up"
	Down      Stroke = "down"
	KillLine  Stroke = "kill line" // all before the cursor
	KillEnd   Stroke = "kill end"  // all from the cursor on
	KillWord  Stroke = "kill word"
	Yank      Stroke = "yank"
	Interrupt Stroke = "interrupt" // ^C
	EOF       Stroke = "eof"       // ^D
	Clear     Stroke = "clear"     // ^L
	Suspend   Stroke = "suspend"   // ^Z
	Complete  Stroke = "complete"  // Tab
	Search    Stroke = "search"    // ^R
	Escape    Stroke = "escape"    // the key alone, or ^G
	Unknown   Stroke = "unknown"   // a key that does nothing here
)

// control is what the control characters mean.
var control = map[byte]Stroke{
	0x01: Home, 0x02: Left, 0x03: Interrupt, 0x04: EOF, 0x05: End, 0x06: Right,
	0x07: Escape, 0x08: Rubout, '\t': Complete, '\n': Enter, 0x0b: KillEnd, 0x0c: Clear, '\r': Enter,
	0x0e: Down, 0x10: Up, 0x12: Search, 0x15: KillLine, 0x17: KillWord, 0x19: Yank,
	0x1a: Suspend, 0x7f: Rubout,
}

// final is what the last byte of a CSI or SS3 sequence means.
var final = map[byte]Stroke{
	'A': Up, 'B': Down, 'C': Right, 'D': Left, 'F': End, 'H': Home,
}

// tilde is what the first number of a sequence that ends in ~ means.
var tilde = map[string]Stroke{
	"1": Home, "3": Delete, "4": End, "7": Home, "8": End,
}

// alt is what a key means when Alt is held.
var alt = map[byte]Stroke{
	'b': WordLeft, 'f': WordRight, 0x7f: KillWord, 0x08: KillWord,
}
