package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"earshot"
)

var (
	errNoWords   = errors.New("nothing to search for: give at least one word or number")
	errManyWords = errors.New("too many words to search for: give the rarest few")
)

// Search returns the newest messages, memos and heard replies that have all
// words of the query, the newest first, however old they are. Case makes no difference,
// nor do accents on Latin and Greek letters; of what is written without spaces, such as
// Japanese, any part is found. Whatever the query is, it is looked for and never
// interpreted.
func (r *Reader) Search(ctx context.Context, query string, limit int) ([]earshot.Event, error) {
	return r.SearchBefore(ctx, query, 0, limit)
}

// SearchBefore is Search in what happened before a sequence; 0 is all.
func (r *Reader) SearchBefore(ctx context.Context, text string, before int64, limit int) ([]earshot.Event, error) {
	q, err := parse(text)
	if err != nil {
		return nil, err
	}
	if limit < 1 {
		return nil, nil
	}
	tx, err := r.archive.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // segments are joined meanwhile
	if err != nil {
		return nil, r.archive.failed(ctx, err)
	}
	defer tx.Rollback()
	if before <= 0 {
		before = math.MaxInt64
	}
	s := search{r: r, tx: tx, query: q, before: before, limit: limit, terms: append(slices.Clip(q.terms), cut(inRoom+string(r.who.Room)))}
	err = s.run(ctx)
	if s.these != nil {
		err = errors.Join(err, s.these.Close())
	}
	if err != nil {
		return nil, r.archive.failed(ctx, err)
	}
	return s.found, nil
}

// A search is one question to the index.
type search struct {
	r      *Reader
	tx     *sql.Tx
	query  query
	before int64
	limit  int
	terms  []string  // that must be in a segment: those of the query, and the room
	sorted bool      // the rarest stand first
	these  *sql.Stmt // see [Reader.these]
	found  []earshot.Event
}

// run looks through what is in no segment, and then the segments, the newest first.
func (s *search) run(ctx context.Context) error {
	rows, err := s.tx.QueryContext(ctx, "SELECT first, size FROM segments WHERE first < ? ORDER BY first DESC", s.before)
	if err != nil {
		return err
	}
	defer rows.Close()
	type segment struct{ first, size int64 }
	var all []segment
	for rows.Next() {
		var g segment
		if err := rows.Scan(&g.first, &g.size); err != nil {
			return err
		}
		all = append(all, g)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	end := int64(0)
	if len(all) > 0 {
		end = all[0].first + all[0].size
	}
	if err := s.loose(ctx, end); err != nil || len(all) == 0 {
		return err
	}
	look, err := s.tx.PrepareContext(ctx, lookup)
	if err != nil {
		return err
	}
	defer look.Close()
	for _, g := range all {
		if len(s.found) >= s.limit {
			return nil
		}
		at, err := s.places(ctx, look, g.first)
		if err != nil {
			return err
		}
		candidates := at.down()
		sequences := make([]int64, 0, len(candidates))
		for _, n := range candidates {
			if sequence := g.first + int64(n); sequence < s.before {
				sequences = append(sequences, sequence)
			}
		}
		if err := s.fetch(ctx, sequences); err != nil {
			return err
		}
	}
	return nil
}

// loose looks through the texts from a sequence on.
func (s *search) loose(ctx context.Context, from int64) error {
	rows, err := s.tx.QueryContext(ctx, "SELECT sequence, text FROM messages WHERE sequence >= ? AND sequence < ? ORDER BY sequence DESC", from, s.before)
	if err != nil {
		return err
	}
	defer rows.Close()
	var sequences []int64
	for rows.Next() {
		var sequence int64
		var text string
		if err := rows.Scan(&sequence, &text); err != nil {
			return err
		}
		if s.query.matches(earshot.Text(text)) {
			sequences = append(sequences, sequence)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	return s.fetch(ctx, sequences)
}

// fetch adds those of some events, the newest first, that may be seen and match.
func (s *search) fetch(ctx context.Context, sequences []int64) error {
	for len(sequences) > 0 && len(s.found) < s.limit {
		// Nearly all of them are what is looked for, so that few more are read than are wanted.
		n := min(len(sequences), s.limit-len(s.found), 256)
		if s.these == nil {
			var err error
			if s.these, err = s.tx.PrepareContext(ctx, these); err != nil {
				return err
			}
		}
		events, err := s.r.these(ctx, s.these, sequences[:n])
		if err != nil {
			return err
		}
		for _, e := range events {
			if s.query.matches(searchable(e)) {
				s.found = append(s.found, e)
			}
		}
		sequences = sequences[n:]
	}
	return nil
}

// lookup is the query for the rows of one segment in which some terms are, if they are in it,
// in the order of the terms.
const lookup = `SELECT (SELECT data FROM words WHERE segment = ?1 AND term <= CAST(t.value AS BLOB) ORDER BY term DESC LIMIT 1) FROM json_each(?2) t`

// places returns the events of a segment that have all words and may be seen.
func (s *search) places(ctx context.Context, look *sql.Stmt, segment int64) (at places, err error) {
	if !s.sorted {
		if err := s.sort(ctx, look, segment); err != nil {
			return nil, err
		}
	}
	at, err = meet(ctx, look, segment, s.terms)
	if err != nil || at.none() {
		return nil, err
	}
	who := s.r.who
	var mine places // of what is private, what everybody here may see
	if people := slices.Concat(who.Members, who.Agents); len(people) > 0 && !who.Unknown {
		if mine, err = meet(ctx, look, segment, prefixed(member, people)); err != nil {
			return nil, err
		}
	}
	secret, err := meet(ctx, look, segment, []string{private})
	if err != nil {
		return nil, err
	}
	at = at.except(secret, mine)
	if len(who.Agents) == 0 {
		return at, nil
	}
	hidden, err := meet(ctx, look, segment, []string{limited})
	if err != nil {
		return nil, err
	}
	shown, err := meet(ctx, look, segment, prefixed(agent, who.Agents))
	return at.except(hidden, shown), err
}

// prefixed returns the terms by which some of those who may see something are known.
func prefixed(prefix string, ids []earshot.ParticipantID) []string {
	var terms []string
	for _, id := range ids {
		terms = append(terms, cut(prefix+string(id)))
	}
	return terms
}

// sort puts those terms first that are rarest in a segment: what is rare in one is in the
// others, and where nothing is left after a few of them the others need not be read.
func (s *search) sort(ctx context.Context, look *sql.Stmt, segment int64) error {
	many := make(map[string]int)
	for _, term := range s.terms {
		p, err := meet(ctx, look, segment, []string{term})
		if err != nil {
			return err
		}
		many[term] = p.count()
	}
	slices.SortStableFunc(s.terms, func(a, b string) int { return cmp.Compare(many[a], many[b]) })
	s.sorted = true
	return nil
}

// meet returns where all of some terms are in a segment. If they are nowhere together, what
// follows the one with which that was known is not read.
func meet(ctx context.Context, look *sql.Stmt, segment int64, terms []string) (at places, err error) {
	list, err := json.Marshal(terms)
	if err != nil {
		return nil, err
	}
	rows, err := look.QueryContext(ctx, segment, string(list))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var next places
	for i, term := range terms {
		if !rows.Next() {
			return nil, errors.Join(rows.Err(), errSegment)
		}
		var data sql.RawBytes
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		if next, err = placesOf(next, data, term); err != nil {
			return nil, err
		}
		if i == 0 {
			at, next = next, nil
		} else {
			at = at.and(next)
		}
		if at.none() {
			return nil, nil
		}
	}
	return at, nil
}
