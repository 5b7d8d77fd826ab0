package postgres

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// A statement is one statement in the language of PostgreSQL, and which of the caller's arguments it
// takes, in its order.
type statement struct {
	text string
	args []int
}

// words are the words of SQLite that PostgreSQL has others for. What the dialect has as functions
// stands in dialect.sql.
var words = strings.NewReplacer(") STRICT, WITHOUT ROWID", ")", ") STRICT", ")", " INTEGER", " BIGINT", " BLOB", " BYTEA", "CROSS JOIN", "JOIN", " NOT INDEXED", "", " INDEXED BY journal_kind", "")

// maxTranslations is how many translations are kept. The store has fewer statements that do not depend
// on what is asked.
const maxTranslations = 1024

// A translator translates statements, each once. It is safe for concurrent use.
type translator struct {
	mu   sync.Mutex
	kept map[string][]statement // by the types of the arguments and the text
}

// translate returns the statements in a text, for these arguments.
func (t *translator) translate(text string, args []driver.NamedValue) ([]statement, error) {
	var key strings.Builder
	for _, a := range args {
		key.WriteByte("?nisfb"[kindOf(a.Value)])
	}
	key.WriteByte(' ')
	key.WriteString(text)
	t.mu.Lock()
	found, ok := t.kept[key.String()]
	t.mu.Unlock()
	if ok {
		return found, nil
	}
	found, err := translate(text, args)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.kept) < maxTranslations {
		t.kept[key.String()] = found
	}
	return found, nil
}

// The kinds of values, and what PostgreSQL calls their types. A value whose type is not said would get
// it from its first use, which may be the wrong one.
const (
	kindOther = iota
	kindNull
	kindInteger // a boolean too, as SQLite has them
	kindText
	kindReal
	kindBytes
)

var types = [...]string{kindInteger: "bigint", kindText: "text", kindReal: "double precision", kindBytes: "bytea"}

func kindOf(value any) int {
	switch value.(type) {
	case nil:
		return kindNull
	case int64, bool:
		return kindInteger
	case string:
		return kindText
	case float64:
		return kindReal
	case []byte:
		return kindBytes
	}
	return kindOther
}

// translate is [translator.translate] without memory.
func translate(text string, args []driver.NamedValue) (all []statement, err error) {
	var s statement
	var out, plain strings.Builder
	last := 0 // the number of the last parameter of this statement
	keep := func() {
		out.WriteString(words.Replace(plain.String()))
		plain.Reset()
	}
	end := func() {
		keep()
		if s.text = strings.TrimSpace(out.String()); s.text != "" {
			all = append(all, s)
		}
		s, last = statement{}, 0
		out.Reset()
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'' || c == '"':
			n := strings.IndexByte(text[i+1:], c)
			if n < 0 {
				return nil, fmt.Errorf("a statement has an open %c", c)
			}
			if p := plain.String(); c == '\'' && strings.HasSuffix(p, " x") { // bytes, of which ours have none
				plain.Reset()
				plain.WriteString(strings.TrimSuffix(p, "x"))
			}
			keep()
			out.WriteString(text[i : i+n+2])
			i += n + 2
		case strings.HasPrefix(text[i:], "--"):
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				n = len(text) - i
			}
			i += n
		case c == ';':
			end()
			i++
		case strings.HasPrefix(text[i:], "@@"): // an operator of PostgreSQL
			plain.WriteString("@@")
			i += 2
		case c == '?' || c == '@':
			n := 1
			for i+n < len(text) && isNameByte(text[i+n], c == '@') {
				n++
			}
			at, err := argument(text[i:i+n], args, &last)
			if err != nil {
				return nil, err
			}
			plain.WriteString(s.parameter(at, args))
			i += n
		default:
			plain.WriteByte(c)
			i++
		}
	}
	end()
	return all, nil
}

func isNameByte(c byte, letters bool) bool {
	return c >= '0' && c <= '9' || letters && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_')
}

// argument returns which argument a parameter of SQLite stands for: "?" for the one after the last,
// "?2" for the second, and "@name" for the one with that name.
func argument(parameter string, args []driver.NamedValue, last *int) (int, error) {
	if name, is := strings.CutPrefix(parameter, "@"); is {
		for i, a := range args {
			if a.Name == name && name != "" {
				return i, nil
			}
		}
		return 0, fmt.Errorf("a statement has no argument for %s", parameter)
	}
	n := *last + 1
	if parameter != "?" {
		n, _ = strconv.Atoi(parameter[1:])
	}
	if n < 1 || n > len(args) {
		return 0, fmt.Errorf("a statement has %d arguments, and none for %s", len(args), parameter)
	}
	*last = max(*last, n)
	return n - 1, nil
}

// parameter returns a parameter of PostgreSQL for an argument.
func (s *statement) parameter(at int, args []driver.NamedValue) string {
	kind := kindOf(args[at].Value)
	if kind == kindNull { // which fits any type
		return "NULL"
	}
	n := 0
	for n < len(s.args) && s.args[n] != at {
		n++
	}
	if n == len(s.args) {
		s.args = append(s.args, at)
	}
	text := "$" + strconv.Itoa(n+1)
	if types[min(kind, len(types)-1)] != "" {
		text += "::" + types[kind]
	}
	return text
}

// values returns the arguments of a statement as PostgreSQL takes them. Its texts have no zero byte and
// are UTF-8; ours are too, except in names that somebody made up.
func (s statement) values(args []driver.NamedValue) []any {
	all := make([]any, len(s.args))
	for i, at := range s.args {
		switch v := args[at].Value.(type) {
		case bool:
			all[i] = int64(0)
			if v {
				all[i] = int64(1)
			}
		case string:
			all[i] = strings.ToValidUTF8(strings.ReplaceAll(v, "\x00", "\ufffd"), "\ufffd")
		default:
			all[i] = v
		}
	}
	return all
}
