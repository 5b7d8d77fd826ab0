package console

import "strings"

// callIn returns how many bytes of text the call of a name takes with which it may begin, such as
// "@Bob, ", and whether it may continue in the text that follows.
func callIn(text, name string) (n int, open bool) {
	at := "@" + name
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
	n, _ := callIn(text, name)
	return text[n:]
}
