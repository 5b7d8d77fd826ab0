package dialogue

import (
	"errors"
	"fmt"
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

// OneLine returns text as valid UTF-8 in one line, so that it can be part of a sentence.
func OneLine(text earshot.Text) earshot.Text {
	return earshot.Text(strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "\uFFFD")), " "))
}

// Tail returns the end of text, at most most bytes.
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

// Quote returns text in a form that can be part of a sentence of the program's own: it can neither
// end the sentence nor continue it.
func Quote(text earshot.Text) string {
	return `"` + strings.ReplaceAll(string(OneLine(text)), `"`, "'") + `"`
}

// QuoteEnd returns the end of a text, at most most bytes, in a form that can be part of an
// instruction by the program. An ellipsis precedes it if there is more.
func QuoteEnd(text string, most int) string {
	short := string(Tail(earshot.Text(text), most))
	if len(short) < len(text) {
		short = "…" + short
	}
	return Quote(earshot.Text(short))
}

// Beginning returns the beginning of text, at most most bytes, and an ellipsis if there is more.
func Beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Wording returns text in the form in which it may be kept: as valid UTF-8 of at most most bytes.
func Wording(text earshot.Text, most int) (earshot.Text, error) {
	if len(text) > most {
		return "", fmt.Errorf("a message of %d bytes is too long: at most %d; send it in parts", len(text), most)
	}
	text = Valid(text)
	if strings.TrimSpace(string(text)) == "" {
		return "", errors.New("an empty message says nothing")
	}
	return text, nil
}

// Valid returns text as valid UTF-8.
func Valid(text earshot.Text) earshot.Text {
	return earshot.Text(strings.ToValidUTF8(string(text), "\uFFFD"))
}
