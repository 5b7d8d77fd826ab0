package ollamatest

import (
	"fmt"
	"math/rand/v2"
)

// How the weights make the model speak
//
// The model is a llama of the usual kind: an embedding, layers of attention and feed-forward, an
// output matrix. Its residual has 256 numbers: the first 192 are a random code of plus and minus
// ones, different for each token, and the rest are marks.
//
// Speaking is a chain. Row j of the output matrix is the code of the token that comes before j.
// Two random codes have next to nothing in common, so with token i in the residual exactly one row
// answers: that of the token after i. Each piece of each text is a token of its own, so the whole
// text unrolls from its first piece, and the last piece is followed by the end token, or, in an
// endless model, by the first piece again.
//
// The beginning is part of the chain: the prompt ends in <|start|>, which is followed by the first
// piece of the default answer.
//
// Listening needs attention, in one head of the first layer. Only the token <|start|> looks back
// for words of routes. It writes the word it finds into its residual as a mark, and the first
// piece of that route answers to the mark three times louder than the default answers to the code.
//
// The last word in the last message of the user must win, so the head prefers near tokens. Rotary
// position turns pair 12 of the head by about 0.0004 rad per place; with key and query at right
// angles, the score of something d places back is proportional to -sin(0.0004 d), which falls all
// the way across the context. The head also sees <|user|> tokens, which carry no mark: one that is
// nearer than any word means that the last message has none, and nothing is written. A word in the
// message is always nearer than its <|user|>, and gets a small bonus, worth two places, to be
// sure; a word of the message before is five places from it, because of the four end tokens. All
// other tokens are pushed away. The result of a call is such a message too, and its <|tool|> acts
// like <|user|>, or like the word of a route of its own.
//
// The pieces of a reply must not look for words, or each would begin the route again. They look at
// the first token of the prompt, which carries no mark.
//
// Every embedding is a code and one mark of size 8, so that its mean square is
// exactly 1 and the norm in front of the head changes nothing.

// The numbers of the residual.
const (
	width = 256
	code  = 192 // the first of them are the code

	heard   = 192               // + r: this token is the word of route r
	chosen  = heard + maxRoutes // + r: the head saw the word of route r
	atStart = 240               // this token is <|start|>
	atPiece = 241               // this token is none of the others
	atBegin = 242               // this token is the first of the prompt
	atUser  = 243               // this token is <|user|>, or <|tool|> without a route
)

// The numbers of the head. Pairs of them turn with the position, the first ones fast and the last
// ones not at all.
const (
	headWidth = 64
	turning   = 24 // and 25: turns by 0.0004 rad a place
	bonus     = 58
	sink      = 60
	away      = 62
)

const (
	ropeBase = 1e9 // makes the last pairs stand still, and pair 12 turn slowly enough

	mark  = 8.0  // size of a mark; see the end of the text above
	gain  = 0.5  // of the chain: the right token gets 96, others about 0 ± 7
	route = 40.0 // of a route: 320, three times the default's

	near   = 25.0 // of the turning pair: each place back costs exp(-2)
	extra  = 0.7  // of the bonus: exp(4)
	far    = 50.0 // pushes tokens away: further than anything near
	hidden = 64   // of the feed-forward part, which does nothing
)

// A matrix is rows of numbers.
type matrix struct {
	rows, columns int
	at            []float32
}

// newMatrix returns one of zeros.
func newMatrix(rows, columns int) matrix {
	return matrix{rows, columns, make([]float32, rows*columns)}
}

// set sets one number.
func (m matrix) set(row, column int, to float32) { m.at[row*m.columns+column] = to }

// row returns one row.
func (m matrix) row(r int) []float32 { return m.at[r*m.columns:][:m.columns] }

// A mind holds the weights of a model that differ from zero.
type mind struct {
	vocabulary         *vocabulary
	embedding          matrix // one row per token
	output             matrix // one row per token
	query, key         matrix // of the first layer
	value, attentionTo matrix
}

// think builds the mind of m.
func think(m Model) (*mind, error) {
	v := newVocabulary()
	words := make([]int, len(m.Routes))
	for r, route := range m.Routes {
		var err error
		if words[r], err = v.word(route.Word); err != nil {
			return nil, err
		}
	}
	usual, err := v.pieces(m.writes(Route{Says: m.Says}))
	if err != nil {
		return nil, fmt.Errorf("the default reply: %w", err)
	}
	routes := make([][]int, len(m.Routes))
	for r, route := range m.Routes {
		if routes[r], err = v.pieces(m.writes(route)); err != nil {
			return nil, fmt.Errorf("the reply to %q: %w", route.Word, err)
		}
	}
	if m.After != "" {
		after, err := v.pieces(m.writes(Route{Says: m.After}))
		if err != nil {
			return nil, fmt.Errorf("the reply after a call: %w", err)
		}
		words, routes = append(words, v.tool), append(routes, after)
	}
	if m.Sees != nil {
		for _, r := range m.Sees.routes() {
			seen, err := v.pieces(m.writes(r))
			if err != nil {
				return nil, fmt.Errorf("the reply to a picture: %w", err)
			}
			routes = append(routes, seen) // no word leads to them
		}
	}
	v.reads(m.Reads, m.Routes)
	v.fill(m.Words)

	d := &mind{vocabulary: v}
	d.embed(words)
	d.speak(usual, m.Endless, routes)
	d.listen(len(routes))
	return d, nil
}

// embed gives every token its code and its mark. The codes are the same in
// every run.
func (d *mind) embed(words []int) {
	v := d.vocabulary
	marks := map[int]int{v.start: atStart, v.begin: atBegin, v.user: atUser, v.tool: atUser}
	for r, id := range words {
		marks[id] = heard + r
	}
	d.embedding = newMatrix(len(v.spelling), width)
	random := rand.New(rand.NewPCG(1, 2))
	for id := range v.spelling {
		row := d.embedding.row(id)
		for i := range code {
			row[i] = float32(random.IntN(2)*2 - 1)
		}
		at, special := marks[id]
		if !special {
			at = atPiece
		}
		row[at] = mark
	}
}

// speak links the tokens of each text, and the start token to the default answer.
func (d *mind) speak(usual []int, endless bool, routes [][]int) {
	v := d.vocabulary
	d.output = newMatrix(len(v.spelling), width)
	after := v.end
	if endless {
		after = usual[0]
	}
	d.link(v.start, usual[0])
	d.chain(usual, after)
	for r, pieces := range routes {
		d.chain(pieces, v.end)
		d.output.set(pieces[0], chosen+r, route)
	}
}

// chain makes each piece follow the one before it, and last the last one.
func (d *mind) chain(pieces []int, last int) {
	for i, id := range pieces[:len(pieces)-1] {
		d.link(id, pieces[i+1])
	}
	d.link(pieces[len(pieces)-1], last)
}

// link makes token b follow token a.
func (d *mind) link(a, b int) {
	to := d.output.row(b)
	for i, c := range d.embedding.row(a)[:code] {
		to[i] += gain * c
	}
}

// listen sets up the head that looks for words. Its values carry the mark of a word, which the
// last matrix moves to where the output looks for it.
func (d *mind) listen(words int) {
	d.query, d.key = newMatrix(width, width), newMatrix(headWidth, width)
	d.value, d.attentionTo = newMatrix(headWidth, width), newMatrix(width, width)

	d.query.set(turning+1, atStart, near) // at right angles to the key
	d.query.set(bonus, atStart, extra)
	d.query.set(away, atStart, near)
	d.query.set(sink, atPiece, near)

	d.key.set(turning, atUser, near)
	d.key.set(sink, atBegin, near)
	for _, other := range []int{atStart, atPiece, atBegin} {
		d.key.set(away, other, -far)
	}
	for r := range words {
		d.key.set(turning, heard+r, near)
		d.key.set(bonus, heard+r, extra)
		d.value.set(r, heard+r, 1)
		d.attentionTo.set(chosen+r, r, 1)
	}
}
