package ollamatest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A kind of token, as the llama tokenizer numbers them.
const (
	normal  int32 = 1
	unknown int32 = 2
	control int32 = 3 // part of the template; never comes out as text
	word    int32 = 4 // found in the prompt before anything else is
	unused  int32 = 5 // neither looked for in the prompt nor ever said
	octet   int32 = 6
)

// space is how the tokenizer writes a space inside a token.
const space = "▁"

// pieceBytes is how long a token of a reply is at least, in bytes: about as
// long as those of real models.
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

// newVocabulary returns one with what every model needs: the three, the bytes,
// and the control tokens of the template.
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

// add adds a token. It panics if there is one of that spelling: the server
// crashes on two.
func (v *vocabulary) add(spelling string, kind int32) int {
	if v.has(spelling) {
		panic("ollamatest: two tokens spelled " + spelling)
	}
	id := len(v.spelling)
	v.index[spelling] = id
	v.spelling, v.kind, v.score = append(v.spelling, spelling), append(v.kind, kind), append(v.score, -float32(id))
	return id
}

// has reports whether there is a token of that spelling.
func (v *vocabulary) has(spelling string) bool {
	_, ok := v.index[spelling]
	return ok
}

// spelled returns text as a token spells it.
func spelled(text string) string { return strings.ReplaceAll(text, " ", space) }

// word adds the word of a route. Words are looked for in the prompt as it is,
// before its spaces are spelled.
func (v *vocabulary) word(text string) (int, error) {
	if text == "" || v.has(text) || v.has(spelled(text)) {
		return 0, fmt.Errorf("the word %q is empty or stands twice", text)
	}
	return v.add(text, word), nil
}

// pieces cuts text into new tokens. A piece that is spelled like an older token
// is made longer until it is not: every place in every text must be a token of
// its own, since the token is all that the model remembers of where it is.
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

// fresh returns the length of the shortest beginning of text that is long
// enough, whole runes, and no token yet; 0 if there is none.
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

// reads adds the words of text, each with the space after it, but for those in
// which the word of a route would be lost: the longest is found first.
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

// fill adds tokens that nobody uses until there are so many, and their number is
// a multiple of 32, which the matrix kernels like.
func (v *vocabulary) fill(many int) {
	for len(v.spelling) < many || len(v.spelling)%32 != 0 {
		v.add(fmt.Sprintf("<pad%d>", len(v.spelling)), unused)
	}
}
