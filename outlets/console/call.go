package console

import "strings"

// A call is a name at the beginning of a text, such as "@Bob, ". It is removed where the recipient
// is already shown at the left.
type call struct{ name string } // the recipient; if empty, there is no call

// in returns how many bytes of text the call takes, and whether it may continue in the text that
// follows.
func (c call) in(text string) (n int, open bool) {
	at := "@" + c.name
	if len(text) <= len(at) {
		return 0, strings.EqualFold(text, at[:len(text)])
	}
	if !strings.EqualFold(text[:len(at)], at) || text[len(at)] != ',' && text[len(at)] != ':' {
		return 0, false
	}
	rest := strings.TrimLeft(text[len(at)+1:], " \t")
	return len(text) - len(rest), rest == ""
}

// Uncalled returns text without the call of name with which it may begin. Use it where the
// recipient is already shown.
func Uncalled(text, name string) string {
	n, _ := call{name}.in(text)
	return text[n:]
}
