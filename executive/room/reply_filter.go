package room

import (
	"strings"

	"earshot/conversation"
)

// A replyFilter is what a reply of a model comes through, piece by piece, before it may
// be heard: what only the house writes stays behind, and what the model says to
// the house; in front comes a call to the agent that is answered.
type replyFilter struct {
	scrub conversation.EnvelopeFilter
	tap   conversation.ControlTagFilter
	call  conversation.CallPrefixer
	said  bool // something was let through

	// What it repeats of a text that was escaped for it is restored at last: not before,
	// or the text could have it say something to the house.
	restore conversation.Unescaper
}

// restart begins again with what the model says next. In the middle of a reply
// nobody is called in front any more.
func (s *replyFilter) restart() {
	s.scrub = conversation.EnvelopeFilter{Own: s.scrub.Own, Foreign: s.scrub.Foreign}
	s.restore = conversation.Unescaper{}
	if !s.said {
		s.tap = conversation.ControlTagFilter{}
		s.call = conversation.CallPrefixer{Name: s.call.Name, From: s.call.From, Directory: s.call.Directory}
	}
}

// next returns what of the reply may be heard after piece has come. After a pass
// it is nothing.
func (s *replyFilter) next(piece string) string {
	text := s.restore.Next(s.through(s.scrub.Next(piece)))
	if s.tap.Passed {
		text += s.restore.End()
	}
	return s.out(text)
}

// end returns what was held back and has become nothing.
func (s *replyFilter) end() string {
	rest := s.through(s.scrub.End()) + s.called(s.tap.End()) + s.call.End()
	return s.out(s.restore.Next(rest) + s.restore.End())
}

// out returns text without the space before the first word.
func (s *replyFilter) out(text string) string {
	if !s.said {
		text = strings.TrimLeft(text, " \t\r\n")
	}
	s.said = s.said || text != ""
	return text
}

// through lets text through the tap, and then, as far as that comes, through the
// callback. It goes on tag by tag: who is called by one is not called in front.
func (s *replyFilter) through(text string) string {
	if strings.IndexByte(text, '>') < 0 {
		return s.called(s.tap.Next(text))
	}
	var out strings.Builder
	for part := range strings.SplitAfterSeq(text, ">") {
		out.WriteString(s.called(s.tap.Next(part)))
	}
	return out.String()
}

func (s *replyFilter) called(text string) string {
	text = s.call.Next(text)
	if s.tap.Passed || len(s.tap.Calls) > 0 {
		text += s.call.Drop()
	}
	return text
}
