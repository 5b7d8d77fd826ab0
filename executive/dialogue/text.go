package dialogue

import (
	"strings"

	"earshot"
)

// Join returns two parts of a sentence as one.
func Join(a, b earshot.Text) earshot.Text {
	if a == "" {
		return b
	}
	return a + " " + b
}

// OneLine returns text as valid UTF-8 on one line, as it stands in a sentence.
func OneLine(text earshot.Text) earshot.Text {
	return earshot.Text(strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "\uFFFD")), " "))
}

// Tail returns the end of text, in at most so many bytes.
func Tail(text earshot.Text, most int) earshot.Text {
	if len(text) <= most {
		return text
	}
	at := len(text) - most
	for at < len(text) && text[at]&0xC0 == 0x80 { // within a rune
		at++
	}
	return text[at:]
}

// Quote returns text as it stands in a sentence of the program's own: it can neither end the
// sentence nor continue it.
func Quote(text earshot.Text) string {
	return `"` + strings.ReplaceAll(string(OneLine(text)), `"`, "'") + `"`
}

// QuoteEnd returns the last most bytes of a text, at most, as they stand in an instruction of the
// program, after an ellipsis if there is more.
func QuoteEnd(text string, most int) string {
	short := string(Tail(earshot.Text(text), most))
	if len(short) < len(text) {
		short = "…" + short
	}
	return Quote(earshot.Text(short))
}

// Beginning returns the first most bytes of text, at most, and an ellipsis if there is more.
func Beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
