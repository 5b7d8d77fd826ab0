package discord

import (
	"sort"
	"sync"

	"earshot"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/posts"
)

// A textSpeech is one reply on its way into a channel: its writer counts bytes of the whole reply,
// which are clauses here.
type textSpeech struct {
	writer *posts.Writer

	mu      sync.Mutex
	clauses []clause
	size    int // of what was said, in bytes
}

// A clause is where a clause begins.
type clause struct{ n, start int }

// newTextSpeech returns a speech, whose writer must be run.
func newTextSpeech(t *Text, o earshot.Opening, heard func(earshot.Heard)) *textSpeech {
	s := new(textSpeech)
	about, ok := gateway.MessageOf(t.cfg.Channel, o.About)
	if !ok {
		about = 0 // it answers no message of the channel
	}
	s.writer = posts.NewWriter(posts.WriterConfig{
		Channel: t.channel, Names: t.cfg.Names(o.To), Head: t.head(o.Name), Seed: string(o.Turn), About: about,
		Ping:    func() bool { return t.cfg.Calls(o) },
		Posted:  func(message uint64) { t.cfg.Posted(o.Turn, message) },
		Reached: func(bytes int) { heard(s.position(bytes)) },
		Ended: func(bytes int, err error) {
			at := s.position(bytes)
			at.End = true
			heard(at)
			if err != nil {
				t.cfg.Refused(err)
			}
		},
	})
	return s
}

// Say implements [earshot.Speaking].
func (s *textSpeech) Say(c earshot.Clause) error {
	s.mu.Lock()
	s.clauses = append(s.clauses, clause{c.N, s.size})
	s.size += len(c.Text)
	s.mu.Unlock()
	return s.writer.Write(string(c.Text))
}

// Do implements [earshot.Speaking].
func (s *textSpeech) Do(c earshot.Control) {
	switch c {
	case earshot.Pause:
		s.writer.Pause(true)
	case earshot.Resume, earshot.Duck:
		s.writer.Pause(false)
	case earshot.Cut:
		s.writer.Cut()
	}
}

// Finish implements [earshot.Speaking].
func (s *textSpeech) Finish() { s.writer.Finish() }

// position returns where in the clauses so many bytes of the reply end.
func (s *textSpeech) position(bytes int) earshot.Heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := sort.Search(len(s.clauses), func(i int) bool { return s.clauses[i].start >= bytes }) - 1
	if i < 0 {
		return earshot.Heard{}
	}
	return earshot.Heard{Clause: s.clauses[i].n, Byte: bytes - s.clauses[i].start}
}
