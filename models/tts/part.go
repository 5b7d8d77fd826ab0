package tts

import (
	"iter"
	"strings"
)

// longestPart is how many bytes are said at once. A voice processes all of them before its first
// sound, for a time that grows with their square: two sentences take it 100 ms, and a page some
// seconds.
const longestPart = 200

// parts yields a text in parts that are short enough, each with its position. It divides at the
// end of a sentence if possible, else at a pause, else between words.
func parts(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for at := 0; at < len(text); {
			n := len(text) - at
			if n > longestPart {
				n = division(text[at : at+longestPart])
			}
			if !yield(at, text[at:at+n]) {
				return
			}
			at += n
		}
	}
}

// division returns where a text that goes on is best divided.
func division(text string) int {
	for _, ends := range []string{".!?", ",;:", ""} {
		for i := len(text) - 1; i > 0; i-- {
			if text[i] == ' ' && (ends == "" || strings.IndexByte(ends, text[i-1]) >= 0) {
				return i + 1
			}
		}
	}
	return len(text)
}
