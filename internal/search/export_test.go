package search

// A Token is a word of a text, and where it stands.
type Token struct {
	Text       string
	Start, End int
}

// Tokens returns the words of a text.
func Tokens(text string) (all []Token) {
	tokens(text, func(t token) bool {
		all = append(all, Token{t.text, t.start, t.end})
		return true
	})
	return all
}
