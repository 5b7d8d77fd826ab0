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
	"earshot/internal/discord/gateway"
)

// eventOf returns the event of a message: for a part of a reply, that reply, which has the name of
// its turn while it goes on.
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

// mostOwn is how many of the agent's own messages are remembered: those that people still answer.
const mostOwn = 4096

// PostsFile is the name of the file, in the directory of the journal.
const PostsFile = "discord.jsonl"

// A post says to which reply a message belongs, and where it is.
type post struct {
	Message uint64         `json:"message"`
	Room    earshot.RoomID `json:"room"`
	Turn    earshot.TurnID `json:"turn"`
}

// PostLog remembers the last messages posted on Discord. They are stored beside the journal, since
// they are only numbers, which nothing but Discord needs. Its methods may be called from many
// goroutines.
type PostLog struct {
	path string // of the file
	log  *slog.Logger

	mu    sync.Mutex
	of    map[uint64]post
	order []uint64 // the oldest first
	kept  int      // lines in the file
	ill   bool     // a failure to store was reported
}

// OpenPostLog reads the file. What cannot be read is not remembered, and the log says so.
func OpenPostLog(directory string, log *slog.Logger) *PostLog {
	s := &PostLog{path: filepath.Join(directory, PostsFile), log: log, of: make(map[uint64]post)}
	data, err := os.ReadFile(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("the record of replies posted on Discord cannot be read", "err", err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var is post
		s.kept++
		if json.Unmarshal(lines.Bytes(), &is) == nil && is.Message != 0 { // otherwise it was cut off
			s.remember(is)
		}
	}
	return s
}

// remember adds a post, and forgets the oldest if there are too many.
func (s *PostLog) remember(is post) {
	if len(s.order) == mostOwn {
		delete(s.of, s.order[0])
		s.order = slices.Delete(s.order, 0, 1)
	}
	s.of[is.Message], s.order = is, append(s.order, is.Message)
}

// add records that a message was posted.
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

// keep appends a post to the file, or rewrites the file, all or nothing, when most of it is
// outdated. Appending does not sync: a crash of the machine may lose the last posts.
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

// lines returns messages in the form of the file.
func (s *PostLog) lines(messages ...uint64) []byte {
	var data bytes.Buffer
	out := json.NewEncoder(&data)
	for _, id := range messages {
		_ = out.Encode(s.of[id]) // they are numbers and names, and cannot fail
	}
	return data.Bytes()
}

// get returns to which reply a message belongs.
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
