package console

import "strings"

// A call is that of somebody at the beginning of a text, such as "@Bob, ", where it
// stands to the left already whom the text is for: it is shown once.
type call struct{ name string } // of whom; if empty, there is none

// in returns by how many bytes text begins with the call, and whether what follows
// may belong to it.
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

// Uncalled returns text without the call of name that it may begin with. It is for
// where it is said already whom the text is for.
func Uncalled(text, name string) string {
	n, _ := call{name}.in(text)
	return text[n:]
}
