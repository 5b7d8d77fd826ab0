package tts

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// fold returns word in ASCII letters and digits, without accents, or false for a script that
// cannot be converted.
func fold(word string) (string, bool) {
	if isASCII(word) {
		return word, true
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(word) {
		switch {
		case r == '’' || r == 'ʼ':
			b.WriteByte('\'')
		case r < unicode.MaxASCII:
			if alnum(r) || r == '\'' {
				b.WriteRune(r)
			}
		case unicode.Is(unicode.Mn, r):
		case unfolded[r] != "":
			b.WriteString(unfolded[r])
		default:
			return "", false
		}
	}
	return b.String(), true
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// alnum reports whether r is a letter or a digit of ASCII.
func alnum(r rune) bool { return letter(r) || digit(r) }

func digit(r rune) bool { return r >= '0' && r <= '9' }

func letter(r rune) bool { return upper(r) || lower(r) }

func upper(r rune) bool { return r >= 'A' && r <= 'Z' }

func lower(r rune) bool { return r >= 'a' && r <= 'z' }

// inWord reports whether r is part of a word, of whatever script.
func inWord(r rune) bool {
	return alnum(r) || r > unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsMark(r) && !joiner(r) || unicode.IsNumber(r)) && symbols[r] == ""
}

// joiner reports whether r only changes how the rune before it looks.
func joiner(r rune) bool {
	return r >= 0xFE00 && r <= 0xFE0F || r == 0x200D || r == 0x20E3 || r >= 0xE0020 && r <= 0xE007F
}

// emoji reports whether r is a picture.
func emoji(r rune) bool {
	return joiner(r) || r >= 0x1F000 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF || r >= 0x2B00 && r <= 0x2BFF || r >= 0x2300 && r <= 0x23FF
}
