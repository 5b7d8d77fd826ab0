package dialogue

import (
	"errors"
	"fmt"
	"strings"

	"earshot"
)

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
