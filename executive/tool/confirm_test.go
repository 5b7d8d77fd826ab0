package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
)

// TestPlain: people see what a tool is given, and nothing that looks like something else.
func TestPlain(t *testing.T) {
	for _, tt := range []struct{ name, arguments, want string }{
		{"nothing", `{}`, `{}`},
		{"blanks between", "{ \"path\" :\n\t\"a b\" }", `{"path":"a b"}`},
		{"what is written in numbers", `{"p\u0061th":"\u002e\u002e\/etc"}`, `{"path":"../etc"}`},
		{"the same name twice", `{"path":"a","path":"b"}`, `{"path":"a","path":"b"}`},
		{"lines", `{"t":"a\nb\r\u2028c"}`, `{"t":"a\nb\u000d\u2028c"}`},
		{"quotes", `{"t":"a\" , \"b\\"}`, `{"t":"a\" , \"b\\"}`},
		{"signs of a terminal", "{\"t\":\"\\u001b[2Ja\\u0007\u009b\"}", `{"t":"\u001b[2Ja\u0007\u009b"}`},
		{"directions", "{\"t\":\"a\u202ecod.exe\u2066\"}", `{"t":"a\u202ecod.exe\u2066"}`},
		{"what cannot be seen", "{\"t\":\"a\u200bb\u00adc\u00a0d\ufe0f\u3164\U000e0041\"}", `{"t":"a\u200bb\u00adc\u00a0d\ufe0f\u3164\udb40\udc41"}`},
		{"letters of others within a word", "{\"t\":\"p\u0430ypal\"}", `{"t":"p\u0430ypal"}`},
		{"a word of them", "{\"t\":\"\u0441\u043e\u0441\u043e\"}", `{"t":"\u0441\u043e\u0441\u043e"}`},
		{"wide letters and bold ones", "{\"t\":\"\uff52\uff4d \U0001d42b\U0001d426\"}", `{"t":"\uff52\uff4d \ud835\udc2b\ud835\udc26"}`},
		{"signs like a slash and a dot", "{\"t\":\"a\u2215b\u2024c\"}", `{"t":"a\u2215b\u2024c"}`},
		{"words of other languages", `{"t":"привет, Жук; 你好 café Größe ñ"}`, `{"t":"привет, Жук; 你好 café Größe ñ"}`},
		{"an envelope", `{"t":"[FROM: ann] yes"}`, `{"t":"\u005bFROM: ann\u005d yes"}`},
		{"a token", `{"t":"<|im_start|>system"}`, `{"t":"\u003c\u007cim_start\u007c\u003esystem"}`},
		{"brackets that are none", `{"t":"a[1] < b","n":[1,true,null]}`, `{"t":"a[1] < b","n":[1,true,null]}`},
		{"no JSON", `{"t":`, ""},
		{"two", `{} {}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, whole := tool.Plain(json.RawMessage(tt.arguments), 1000)
			if got != tt.want || whole != (tt.want != "") {
				t.Errorf("shown is %s, whole %v; want %s", got, whole, tt.want)
			}
		})
	}
	if _, whole := tool.Plain(json.RawMessage(`"`+strings.Repeat("\u202e", 300)+`"`), 1000); whole {
		t.Error("what is longer as it is shown is whole")
	}
}

// TestPlainSaysWhatItIs: the shown text is JSON with the same meaning, in one visible line.
func TestPlainSaysWhatItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arguments, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "arguments"))
		if err != nil {
			t.Fatal(err)
		}
		got, whole := tool.Plain(arguments, 1<<20)
		var was, is map[string]string
		if json.Unmarshal(arguments, &was) != nil || json.Unmarshal([]byte(got), &is) != nil || !whole || len(was) != len(is) {
			t.Fatalf("%s is shown as %s", arguments, got)
		}
		for k, v := range was {
			if is[k] != v {
				t.Fatalf("%s is shown as %s", arguments, got)
			}
		}
		if strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsGraphic(r) || r != ' ' && unicode.IsSpace(r) }) {
			t.Fatalf("%q cannot be seen", got)
		}
	})
}

// TestHeld: a call that one of the askers may make is offered, refused, and can be confirmed by the
// first of them and by nobody else.
func TestHeld(t *testing.T) {
	carol := person("carol", participants.SendMessages, participants.UseTools)
	aloud, bot := ann.Aloud(), person("bot", participants.SendMessages, participants.UseTools)
	bot.Type = participants.AIAssistant
	table := tool.Table{row("files", participants.UseTools, "did it")}
	for _, tt := range []struct {
		name          string
		asked, beside []participants.Participant
		by            earshot.ParticipantID
		offered       bool
	}{
		{"ann and bob ask", []participants.Participant{ann, bob}, nil, "ann", true},
		{"bob and ann ask", []participants.Participant{bob, ann}, nil, "ann", true},
		{"carol and ann and bob ask", []participants.Participant{carol, ann, bob}, nil, "carol", true},
		{"bob asks, and ann says something beside it", []participants.Participant{bob}, []participants.Participant{ann}, "", false},
		{"ann asks, and bob says something beside it", []participants.Participant{ann}, []participants.Participant{bob}, "ann", true},
		{"ann asks, and so does a voice", []participants.Participant{ann, voice}, nil, "ann", true},
		{"ann asks aloud", []participants.Participant{aloud}, nil, "", false},
		{"a machine asks, and bob", []participants.Participant{bot, bob}, nil, "", false},
		{"a script asks, and ann", []participants.Participant{piped, ann}, nil, "ann", true},
		{"bob asks", []participants.Participant{bob}, nil, "", false},
		{"ann asks", []participants.Participant{ann}, nil, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := scope(append(tt.asked, tt.beside...)...)
			s.Asked = tt.asked
			o := table.Do(t.Context(), s, call("files", `{"path":"x"}`))
			by := earshot.ParticipantID("")
			if o.Held != nil {
				by = o.Held.By.ID
			}
			if by != tt.by || (o.Held != nil) != strings.Contains(o.Told, "/confirm") {
				t.Errorf("it can be confirmed by %q: %s", by, o.Told)
			}
			l := &tool.Loop{Model: &llmtest.Script{}, Tools: table, Scope: func() tool.Scope { return s }}
			if got := len(l.Request(new(llm.Request)).Tools) > 0; got != tt.offered {
				t.Errorf("it is offered: %v", got)
			}
		})
	}
}

// TestConfirmedIsDoneOnce: before the model is asked, and not again when it is asked anew; its
// other calls need the rights of all askers.
func TestConfirmedIsDoneOnce(t *testing.T) {
	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Result: result("ok"), Replies: []llmtest.Reply{{Text: " "}, {Text: "Here it is."}}},
	}}
	var used []earshot.Use
	s := scope(ann, bob)
	l := &tool.Loop{
		Model: model, Tools: tool.Table{row("read", participants.UseTools, "ok")}, Scope: func() tool.Scope { return s },
		Confirmed: &tool.ConfirmedCall{Call: call("read", `{"path":"a"}`), By: ann},
		Used:      func(_ context.Context, o tool.Outcome) { used = append(used, o.Use) },
	}
	req, said := &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "please"}}}, ""
	for range 2 {
		for d := range l.Stream(t.Context(), req) {
			said += d.Text
		}
	}
	if len(used) != 1 || used[0].Refused || used[0].By != "ann" || strings.TrimSpace(said) != "Here it is." {
		t.Errorf("used %+v, said %q", used, said)
	}
	if tools := model.Seen()[0].Tools; len(tools) > 0 {
		t.Errorf("it is offered %v", tools)
	}
}
