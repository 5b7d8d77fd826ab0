package conversation

import (
	"strings"
)

// A ReplyFilter filters a model's reply, piece by piece, before it may be heard. It removes what
// only the program writes, and what the model says to the program, and puts a call to the agent
// that is answered in front.
type ReplyFilter struct {
	Envelopes EnvelopeFilter
	Tags      ControlTagFilter
	Call      CallPrefixer
	said      bool // something was released

	// restore unescapes text that the model repeats. This is the last step: any earlier, the text
	// could act as control tags.
	restore Unescaper
}

// Restart begins again for the next output of the model. In the middle of a reply, no call is put
// in front.
func (s *ReplyFilter) Restart() {
	s.Envelopes = EnvelopeFilter{Own: s.Envelopes.Own, Foreign: s.Envelopes.Foreign}
	s.restore = Unescaper{}
	if !s.said {
		s.Tags = ControlTagFilter{}
		s.Call = CallPrefixer{Name: s.Call.Name, From: s.Call.From, Directory: s.Call.Directory}
	}
}

// Next returns the part of the reply that may be heard after piece has come. After a pass it is
// empty.
func (s *ReplyFilter) Next(piece string) string {
	text := s.restore.Next(s.through(s.Envelopes.Next(piece)))
	if s.Tags.Passed {
		text += s.restore.End()
	}
	return s.out(text)
}

// End returns text that was held back and turned out to be plain.
func (s *ReplyFilter) End() string {
	rest := s.through(s.Envelopes.End()) + s.called(s.Tags.End()) + s.Call.End()
	return s.out(s.restore.Next(rest) + s.restore.End())
}

// out returns text without the space before the first word.
func (s *ReplyFilter) out(text string) string {
	if !s.said {
		text = strings.TrimLeft(text, " \t\r\n")
	}
	s.said = s.said || text != ""
	return text
}

// through passes text through the tag filter, and its output through the call prefixer. It does so
// tag by tag, so that no call is put in front of a reply that calls somebody by a tag.
func (s *ReplyFilter) through(text string) string {
	if strings.IndexByte(text, '>') < 0 {
		return s.called(s.Tags.Next(text))
	}
	var out strings.Builder
	for part := range strings.SplitAfterSeq(text, ">") {
		out.WriteString(s.called(s.Tags.Next(part)))
	}
	return out.String()
}

func (s *ReplyFilter) called(text string) string {
	text = s.Call.Next(text)
	if s.Tags.Passed || len(s.Tags.Calls) > 0 {
		text += s.Call.Drop()
	}
	return text
}

// Continue makes what follows count as the middle of a reply, so that no call is put in front of
// it.
func (s *ReplyFilter) Continue() { s.said, s.Call = true, CallPrefixer{} }
