package llm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"earshot/llm"
)

// A chosen is the outcome of one reply.
type chosen struct {
	text, thinking, call string
	truncated, done      bool
	err                  string
}

// choose reads a reply that comes in those pieces.
func choose(t testing.TB, truncated bool, pieces ...string) (got chosen) {
	t.Helper()
	var c llm.ToolChoiceReader
	var deltas []llm.Delta
	for i := range len(pieces) + 1 {
		d := llm.Delta{Done: &llm.Done{Truncated: truncated}}
		if i < len(pieces) {
			d = llm.Delta{Text: pieces[i]}
		}
		more, err := c.Next(d)
		deltas = append(deltas, more...) // more is valid only until the next call
		if err != nil {
			got.err = told(err)
			break
		}
	}
	for _, d := range deltas {
		if got.call != "" && (d.Text != "" || d.Thinking != "") || got.done {
			t.Errorf("goes on after its calls, or its end: %+v", d)
		}
		if !utf8.ValidString(d.Text) || !utf8.ValidString(d.Thinking) {
			t.Errorf("half a rune: %+v", d)
		}
		got.text, got.thinking = got.text+d.Text, got.thinking+d.Thinking
		if d.Call != nil {
			got.call += fmt.Sprintf("%s %s(%s)", d.Call.ID, d.Call.Tool, d.Call.Arguments)
		}
		if d.Done != nil {
			got.done, got.truncated = true, d.Done.Truncated
		}
	}
	return got
}

func TestChoice(t *testing.T) {
	const early, none = "the choice ended too early", "it chooses none of the tools"
	for _, tt := range []struct {
		name, reply string
		want        chosen // done is set unless there is an error
	}{
		{"says", `{"say": "Hello."}`, chosen{text: "Hello."}},
		{"says nothing", `{"say":""}`, chosen{}},
		{"says what needs care", `{"say":"a\"b\\c\/d\n\t\b\f\r\u00e4\ud83e\udd9c {}]"}`, chosen{text: "a\"b\\c/d\n\t\b\f\rä🦜 {}]"}},
		{"halves of runes", `{"say":"\ud83e\ud83e\udd9c\udd9c\ud83ea\ud83e\n\ud83e\u0041\ud83e"}`, chosen{text: "\ufffd🦜\ufffd\ufffda\ufffd\n\ufffdA\ufffd"}},
		{"with space everywhere", " \n{ \t\"say\"\r: \"Hi\" } \n", chosen{text: "Hi"}},
		{"thinks in it", `{"say":"<think>Hm</think>\n\nYes, a <b"}`, chosen{text: "Yes, a <b", thinking: "Hm"}},
		{"thinks in it, escaped", `{"say":"\u003cthink>Hm\u003c/think>Yes"}`, chosen{text: "Yes", thinking: "Hm"}},
		{"chooses", `{"tool": "note", "arguments": {"text": "a}\"]{", "n": [1, {"b": null}]}}`, chosen{call: `call_1 note({"text":"a}\"]{","n":[1,{"b":null}]})`}},
		{"chooses the other way round", `{"arguments":{},"tool":"note"}`, chosen{call: "call_1 note({})"}},
		{"chooses without arguments", `{"tool":"note"}`, chosen{call: "call_1 note({})"}},
		{"chooses what there is not", `{"tool":"f\u006cy away","arguments":{}}`, chosen{call: "call_1 fly away({})"}},
		{"says and chooses", `{"say":"Wait. <", "tool":"note", "arguments":{"a":"</think>"}}`, chosen{text: "Wait. <", call: `call_1 note({"a":"</think>"})`}},
		{"chooses and says", `{"tool":"note","say":"Wait."}`, chosen{text: "Wait.", call: "call_1 note({})"}},

		{"nothing", "", chosen{err: none}},
		{"white space", "  \n", chosen{err: none}},
		{"prose", "Hello.", chosen{err: none}},
		{"prose before it", `Sure: {"say":"a"}`, chosen{err: none}},
		{"prose behind it", `{"say":"a"} there`, chosen{text: "a", err: "the choice is not an object"}},
		{"a tag", `<tool_call>{"tool":"note"}</tool_call>`, chosen{err: none}},
		{"two of them", `{"say":"a"}{"say":"b"}`, chosen{text: "a", err: "the choice is not an object"}},
		{"a list", `[{"say":"a"}]`, chosen{err: none}},
		{"an empty object", `{}`, chosen{err: "the choice is not an object"}},
		{"arguments for nothing", `{"arguments":{}}`, chosen{err: "the choice is empty"}},
		{"arguments to say", `{"say":"a","arguments":{}}`, chosen{text: "a", err: "the choice is empty"}},
		{"a tool without a name", `{"tool":"","arguments":{}}`, chosen{err: "the choice is empty"}},
		{"another key", `{"say":"a","mood":"b"}`, chosen{text: "a", err: "the choice has an unknown key"}},
		{"a key without end", `{"argumentsandmore`, chosen{err: "the choice has an unknown key"}},
		{"says twice", `{"say":"a","say":"b"}`, chosen{text: "a", err: "the choice has an unknown key"}},
		{"says a number", `{"say":7}`, chosen{err: "the choice is not an object"}},
		{"says null", `{"say":null,"tool":"note"}`, chosen{err: "the choice is not an object"}},
		{"arguments in a text", `{"tool":"note","arguments":"{}"}`, chosen{err: "the choice is not an object"}},
		{"arguments that are broken", `{"tool":"note","arguments":{"a" 1}}`, chosen{err: "the arguments are not an object"}},
		{"brackets that do not fit", `{"tool":"note","arguments":{"a":[}]}`, chosen{err: "the arguments are not an object"}},
		{"arguments without end", `{"tool":"note","arguments":{"a":"` + strings.Repeat("a", 65<<10), chosen{err: "arguments of more than 65536 bytes"}},
		{"a name without end", `{"tool":"` + strings.Repeat("a", 65), chosen{err: "the name of a tool of more than 64 bytes"}},
		{"a raw line break", "{\"say\":\"a\nb\"}", chosen{text: "a", err: "a control character in a text"}},
		{"an escape of nothing", `{"say":"a\x"}`, chosen{text: "a", err: "a backslash in a text escapes nothing"}},
		{"half a number", `{"say":"a\u00g0"}`, chosen{text: "a", err: "an escaped character in a text has no number"}},
		{"a comma at the end", `{"say":"a",}`, chosen{text: "a", err: "the choice is not an object"}},
		{"cut in what is said", `{"say":"Hello <thi`, chosen{text: "Hello <thi", err: early}},
		{"cut in an escape", `{"say":"Hello \ud83e`, chosen{text: "Hello ", err: early}},
		{"cut behind what is said", `{"say":"Hello"`, chosen{text: "Hello", err: early}},
		{"cut in the arguments", `{"tool":"note","arguments":{"a":1`, chosen{err: early}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.done = tt.want.err == ""
			if got := choose(t, false, tt.reply); got != tt.want {
				t.Errorf("comes to %+v, want %+v", got, tt.want)
			}
			if first, err := new(llm.ToolChoiceReader).Next(llm.Delta{Text: tt.reply + " "}); errors.Is(err, llm.ErrNoChoice) && (tt.want.err != none || len(first) > 0) {
				t.Errorf("is no choice, and gives %+v", first)
			}
			if got := choose(t, false, strings.Split(tt.reply, "")...); got != tt.want {
				t.Errorf("rune by rune it comes to %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestChoiceTruncated: a truncated reply counts as truncated, wherever it was cut.
func TestChoiceTruncated(t *testing.T) {
	for _, tt := range []struct {
		reply string
		want  chosen
	}{
		{"", chosen{}},
		{`{"sa`, chosen{}},
		{`{"say":"Hel`, chosen{text: "Hel"}},
		{`{"say":"Hel\ud83e`, chosen{text: "Hel"}},
		{`{"say":"Hello"`, chosen{text: "Hello"}},
		{`{"say":"Hello"}`, chosen{text: "Hello"}},
		{`{"tool":"no`, chosen{}},
		{`{"tool":"note"`, chosen{call: "call_1 note()"}},
		{`{"tool":"note","arguments":{"a":1`, chosen{call: "call_1 note()"}},
		{`{"tool":"note","arguments":{"a":1}`, chosen{call: "call_1 note()"}},
		{`{"tool":"note","arguments":{"a":1}}`, chosen{call: `call_1 note({"a":1})`}},
	} {
		tt.want.done, tt.want.truncated = true, true
		if got := choose(t, true, tt.reply); got != tt.want {
			t.Errorf("%s comes to %+v, want %+v", tt.reply, got, tt.want)
		}
	}
}

// TestChoiceStreams: what is said is passed on at once; anything else gives a sign of life.
func TestChoiceStreams(t *testing.T) {
	var c llm.ToolChoiceReader
	for _, step := range [][2]string{{`{"sa`, ""}, {`y": "He`, "He"}, {`llo \u00`, "llo "}, {`e4`, "ä"}, {`<th`, ""}, {`x`, "<thx"}, {`", "tool": "note", "argu`, ""}, {`ments": {"a"`, ""}} {
		deltas, err := c.Next(llm.Delta{Text: step[0]})
		if len(deltas) != 1 || deltas[0] != (llm.Delta{Text: step[1]}) || err != nil {
			t.Errorf("%s gives %+v, %v; want %q", step[0], deltas, err, step[1])
		}
	}
	if deltas, err := c.Next(llm.Delta{Thinking: "Hm"}); len(deltas) != 1 || deltas[0].Thinking != "Hm" || err != nil {
		t.Errorf("thinking gives %+v, %v", deltas, err)
	}
}

// TestChoiceIsCutAnywhere: a reply comes to the same however it is cut into pieces.
func TestChoiceIsCutAnywhere(t *testing.T) {
	parts := []string{`{`, `}`, `"`, `"say"`, `"tool"`, `"arguments"`, `:`, `,`, `"a ä🦜"`, `"note"`, `{"a":[1,"}"]}`, ` `, `\`, `\u`, `\ud83e`, `\udd9c`, `n`, `<think>`, `</think>`, `x`, "\n"}
	rapid.Check(t, func(t *rapid.T) {
		reply := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "parts"), "")
		if rapid.Bool().Draw(t, "whole") {
			say, _ := json.Marshal(rapid.String().Draw(t, "say"))
			reply = fmt.Sprintf(`{"say":%s,"tool":"note","arguments":{"a":%s}}`, say, say)
		}
		truncated := rapid.Bool().Draw(t, "truncated")
		want := choose(quiet{}, truncated, reply)
		if got := choose(quiet{}, truncated, cuts(t, reply)...); got != want {
			t.Errorf("%q comes to %+v, and in one piece to %+v", reply, got, want)
		}
	})
}

// quiet is a test that never fails.
type quiet struct{ testing.TB }

func (quiet) Helper() {}

// cuts cuts text into pieces of whole runes.
func cuts(t *rapid.T, text string) (pieces []string) {
	for runes := []rune(text); len(runes) > 0; {
		n := rapid.IntRange(1, len(runes)).Draw(t, "runes")
		pieces, runes = append(pieces, string(runes[:n])), runes[n:]
	}
	return pieces
}

// FuzzChoice: the reader accepts exactly what the library accepts as such an object, and
// understands it as the library does.
func FuzzChoice(f *testing.F) {
	for _, s := range []string{
		`{"say": "Hello\n\ud83e\udd9c"}`, `{"tool":"note","arguments":{"a":[1,{"b":"}"}]}}`, `{"say":"a","tool":"b"}`,
		`{"say":"<think>a</think>b"}`, `{"say":"a"`, `{"arguments":{"a":1},"tool":"\u0061"} `, `{"say":"` + "\x7f" + `"}`, `{"s\u0061y":"a"}`,
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, reply string, n int) {
		reply = strings.ToValidUTF8(reply, "\ufffd")
		got := choose(t, false, reply)
		var pieces []string
		for runes := []rune(reply); len(runes) > 0; {
			k := min(len(runes), max(1, n%7))
			pieces, runes = append(pieces, string(runes[:k])), runes[k:]
		}
		if apart := choose(t, false, pieces...); apart != got {
			t.Errorf("%q comes to %+v, in pieces of %d to %+v", reply, got, n%7, apart)
		}
		if want, ok := understood(reply); (got.err == "") != ok || ok && got != want {
			t.Errorf("%q comes to %+v, and is %+v, %v", reply, got, want, ok)
		}
	})
}

// understood returns what the JSON library makes of a reply.
func understood(reply string) (want chosen, ok bool) {
	d := json.NewDecoder(strings.NewReader(reply))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return want, false
	}
	seen := make(map[string]bool)
	var tool, arguments, said string
	for d.More() {
		key, err := d.Token()
		name, text := key.(string)
		var value json.RawMessage
		if err != nil || !text || seen[name] || d.Decode(&value) != nil {
			return want, false
		}
		seen[name] = true
		var into *string
		switch name {
		case "say":
			into = &said
		case "tool":
			into = &tool
		case "arguments":
			var compact bytes.Buffer
			if value[0] != '{' || len(value) > 64<<10 || json.Compact(&compact, value) != nil {
				return want, false
			}
			arguments = compact.String()
			continue
		default:
			return want, false
		}
		if value[0] != '"' || json.Unmarshal(value, into) != nil {
			return want, false
		}
	}
	if end, err := d.Token(); err != nil || end != json.Delim('}') {
		return want, false
	}
	if _, err := d.Token(); err != io.EOF {
		return want, false
	}
	if len(tool) > 64 || tool == "" && (!seen["say"] || len(seen) > 1) {
		return want, false
	}
	if tool != "" {
		if arguments == "" {
			arguments = "{}"
		}
		want.call = fmt.Sprintf("call_1 %s(%s)", tool, arguments)
	}
	var thoughts llm.Thoughts
	for _, d := range thoughts.Next(said) {
		want.text, want.thinking = want.text+d.Text, want.thinking+d.Thinking
	}
	for _, d := range thoughts.End() {
		want.text, want.thinking = want.text+d.Text, want.thinking+d.Thinking
	}
	want.done = true
	return want, true
}
