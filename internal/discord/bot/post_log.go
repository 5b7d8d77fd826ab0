package bot

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"earshot"
	"earshot/internal/atomicfile"
	gateway "earshot/internal/discord"
)

// eventOf returns the event that a message is: of a part of a reply, that reply, which is
// named by its turn as long as it goes on.
func (b *Bot) eventOf(ctx context.Context, channel, message uint64) earshot.EventID {
	said, ok := b.own.get(message)
	if !ok {
		return gateway.EventOf(channel, message)
	}
	for _, a := range b.c.Rooms.Audiences(said.Room) {
		found, err := b.c.Store.For(a).Turn(ctx, said.Turn)
		if err != nil {
			b.c.Log.Warn("a posted reply cannot be found", "err", err)
		}
		for _, ev := range found {
			if ev.Body.Kind() == earshot.KindReply {
				return ev.ID
			}
		}
	}
	return earshot.EventID(said.Turn)
}

// mostOwn is how many of its own messages are remembered: what people still answer.
const mostOwn = 4096

// PostsFile is where the posts are kept, in the directory of the journal.
const PostsFile = "discord.jsonl"

// A post is of which reply a message is part, and where.
type post struct {
	Message uint64         `json:"message"`
	Room    earshot.RoomID `json:"room"`
	Turn    earshot.TurnID `json:"turn"`
}

// PostLog are the last messages that were posted on Discord. They are kept beside the
// journal, since they are no more than numbers, which Discord alone would miss. Its
// methods may be called from many goroutines.
type PostLog struct {
	path string // where they are kept; nowhere if it is empty
	log  *slog.Logger

	mu    sync.Mutex
	of    map[uint64]post
	order []uint64 // the oldest first
	kept  int      // lines in the file
	ill   bool     // it was said that they cannot be kept
}

// OpenPostLog reads them. What cannot be read is not remembered, which is said in the log.
func OpenPostLog(directory string, log *slog.Logger) *PostLog {
	s := &PostLog{path: filepath.Join(directory, PostsFile), log: log, of: make(map[uint64]post)}
	data, err := os.ReadFile(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("the record of replies posted on Discord cannot be read", "err", err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var is post
		s.kept++
		if json.Unmarshal(lines.Bytes(), &is) == nil && is.Message != 0 { // else it was cut off
			s.remember(is)
		}
	}
	return s
}

// remember takes one in, and forgets the oldest if there are too many.
func (s *PostLog) remember(is post) {
	if len(s.order) == mostOwn {
		delete(s.of, s.order[0])
		s.order = slices.Delete(s.order, 0, 1)
	}
	s.of[is.Message], s.order = is, append(s.order, is.Message)
}

// add notes that a message was posted.
func (s *PostLog) add(is post) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remember(is)
	err := s.keep(is)
	if err != nil && !s.ill {
		s.log.Warn("the record of a reply posted on Discord cannot be written", "err", err)
	}
	s.ill = err != nil
}

// keep writes one behind the others, and all of them anew when most are outdated, whole
// or not at all. Nobody waits for the disk otherwise: the last of them may be lost with
// the machine.
func (s *PostLog) keep(is post) error {
	if s.kept >= 2*mostOwn {
		s.kept = len(s.order)
		return atomicfile.Write(s.path, s.lines(s.order...))
	}
	s.kept++
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(s.lines(is.Message))
	return errors.Join(err, f.Close())
}

// lines returns messages as they stand in the file.
func (s *PostLog) lines(messages ...uint64) []byte {
	var data bytes.Buffer
	out := json.NewEncoder(&data)
	for _, id := range messages {
		_ = out.Encode(s.of[id]) // of numbers and names, which cannot fail
	}
	return data.Bytes()
}

// get returns of which reply a message is part.
func (s *PostLog) get(message uint64) (post, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is, ok := s.of[message]
	return is, ok
}

// in returns the messages in a room, the oldest first.
func (s *PostLog) in(room earshot.RoomID) (messages []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.order {
		if s.of[id].Room == room {
			messages = append(messages, id)
		}
	}
	return messages
}

// Forget forgets which messages were parts of some replies.
func (s *PostLog) Forget(turns map[earshot.TurnID]bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.order)
	s.order = slices.DeleteFunc(s.order, func(id uint64) bool {
		gone := turns[s.of[id].Turn]
		if gone {
			delete(s.of, id)
		}
		return gone
	})
	if len(s.order) == before {
		return nil
	}
	s.kept = len(s.order)
	return atomicfile.Write(s.path, s.lines(s.order...))
}
