package search

// A Token is a word and its position in the text.
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
