package ollamatest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The kinds of tokens, by the numbers of the llama tokenizer.
const (
	normal  int32 = 1
	unknown int32 = 2
	control int32 = 3 // part of the template; never comes out as text
	word    int32 = 4 // found in the prompt before anything else
	unused  int32 = 5 // neither looked for in the prompt nor ever said
	octet   int32 = 6
)

// space is how the tokenizer writes a space inside a token.
const space = "▁"

// pieceBytes is the least length of a token of a reply, in bytes: about as long as those of real
// models.
const pieceBytes = 4

// A vocabulary is the list of all tokens. A token is its index in it.
type vocabulary struct {
	spelling []string
	kind     []int32
	score    []float32 // the tokenizer merges the highest first: earlier tokens
	index    map[string]int

	unknown, begin, end int // the usual three
	user, tool, start   int // of the template
}

// newVocabulary returns a vocabulary with what every model needs: the three, the bytes, and the
// control tokens of the template.
func newVocabulary() *vocabulary {
	v := &vocabulary{index: make(map[string]int)}
	v.unknown, v.begin, v.end = v.add("<unk>", unknown), v.add("<s>", control), v.add("</s>", control)
	for b := range 256 {
		v.add(fmt.Sprintf("<0x%02X>", b), octet)
	}
	v.add(space, normal) // three bytes otherwise
	v.user, v.tool, v.start = v.add("<|user|>", control), v.add("<|tool|>", control), v.add("<|start|>", control)
	for _, s := range []string{"<|system|>", "<|assistant|>", "<|end|>"} {
		v.add(s, control)
	}
	return v
}

// add adds a token. It panics if its spelling exists: the server crashes on duplicates.
func (v *vocabulary) add(spelling string, kind int32) int {
	if v.has(spelling) {
		panic("ollamatest: two tokens spelled " + spelling)
	}
	id := len(v.spelling)
	v.index[spelling] = id
	v.spelling, v.kind, v.score = append(v.spelling, spelling), append(v.kind, kind), append(v.score, -float32(id))
	return id
}

// has reports whether a token with that spelling exists.
func (v *vocabulary) has(spelling string) bool {
	_, ok := v.index[spelling]
	return ok
}

// spelled returns text in the spelling of a token.
func spelled(text string) string { return strings.ReplaceAll(text, " ", space) }

// word adds the word of a route. Words are looked for in the raw prompt, before its spaces are
// respelled.
func (v *vocabulary) word(text string) (int, error) {
	if text == "" || v.has(text) || v.has(spelled(text)) {
		return 0, fmt.Errorf("the word %q is empty or stands twice", text)
	}
	return v.add(text, word), nil
}

// pieces splits text into new tokens. A piece spelled like an older token is made longer until it
// is unique: every place in every text must be a token of its own, since the token is all that the
// model knows about its position.
func (v *vocabulary) pieces(text string) ([]int, error) {
	var ids []int
	for text != "" {
		n := v.fresh(text)
		if n == 0 {
			return v.widen(ids, text)
		}
		ids = append(ids, v.add(spelled(text[:n]), normal))
		text = text[n:]
	}
	return ids, nil
}

// fresh returns the length of the shortest beginning of text that is long enough, ends with a
// whole rune, and is no token yet; 0 if there is none.
func (v *vocabulary) fresh(text string) int {
	for n := 0; n < len(text); {
		_, size := utf8.DecodeRuneInString(text[n:])
		n += size
		if n >= min(pieceBytes, len(text)) && !v.has(spelled(text[:n])) {
			return n
		}
	}
	return 0
}

// widen adds the rest of a text to its last piece.
func (v *vocabulary) widen(ids []int, rest string) ([]int, error) {
	if len(ids) == 0 {
		return nil, fmt.Errorf("%q is said twice, or is a word of a route", rest)
	}
	last := ids[len(ids)-1]
	wide := v.spelling[last] + spelled(rest)
	if v.has(wide) {
		return nil, fmt.Errorf("no token of its own can be made of %q", rest)
	}
	delete(v.index, v.spelling[last])
	v.spelling[last], v.index[wide] = wide, last
	return ids, nil
}

// reads adds the words of text, each with the following space, except those that would hide the
// word of a route: the tokenizer finds the longest first.
func (v *vocabulary) reads(text string, routes []Route) {
	lost := func(w string) bool {
		return slices.ContainsFunc(routes, func(r Route) bool { return strings.Contains(w, r.Word) })
	}
	for line := range strings.Lines(text) {
		for w := range strings.SplitAfterSeq(line, " ") {
			if w = strings.TrimSuffix(w, "\n"); len(w) > 1 && !lost(w) && !v.has(w) && !v.has(spelled(w)) {
				v.add(w, word)
			}
		}
	}
}

// fill adds unused tokens up to a number, rounded up to a multiple of 32, which the matrix kernels
// prefer.
func (v *vocabulary) fill(many int) {
	for len(v.spelling) < many || len(v.spelling)%32 != 0 {
		v.add(fmt.Sprintf("<pad%d>", len(v.spelling)), unused)
	}
}
