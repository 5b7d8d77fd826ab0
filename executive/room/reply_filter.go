package room

import (
	"strings"

	"earshot/conversation"
)

// A replyFilter filters a reply of a model, piece by piece, before it may be heard: it removes what
// only the program writes, and what the model says to the program; in front it adds a call to the
// agent that is answered.
type replyFilter struct {
	scrub conversation.EnvelopeFilter
	tap   conversation.ControlTagFilter
	call  conversation.CallPrefixer
	said  bool // something was let through

	// restore unescapes text that the model repeats, as the last step: earlier, the text could act
	// as control tags.
	restore conversation.Unescaper
}

// restart begins again with the next output of the model. In the middle of a reply no call is put
// in front.
func (s *replyFilter) restart() {
	s.scrub = conversation.EnvelopeFilter{Own: s.scrub.Own, Foreign: s.scrub.Foreign}
	s.restore = conversation.Unescaper{}
	if !s.said {
		s.tap = conversation.ControlTagFilter{}
		s.call = conversation.CallPrefixer{Name: s.call.Name, From: s.call.From, Directory: s.call.Directory}
	}
}

// next returns the part of the reply that may be heard after piece has come. After a pass it is
// empty.
func (s *replyFilter) next(piece string) string {
	text := s.restore.Next(s.through(s.scrub.Next(piece)))
	if s.tap.Passed {
		text += s.restore.End()
	}
	return s.out(text)
}

// end returns text that was held back and turned out to be plain.
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

// through passes text through the tap, and its output through the callback. It does so tag by tag:
// somebody who is called by a tag is not called in front.
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
