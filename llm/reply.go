package llm

// A ReplyReader turns what a server sends of a reply into deltas, for an engine: thoughts apart from
// the text, what is said and called in place of a choice, and all calls at the end. It is for one
// reply and one goroutine.
type ReplyReader struct {
	Give     func(Delta) error // takes the deltas; its error ends the reply
	Thoughts Thoughts
	Calls    Calls
	Choice   bool // the text is the reply to a request of [EmulateTools]

	choice ToolChoiceReader
}

// Think passes on a thought that the server has separated from the text. An empty one is a sign of
// life.
func (r *ReplyReader) Think(text string) error { return r.pass(Delta{Thinking: text}) }

// Text passes on a piece of the text.
func (r *ReplyReader) Text(piece string) error { return r.pass(r.Thoughts.Next(piece)...) }

// End passes on what was kept, the calls, and the end.
func (r *ReplyReader) End(done Done) error {
	if err := r.pass(r.Thoughts.End()...); err != nil {
		return err
	}
	calls, err := r.Calls.End(done.Truncated)
	if err != nil {
		return err
	}
	return r.pass(append(calls, Delta{Done: &done})...)
}

func (r *ReplyReader) pass(deltas ...Delta) error {
	for i := range deltas {
		said, broken := deltas[i:i+1], error(nil)
		if r.Choice {
			said, broken = r.choice.Next(deltas[i])
		}
		for _, d := range said {
			if err := r.Give(d); err != nil {
				return err
			}
		}
		if broken != nil {
			return broken
		}
	}
	return nil
}
