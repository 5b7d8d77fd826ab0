package postgres

import (
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"earshot/internal/lazyregexp"
)

// A statement is one statement in the language of PostgreSQL, and which of the caller's arguments it
// takes, in its order.
type statement struct {
	text  string
	args  []int
	name  string // by which a server prepares it; empty if it is not kept there
	known bool   // by the server
}

// words are the words of SQLite that PostgreSQL has others for. What the dialect has as functions
// stands in dialect.sql.
var words = strings.NewReplacer(") STRICT, WITHOUT ROWID", ")", ") STRICT", ")", " INTEGER", " BIGINT", " BLOB", " BYTEA", "CROSS JOIN", "JOIN", " NOT INDEXED", "", " INDEXED BY journal_kind", "")

// token finds what is not translated by its words: something in quotes, a comment, an operator of
// PostgreSQL, a parameter, and the end of a statement.
var token = lazyregexp.New(`'[^']*'|"[^"]*"|--[^\n]*|@@|[?@]\w*|;`)

// translate returns the statements in a text, for arguments of these types.
func translate(text string, args []driver.NamedValue, types []string) (all []*statement, err error) {
	s := new(statement)
	var out strings.Builder
	read, last := 0, 0 // up to where the text was read; the number of the last parameter of this statement
	for _, at := range append(token.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		plain, found := text[read:at[0]], text[at[0]:at[1]]
		read = at[1]
		if strings.HasPrefix(found, "'") && strings.HasSuffix(plain, " x") { // bytes, which are empty where we use them
			plain = plain[:len(plain)-1]
		}
		out.WriteString(words.Replace(plain))
		switch {
		case found == ";" || found == "":
			if s.text = strings.TrimSpace(out.String()); s.text != "" {
				all = append(all, s)
			}
			s, last = new(statement), 0
			out.Reset()
		case strings.HasPrefix(found, "--"):
		case found != "@@" && strings.ContainsAny(found[:1], "?@"):
			n, err := argument(found, args, &last)
			if err != nil {
				return nil, err
			}
			out.WriteString(s.parameter(n, types[n]))
		default:
			out.WriteString(found)
		}
	}
	return all, nil
}

// argument returns which argument a parameter of SQLite stands for: "?" for the one after the last,
// "?2" for the second, and "@name" for the one with that name.
func argument(parameter string, args []driver.NamedValue, last *int) (int, error) {
	n := *last + 1
	if name, is := strings.CutPrefix(parameter, "@"); is {
		for n = len(args); n > 0 && (name == "" || args[n-1].Name != name); n-- {
		}
	} else if parameter != "?" {
		n, _ = strconv.Atoi(parameter[1:])
	}
	if n < 1 || n > len(args) {
		return 0, fmt.Errorf("a statement has %d arguments, and none for %s", len(args), parameter)
	}
	*last = max(*last, n)
	return n - 1, nil
}

// parameter returns a parameter of PostgreSQL for an argument. A value whose type is not said would get it
// from its first use, which may be the wrong one; NULL fits any type.
func (s *statement) parameter(at int, as string) string {
	if as == "NULL" {
		return as
	}
	n := 0
	for n < len(s.args) && s.args[n] != at {
		n++
	}
	if n == len(s.args) {
		s.args = append(s.args, at)
	}
	return "$" + strconv.Itoa(n+1) + "::" + as
}

// encode returns the value of an argument as PostgreSQL reads it, and its type. Booleans are integers,
// as in SQLite. A text has no zero byte and is UTF-8 there; ours are too, except in names that
// somebody made up.
func encode(value any) ([]byte, string) {
	switch v := value.(type) {
	case nil:
		return nil, "NULL"
	case bool:
		if v {
			return []byte("1"), "bigint"
		}
		return []byte("0"), "bigint"
	case int64:
		return strconv.AppendInt(nil, v, 10), "bigint"
	case float64:
		return strconv.AppendFloat(nil, v, 'g', -1, 64), "double precision"
	case []byte:
		return hex.AppendEncode([]byte(`\x`), v), "bytea"
	}
	text, _ := value.(string) // which is all that is left of what our statements are given
	return []byte(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\ufffd"), "\ufffd")), "text"
}

// decode returns a value of a result, which has one of PostgreSQL's types, by its number in pg_type.
func decode(as uint32, value []byte) (any, error) {
	switch {
	case value == nil:
		return nil, nil
	case as == 16 && len(value) == 1: // bool
		return value[0] != 0, nil
	case as == 20 && len(value) == 8: // int8
		return int64(binary.BigEndian.Uint64(value)), nil
	case as == 23 && len(value) == 4: // int4
		return int64(int32(binary.BigEndian.Uint32(value))), nil
	case as == 17: // bytea
		return value, nil
	case as == 19 || as == 25: // name, text
		return string(value), nil
	}
	return nil, fmt.Errorf("a value of PostgreSQL's type %d, which no statement of ours yields", as)
}
