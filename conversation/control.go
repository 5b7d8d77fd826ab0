package conversation

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot/language"
)

// angled reports whether a token begins in text at an angle bracket: either a token of chat
// templates, such as <|im_start|>, <start_of_turn> and <<SYS>>, or a tag that steers a model or the
// program, such as <think> and <world>.
func angled(v *skeleton, text string, at int) bool {
	if v.n == 0 {
		return false
	}
	switch v.text[0] {
	case '|':
		return piped(v, '>')
	case '<':
		return begins(v.seen(), "<sys>>") || begins(v.seen(), "</sys>>")
	}
	tag, tight := v.tag()
	tag, closes := bytes.CutPrefix(tag, []byte("/"))
	switch {
	case string(tag) == "s":
		return tight
	case hardTags[string(tag)]:
		return true
	case softTags[string(tag)]:
		return closes || !glued(text, at) // otherwise it is like the types of generic code
	}
	for _, p := range tagPrefixes {
		if begins(tag, p) {
			return true
		}
	}
	return false
}

// tag returns the visible name of a tag, and whether there is no space around it.
func (v *skeleton) tag() (name []byte, tight bool) {
	for i := 1; i < v.n; i++ {
		if c := v.text[i]; c == '>' || c == '/' || v.apart[i] && v.text[i-1] != '/' {
			return v.text[:i], !v.apart[0] && !v.apart[i]
		}
	}
	return v.seen(), false
}

// piped reports whether the visible text is the rest of a token such as <|im_start|>. If it
// contains space, as in "f <| x |> g", only known words make it a token.
func piped(v *skeleton, end byte) bool {
	tight := true
	for i := 1; i < v.n; i++ {
		c := v.text[i]
		if c == '|' {
			return 1 < i && i+1 < v.n && v.text[i+1] == end && (tight || templates[string(v.text[1:i])])
		}
		if !letter(rune(c)) && c < utf8.RuneSelf && !strings.ContainsRune("._:/-", rune(c)) {
			return false
		}
		tight = tight && !v.apart[i]
	}
	return false
}

// squared reports whether a token begins in text at a square bracket, such as [INST].
func squared(v *skeleton, text string, at int) bool {
	if v.n == 0 {
		return false
	}
	if v.text[0] == '|' {
		return piped(v, ']')
	}
	if begins(v.seen(), "e~[") {
		return true
	}
	end := bytes.IndexByte(v.seen(), ']')
	if end < 0 {
		return false
	}
	seen := bytes.TrimPrefix(v.text[:end], []byte("/"))
	switch {
	case hardWords[string(seen)], begins(seen, "unused_token_"), begins(seen, "control_"):
		return true
	case !softWords[string(seen)]:
		return false
	}
	inside := text[v.from[0]:v.from[end]]
	after := text[v.from[end]:]
	_, size := utf8.DecodeRuneInString(after)
	return strings.IndexFunc(inside, unicode.IsLower) < 0 || !glued(text, at) && heading(after[size:])
}

// heading reports whether words follow on the same line. They do after a speaker's name, but not
// after the name of a section or in a link.
func heading(after string) bool {
	line, _, _ := strings.Cut(after, "\n")
	r, _ := utf8.DecodeRuneInString(strings.TrimSpace(line))
	return strings.HasPrefix(line, " ") && unicode.IsLetter(r) || strings.HasPrefix(line, ":")
}

// glued reports whether the bracket in text at at directly follows a name, as in an index or a
// type.
func glued(text string, at int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:at])
	return at > 0 && (letter(r) || r == ')')
}

var (
	// The tags that steer models wherever they are.
	hardTags = language.Set(`think thinking thought thoughts reasoning world tool_call tool_calls tool_response tool_result
		tool_results tools function_call function_calls function_response invoke antml bos eos pad unk
		bos_token eos_token eop_token eot eom eoh eoa sop eop im_start im_end image_soft_token mask_token
		system_prompt human_turn answer_start`)

	// The tags that steer models but are also ordinary types and tags.
	softTags = language.Set(`system user assistant human function tool developer instructions`)

	tagPrefixes = []string{"start_of_", "end_of_", "begin_of_", "reserved_", "extra_id_", "special_", "tokens_unused", "unused",
		"seed:", "start_function", "end_function", "escape>", "0x", "antml:"}

	hardWords = language.Set(`inst tool_calls tool_results available_tools system_prompt tool_content call_id img_break img_end
		gmask smask begin_inst`)
	softWords = language.Set(`system user assistant human think args prefix suffix middle img cls sep mask pad unk bos eos`)

	// The words in tokens between bars.
	templates = language.Set(`im_start im_end im_sep start_header_id end_header_id eot_id eom_id begin_of_text end_of_text endoftext
		endofprompt python_tag system user assistant tool end start message channel constrain return call
		start_of_turn_token end_of_turn_token system_token user_token chatbot_token start_of_role end_of_role
		start_thinking end_thinking begin▁of▁sentence end▁of▁sentence fim_prefix fim_middle fim_suffix endofturn`)
)

// StatusReport is how an answer about the state of the program begins. Such an answer may report
// faults, so it is not part of any prompt.
const StatusReport = "This works: "
