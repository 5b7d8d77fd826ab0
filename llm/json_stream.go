package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A jsonStringReader reads a JSON string byte by byte, from after its opening quotation mark. The
// zero value is ready, and so is a reader that has reached the end of a string.
type jsonStringReader struct {
	half   []byte // the first half of a surrogate pair, as it is escaped
	escape []byte // an escape that is not complete
}

// step takes a byte, and adds to the text what is certain. It reports whether the string has
// ended.
func (q *jsonStringReader) step(to *[]byte, b byte) (end bool, err error) {
	switch {
	case len(q.escape) > 0 || b == '\\':
		q.escape = append(q.escape, b)
		return false, q.escaped(to)
	case b < ' ':
		return false, fmt.Errorf("%w: a control character in a text", ErrCall)
	}
	if q.half != nil {
		q.give(to, nil)
	}
	if b == '"' {
		return true, nil
	}
	*to = append(*to, b)
	return false, nil
}

// escaped handles an escape with its last byte.
func (q *jsonStringReader) escaped(to *[]byte) error {
	n := len(q.escape)
	switch last := q.escape[n-1]; {
	case n == 1:
		return nil
	case n == 2 && strings.IndexByte(`"\/bfnrtu`, last) < 0:
		return fmt.Errorf("%w: a backslash in a text escapes nothing", ErrCall)
	case n > 2 && strings.IndexByte("0123456789abcdefABCDEF", last) < 0:
		return fmt.Errorf("%w: an escaped character in a text has no number", ErrCall)
	case q.escape[1] == 'u' && n < len(`\u0000`):
		return nil
	}
	whole := q.escape
	q.escape = nil
	if number, _ := strconv.ParseUint(string(whole[2:]), 16, 16); number >= 0xd800 && number < 0xdc00 {
		if q.half != nil {
			q.give(to, nil)
		}
		q.half = whole
		return nil
	}
	q.give(to, whole)
	return nil
}

// give adds what an escape says, or both halves of a surrogate pair. A half that is alone says
// U+FFFD.
func (q *jsonStringReader) give(to *[]byte, escape []byte) {
	var text string
	quoted := slices.Concat([]byte{'"'}, q.half, escape, []byte{'"'})
	_ = json.Unmarshal(quoted, &text) // it was checked byte by byte
	*to = append(*to, text...)
	q.half = nil
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
