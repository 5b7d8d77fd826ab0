package llm

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A jsonStringReader reads a JSON string byte by byte, from after its opening quotation mark. The
// zero value is ready, and so is a reader that has reached the end of a string.
type jsonStringReader struct {
	escaped bool // after a backslash
	digits  int  // digits of an escaped character that are still to come
	unit    rune // the number so far
	high    rune // the first half of a surrogate pair
}

// step takes a byte, and adds to the text what is certain. It reports whether the string has
// ended.
func (q *jsonStringReader) step(to *[]byte, b byte) (end bool, err error) {
	switch {
	case q.digits > 0:
		return false, q.digit(to, b)
	case q.escaped:
		return false, q.escape(to, b)
	case b == '\\':
		q.escaped = true
		return false, nil
	case b < ' ':
		return false, fmt.Errorf("%w: a control character in a text", ErrCall)
	}
	q.alone(to)
	if b == '"' {
		return true, nil
	}
	*to = append(*to, b)
	return false, nil
}

// escape handles the byte after a backslash.
func (q *jsonStringReader) escape(to *[]byte, b byte) error {
	q.escaped = false
	if b == 'u' {
		q.digits, q.unit = 4, 0
		return nil
	}
	i := strings.IndexByte(`"\/bfnrt`, b)
	if i < 0 {
		return fmt.Errorf("%w: a backslash in a text escapes nothing", ErrCall)
	}
	q.alone(to)
	*to = append(*to, "\"\\/\b\f\n\r\t"[i])
	return nil
}

// digit handles a digit of an escaped character.
func (q *jsonStringReader) digit(to *[]byte, b byte) error {
	n := strings.IndexByte("0123456789abcdefABCDEF", b)
	if n < 0 {
		return fmt.Errorf("%w: an escaped character in a text has no number", ErrCall)
	}
	if n > 15 {
		n -= 6
	}
	q.unit = q.unit<<4 | rune(n)
	if q.digits--; q.digits > 0 {
		return nil
	}
	if whole := utf16.DecodeRune(q.high, q.unit); whole != utf8.RuneError {
		q.high = 0
		*to = utf8.AppendRune(*to, whole)
		return nil
	}
	q.alone(to)
	if q.unit >= 0xd800 && q.unit < 0xdc00 {
		q.high = q.unit
		return nil
	}
	*to = utf8.AppendRune(*to, q.unit)
	return nil
}

// alone gives up waiting for the second half of a surrogate pair.
func (q *jsonStringReader) alone(to *[]byte) {
	if q.high != 0 {
		q.high = 0
		*to = utf8.AppendRune(*to, utf8.RuneError)
	}
}

// A jsonObjectReader reads a JSON object byte by byte. Whether it is valid is known at its end.
type jsonObjectReader struct {
	data     []byte
	depth    int
	inString bool
	escaped  bool
}

// step takes a byte, and reports whether it is the last.
func (n *jsonObjectReader) step(b byte) (end bool) {
	n.data = append(n.data, b)
	switch {
	case n.escaped:
		n.escaped = false
	case n.inString && b == '\\':
		n.escaped = true
	case b == '"':
		n.inString = !n.inString
	case n.inString:
	case b == '{' || b == '[':
		n.depth++
	case b == '}' || b == ']':
		n.depth--
	}
	return n.depth == 0
}
