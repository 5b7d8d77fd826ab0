package earshot

// MaxAttachments is how many files of one message are named at most.
const MaxAttachments = 10

// An Attachment is a file that hangs at a message. Only what it is called is known
// here, which is what its sender says, and not to be trusted: nothing of it was read.
type Attachment struct {
	Name Text   `json:"name"` // somebody's words, as those of the message are
	Type string `json:"type,omitempty"`
	Size int64  `json:"size,omitempty"` // in bytes
}

// A Revision says that who wrote a message changed it. From then on the message is
// Text everywhere: in the journal, in what is found, shown and told to models. What
// it was before is kept nowhere. Only its author can do so, through the same sense;
// nobody answers a revision as such.
//
// A revision is seen by whom the message is. It is derived from it, and goes with it.
// One that another follows loses its text.
type Revision struct {
	Of   EventID `json:"of"`
	Text Text    `json:"text,omitempty"`
}

// A Withdrawal says that a message, or a fact, was taken back: by its author, or, if its handle
// has a provider and no identifier, by whoever keeps order there, who can take back a
// reply as well that came out there. What was said in it, and all that was derived from
// it, is kept nowhere from then on. What whoever keeps order takes back before it was
// brought in, as its sense may, is not let in afterwards.
type Withdrawal struct {
	Of EventID `json:"of"`

	// Was is the kind of what was taken back. The journal fills it in, and older ones
	// did not; see [Withdrawal.Took].
	Was Kind `json:"was,omitempty"`

	// With is what was derived from it and is gone too. The journal fills it in.
	With []EventID `json:"with,omitempty"`
}

// Took returns the kind of what was taken back, by whoever has a handle. An older journal
// does not say it; there the program itself took back facts, and nothing else.
func (w Withdrawal) Took(from Handle) Kind {
	switch {
	case w.Was != "":
		return w.Was
	case from.Provider == "earshot":
		return KindFact
	}
	return KindMessage
}

// An ErasureRecord says that so much of what happened in a room was forgotten because somebody
// wanted that: how much, and never what or of whom. Whoever shows what happened there
// before reads it again. Its author is who operates the house, if it was they.
type ErasureRecord struct {
	Events int `json:"events"`
}
