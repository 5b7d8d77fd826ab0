package llm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot/llm"
)

// prompt makes messages from a picture: messages are separated by " / ", and begin with s, u, a or
// r; calls and pictures follow a +. "u one / u two +p" shows a picture that ends in p.
func prompt(picture string) (messages []llm.Message) {
	roles := map[string]llm.Role{"s": llm.System, "u": llm.User, "a": llm.Assistant, "r": llm.Result}
	for line := range strings.SplitSeq(picture, " / ") {
		role, text, _ := strings.Cut(line, " ")
		m := llm.Message{Role: roles[role], Text: text}
		text, more, _ := strings.Cut(text, "+")
		switch m.Text = strings.TrimSpace(text); m.Role {
		case llm.Assistant:
			for _, id := range more {
				m.Calls = append(m.Calls, llm.Call{ID: string(id), Tool: "tool_" + string(id)})
			}
		case llm.Result:
			m.Call, more = more[:1], more[1:]
			fallthrough
		default:
			for i := range more {
				m.Images = append(m.Images, picture4(more[i]))
			}
		}
		messages = append(messages, m)
	}
	return messages
}

// picture4 returns the smallest picture with that end.
func picture4(end byte) llm.Image { return picture(4, end) }

// pictured draws messages; a call is drawn as its tool and its new ID.
func pictured(messages []llm.Message) string {
	letters := map[llm.Role]string{llm.System: "s", llm.User: "u", llm.Assistant: "a", llm.Result: "r"}
	var lines []string
	for _, m := range messages {
		line := letters[m.Role] + " " + strings.ReplaceAll(m.Text, "\n", "|")
		for _, c := range m.Calls {
			line += fmt.Sprintf("+%s=%s", c.Tool, c.ID)
		}
		if m.Call != "" {
			line += "+" + m.Call
		}
		for _, i := range m.Images {
			line += "+" + string(i[len(i)-1:])
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, " / ")
}

func TestForms(t *testing.T) {
	for _, tt := range []struct{ name, in, one, none string }{
		{"of a conversation", "s who / u hi / u there / a yes / u well / s now",
			"s who / u hi||there / a yes / u well||[FROM: System] now",
			"u [FROM: System] who||hi||there / a yes / u well||[FROM: System] now"},
		{"that begins with a reply", "s who / a yes / u well",
			"s who / u [FROM: System] The conversation goes on from here. / a yes / u well",
			"u [FROM: System] who / a yes / u well"},
		{"of the house alone", "s who / s now",
			"s who / u [FROM: System] now",
			"u [FROM: System] who||[FROM: System] now"},
		{"with one message of the house", "s who",
			"s who / u [FROM: System] It is your turn.",
			"u [FROM: System] who"},
		{"without it", "u hi", "u hi", "u hi"},
		{"of nothing", "", "u [FROM: System] It is your turn.", "u [FROM: System] It is your turn."},
		{"that ends with a reply", "u hi / a yes / a no",
			"u hi / a yes||no / u [FROM: System] It is your turn.",
			"u hi / a yes||no / u [FROM: System] It is your turn."},
		{"with a note between replies", "s who / u hi / a yes / s cut / a no / u well",
			"s who / u hi / a yes / u [FROM: System] cut / a no / u well",
			"u [FROM: System] who||hi / a yes / u [FROM: System] cut / a no / u well"},
		{"with a tool", "s who / u hi / s now / a I will +x / r done +x",
			"s who / u hi||[FROM: System] now / a I will+tool_x=call00001 / r done+call00001",
			"u [FROM: System] who||hi||[FROM: System] now / a I will+tool_x=call00001 / r done+call00001"},
		{"with several at once, in another order", "u hi / a I will +xy / r y +y / r x +x / a ok / u well / a +x / r again +x",
			"u hi / a I will+tool_x=call00001 / r x+call00001 / a +tool_y=call00002 / r y+call00002 / a ok / u well / a +tool_x=call00003 / r again+call00003",
			"u hi / a I will+tool_x=call00001 / r x+call00001 / a +tool_y=call00002 / r y+call00002 / a ok / u well / a +tool_x=call00003 / r again+call00003"},
		{"with a word of the house behind tools", "u hi / a +x / r done +x / s enough",
			"u hi / a +tool_x=call00001 / r done+call00001 / a I have read that. / u [FROM: System] enough",
			"u hi / a +tool_x=call00001 / r done+call00001 / a I have read that. / u [FROM: System] enough"},
		{"with what a tool saw", "u hi +p / a +xy / r seen +xq / r done +y",
			"u hi+p / a +tool_x=call00001 / r seen+call00001 / a +tool_y=call00002 / r done+call00002 / a I have read that. / u +q",
			"u hi+p / a +tool_x=call00001 / r seen+call00001 / a +tool_y=call00002 / r done+call00002 / a I have read that. / u +q"},
		{"with pictures side by side", "u hi +p / u there +q", "u hi||there+p+q", "u hi||there+p+q"},
		{"that tries a tool after another word", "u hi / a one / a two +x / r done +x",
			"u hi / a one||two+tool_x=call00001 / r done+call00001",
			"u hi / a one||two+tool_x=call00001 / r done+call00001"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var in []llm.Message
			if tt.in != "" {
				in = prompt(tt.in)
			}
			req := &llm.Request{Messages: in, MaxTokens: 7}
			before := pictured(req.Messages)
			if got := pictured(llm.Plain.Apply(req).Messages); got != before {
				t.Errorf("plain: %s\nwant %s", got, before)
			}
			for form, want := range map[llm.Form]string{llm.OneSystem: tt.one, llm.NoSystem: tt.none} {
				out := form.Apply(req)
				if got := pictured(out.Messages); got != want || out.MaxTokens != 7 {
					t.Errorf("%v:\n%s\nwant\n%s", form, got, want)
				}
				if again := pictured(form.Apply(out).Messages); again != want {
					t.Errorf("%v, again:\n%s\nwant\n%s", form, again, want)
				}
			}
			if got := pictured(req.Messages); got != before {
				t.Errorf("the request itself was changed to %s", got)
			}
		})
	}
}

// TestFormsBlinded: in every form, a model that cannot see gets the words that stand for a picture.
func TestFormsBlinded(t *testing.T) {
	req := &llm.Request{Messages: []llm.Message{
		{Role: llm.User, Text: "look", Images: []llm.Image{picture4('p')}, AltText: "no eyes"}, {Role: llm.User, Text: "well?"},
		{Role: llm.Assistant, Calls: []llm.Call{{ID: "x", Tool: "look"}}}, {Role: llm.Result, Call: "x", Text: "seen", Images: []llm.Image{picture4('q')}, AltText: "unseen"},
	}}
	want := "u no eyes||well? / a +look=call00001 / r unseen+call00001 / a I have read that. / u "
	if got := pictured(llm.WithoutImages(llm.OneSystem.Apply(req)).Messages); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestFormsProperties: whatever the prompt, each form is accepted by the strictest templates, keeps
// everything in its order, and does not change what is already there when the prompt goes on.
func TestFormsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := drawPrompt(t)
		for _, form := range []llm.Form{llm.OneSystem, llm.NoSystem} {
			out := form.Apply(&llm.Request{Messages: messages}).Messages
			if problem := refused(out, form == llm.NoSystem); problem != "" {
				t.Fatalf("%v: %s\nof %s\nis %s", form, problem, pictured(messages), pictured(out))
			}
			said := pictured(out)
			at := 0
			for _, m := range messages {
				if len(m.Calls) > 1 || m.Role == llm.Result || m.Text == "" {
					continue // calls are reordered
				}
				i := strings.Index(said[at:], m.Text)
				if i < 0 {
					t.Fatalf("%v lost %q of %s:\n%s", form, m.Text, pictured(messages), said)
				}
				at += i
			}
			if counted(messages) != counted(out) {
				t.Fatalf("%v has other pictures than %s:\n%s", form, pictured(messages), said)
			}
			longer := form.Apply(&llm.Request{Messages: append(slices.Clip(messages), llm.Message{Role: llm.User, Text: "more"})}).Messages
			for i := range out[:len(out)-1] {
				if longer[i].Text != out[i].Text {
					t.Fatalf("%v: message %d changes when the prompt goes on:\n%s\n%s", form, i, said, pictured(longer))
				}
			}
		}
	})
}

// drawPrompt draws a prompt in which each call has a result.
func drawPrompt(t *rapid.T) (messages []llm.Message) {
	text := func() string { return fmt.Sprintf("text %03d.", len(messages)) }
	for range rapid.IntRange(0, 12).Draw(t, "messages") {
		switch role := rapid.SampledFrom([]llm.Role{llm.System, llm.User, llm.Assistant, llm.Result}).Draw(t, "role"); role {
		case llm.Result:
			called := llm.Message{Role: llm.Assistant, Text: rapid.SampledFrom([]string{"", text()}).Draw(t, "said")}
			var results []llm.Message
			for i := range rapid.IntRange(1, 3).Draw(t, "calls") {
				id := fmt.Sprint(len(messages), i)
				called.Calls = append(called.Calls, llm.Call{ID: id, Tool: "look"})
				r := llm.Message{Role: llm.Result, Call: id, Text: "result " + id}
				if rapid.Bool().Draw(t, "picture") {
					r.Images = []llm.Image{picture4('r')}
				}
				results = append(results, r)
			}
			messages = append(append(messages, called), rapid.Permutation(results).Draw(t, "order")...)
		default:
			m := llm.Message{Role: role, Text: text()}
			if role == llm.User && rapid.Bool().Draw(t, "picture") {
				m.Images = []llm.Image{picture4('u')}
			}
			messages = append(messages, m)
		}
	}
	return messages
}

// refused returns what the strictest template would say against a prompt.
func refused(messages []llm.Message, systemless bool) string {
	calling, ids := "", map[string]bool{}
	turn := llm.User
	for i, m := range messages {
		switch {
		case m.Role == llm.System && (i > 0 || systemless):
			return "system message at " + fmt.Sprint(i)
		case m.Role == llm.System:
			continue
		case m.Role == llm.Result && (m.Call != calling || len(m.Images) > 0):
			return "a result of no call"
		case m.Role == llm.Result:
			calling = ""
			continue
		case calling != "":
			return "a call without a result"
		case len(m.Calls) > 1:
			return "two calls at once"
		case len(m.Calls) == 1:
			if calling = m.Calls[0].ID; len(calling) != 9 || ids[calling] {
				return "the ID " + calling
			}
			ids[calling] = true
			if turn == llm.User && (i == 0 || messages[i-1].Role != llm.Result) {
				return "a call out of turn"
			}
			continue
		case m.Role != turn || m.Role == llm.User && i > 0 && messages[i-1].Role == llm.Result:
			return fmt.Sprintf("%s at %d", m.Role, i)
		case turn == llm.User:
			turn = llm.Assistant
		default:
			turn = llm.User
		}
	}
	if last := messages[len(messages)-1].Role; last != llm.User && last != llm.Result {
		return "ends with " + string(last)
	}
	return ""
}

// counted returns the number of pictures.
func counted(messages []llm.Message) (n int) {
	for _, m := range messages {
		n += len(m.Images)
	}
	return n
}
