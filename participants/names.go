package participants

import "strings"

// CheckName returns name as it is shown, or says what is wrong with it and what
// to do about it.
func CheckName(name string) (string, error) { return OneLine(name), nil }

// Key returns what two names have in common that people could take for each
// other.
func Key(name string) string { return strings.ToLower(OneLine(name)) }

// maxName is the longest name in bytes: enough for any person, too short for a
// speech.
const maxName = 64

// OneLine returns name as it may stand within a line of a prompt or a screen:
// without control characters, brackets or needless space, and not long.
func OneLine(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f || r == '\uFFFD':
			return ' '
		case r == '[' || r == ']' || r == ':':
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	name = strings.Join(strings.Fields(name), " ")
	for len(name) > maxName {
		runes := []rune(name)
		name = string(runes[:len(runes)-1])
	}
	return name
}
