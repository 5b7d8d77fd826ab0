package llm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"earshot/llm"
)

// A piece is one piece of a call.
type piece struct {
	number              int
	id, tool, arguments string
}

// together adds pieces, and returns the calls that they make, or the error.
func together(pieces []piece, truncated bool) string {
	var c llm.Calls
	for _, p := range pieces {
		if err := c.Add(p.number, p.id, p.tool, p.arguments); err != nil {
			return told(err)
		}
	}
	deltas, err := c.End(truncated)
	if err != nil {
		return told(err)
	}
	var all []string
	for _, d := range deltas {
		all = append(all, fmt.Sprintf("%s %s(%s)", d.Call.ID, d.Call.Tool, d.Call.Arguments))
	}
	return strings.Join(all, ", ")
}

// told returns the text of err, which must be an ErrCall.
func told(err error) string {
	if !errors.Is(err, llm.ErrCall) {
		return "another error: " + err.Error()
	}
	return strings.TrimPrefix(err.Error(), llm.ErrCall.Error()+": ")
}

func TestCalls(t *testing.T) {
	many := make([]piece, 33)
	for i := range many {
		many[i] = piece{i, "", "note", "{}"}
	}
	for _, tt := range []struct {
		name      string
		pieces    []piece
		truncated bool
		want      string
	}{
		{"none", nil, false, ""},
		{"whole", []piece{{0, "a", "note", ` { "text" : "x" } `}}, false, `a note({"text":"x"})`},
		{"in pieces", []piece{{0, "a", "note", ""}, {0, "", "", `{"te`}, {0, "", "", `xt":1}`}}, false, `a note({"text":1})`},
		{"two at once", []piece{{0, "a", "note", "{"}, {1, "b", "list", "{"}, {0, "", "", "}"}, {1, "", "", "}"}}, false, "a note({}), b list({})"},
		{"all numbered with 0", []piece{{0, "a", "note", "{}"}, {0, "b", "list", "{}"}}, false, "a note({}), b list({})"},
		{"the ID again in each piece", []piece{{0, "a", "note", "{"}, {0, "a", "note", "}"}}, false, "a note({})"},
		{"odd numbers", []piece{{7, "a", "note", "{}"}, {-3, "b", "list", "{}"}}, false, "a note({}), b list({})"},
		{"no ID, one ID twice, one too long", []piece{{0, "", "note", ""}, {1, "call_1", "note", ""}, {2, "call_3", "note", ""}, {3, "call_3", "note", ""}, {4, strings.Repeat("x", 65), "note", ""}},
			false, "call_1 note({}), call_2 note({}), call_3 note({}), call_4 note({}), call_5 note({})"},
		{"nothing for arguments", []piece{{0, "a", "note", ""}, {1, "b", "note", "null"}}, false, "a note({}), b note({})"},
		{"nothing yet", []piece{{0, "a", "note", ""}, {1, "b", "note", ""}}, true, "a note({}), b note()"},
		{"half an object", []piece{{0, "a", "note", `{"text":"x`}}, true, "a note()"},
		{"a whole one, and truncated then", []piece{{0, "a", "note", `{}`}}, true, "a note({})"},
		{"no object", []piece{{0, "a", "note", `[1]`}, {1, "b", "note", `"{}"`}, {2, "c", "note", `{} {}`}}, false, "a note(), b note(), c note()"},
		{"no UTF-8", []piece{{0, "a", "no\xffte", "{\"a\":\"\xc3"}, {0, "", "", "\xa4\xff\"}"}}, false, "a no\ufffdte({\"a\":\"ä\ufffd\"})"},
		{"no such tool", []piece{{0, "a", "rm -rf", "{}"}}, false, "a rm -rf({})"},
		{"no name", []piece{{0, "a", "", "{}"}}, false, "a call without the name of a tool"},
		{"a name without end", []piece{{0, "a", strings.Repeat("x", 65), "{}"}}, false, "a call without the name of a tool"},
		{"too many", many, false, "more than 32 calls"},
		{"too much", []piece{{0, "a", "note", strings.Repeat(" ", 60<<10)}, {0, "", "", strings.Repeat(" ", 5<<10)}}, false, "arguments of more than 65536 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := together(tt.pieces, tt.truncated); got != tt.want {
				t.Errorf("comes to\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestCallsAreSound: whatever a server sends, each call has an ID of its own and a name, and its
// arguments are an object or nothing.
func TestCallsAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c llm.Calls
		var err error
		for range rapid.IntRange(0, 20).Draw(t, "pieces") {
			err = errors.Join(err, c.Add(rapid.IntRange(-1, 3).Draw(t, "number"),
				rapid.SampledFrom([]string{"", "call_1", "call_2", "x"}).Draw(t, "id"),
				rapid.SampledFrom([]string{"", "note", "\xff"}).Draw(t, "tool"),
				rapid.SampledFrom([]string{"", "{", "}", `"a":`, "1", "{}", "[", "\xff"}).Draw(t, "arguments")))
		}
		deltas, failed := c.End(rapid.Bool().Draw(t, "truncated"))
		if err = errors.Join(err, failed); err != nil {
			if !errors.Is(err, llm.ErrCall) || failed != nil && deltas != nil {
				t.Errorf("fails with %v, and %v", err, deltas)
			}
			return
		}
		ids := make(map[string]bool)
		for _, d := range deltas {
			if ids[d.Call.ID] || d.Call.ID == "" || d.Call.Tool == "" || !utf8.ValidString(d.Call.Tool) {
				t.Errorf("call %+v", d.Call)
			}
			if a := d.Call.Arguments; a != nil && (!json.Valid(a) || a[0] != '{') {
				t.Errorf("arguments %s", a)
			}
			ids[d.Call.ID] = true
		}
	})
}
