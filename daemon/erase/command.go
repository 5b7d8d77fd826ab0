package erase

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/participants"
)

const (
	// previewLifetime is how long a preview can be confirmed.
	previewLifetime = 10 * time.Minute

	// mostPreviews is how many unconfirmed previews are kept.
	mostPreviews = 64

	// recentEvents is how many events are searched for the last one of somebody.
	recentEvents = 256
)

// previews holds the previews that people were shown, by the word that confirms each.
type previews struct {
	mu  sync.Mutex
	all map[string]preview
}

// A preview is a preview that somebody was shown.
type preview struct {
	by    earshot.ParticipantID
	at    time.Time
	asked api.EraseRequest
}

// waits records a preview, and returns the word that confirms it.
func (s *previews) waits(by earshot.ParticipantID, f api.EraseRequest, digest string, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.all, func(_ string, m preview) bool { return now.Sub(m.at) > previewLifetime || m.by == by })
	if s.all == nil || len(s.all) >= mostPreviews {
		s.all = make(map[string]preview)
	}
	_, word, _ := strings.Cut(digest, "-")
	f.Digest = digest
	s.all[word] = preview{by, now, f}
	return word
}

// take returns the preview that a word confirms.
func (s *previews) take(by earshot.ParticipantID, word string, now time.Time) (api.EraseRequest, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.all[word]
	if !ok || m.by != by || now.Sub(m.at) > previewLifetime {
		return api.EraseRequest{}, false
	}
	delete(s.all, word)
	return m.asked, true
}

const forgetForms = "/forget me | last | NAME | ID | since 10:00 | from 10:00 to 11:00, each with: here, or everywhere"

// A Command is /forget, by which people have something forgotten. Its methods may be
// called from many goroutines.
type Command struct {
	Eraser   *Eraser
	previews previews
}

// Table returns the command for a room.
func (c *Command) Table(is executive.Room) command.Table {
	return command.Table{{
		Group: "What is kept", Name: "forget", Args: "me | last | …", Help: "forget what you said, or a time span; shows first what would go",
		Do: func(ctx context.Context, call command.Call) (string, error) { return c.run(ctx, is, call) },
	}}
}

// run answers /forget.
func (c *Command) run(ctx context.Context, is executive.Room, call command.Call) (string, error) {
	words := strings.Fields(string(call.Args))
	now := time.Now()
	switch {
	case len(words) == 0:
		return "Write " + forgetForms + ". It first shows what would be forgotten.", nil
	case strings.EqualFold(words[0], "yes"):
		f, ok := c.previews.take(call.By.ID, strings.ToLower(strings.Join(words[1:], "")), now)
		if !ok {
			return "", errors.New("there is nothing to confirm: nothing was shown to you recently; write /forget and what, to see what would go")
		}
		p, err := c.Eraser.Erase(ctx, call.By, f)
		if err != nil {
			return "", err
		}
		return ResultText(p) + " The last traces will be gone from the files in a moment.", nil
	}
	f, err := c.parse(ctx, is, call, words, now)
	if err != nil {
		return "", err
	}
	p, err := c.Eraser.Preview(ctx, call.By, f)
	if err != nil {
		return "", err
	}
	if IsEmpty(p) {
		return PreviewText(p), nil
	}
	return PreviewText(p) + "\nIt cannot be undone. If you mean it, write /forget yes " + c.previews.waits(call.By.ID, f, p.Digest, now), nil
}

func (c *Command) parse(ctx context.Context, is executive.Room, call command.Call, words []string, now time.Time) (f api.EraseRequest, err error) {
	text := strings.Join(words, " ")
	for _, where := range []string{"here", "everywhere"} {
		if rest, ok := strings.CutSuffix(" "+text, " "+where); ok {
			text = strings.TrimSpace(rest)
			if where == "here" {
				f.Room = is.ID
			}
			break
		}
	}
	text, from, to := CutSpan(text)
	if f.From, err = ParseTime(from, now); err != nil {
		return f, err
	}
	if f.To, err = ParseTime(to, now); err != nil {
		return f, err
	}
	text = strings.Trim(text, `"`)
	switch {
	case text == "everything":
		f.Everything = true
	case text == "last":
		f.Who = "me"
		last, err := c.lastOf(ctx, is.ID, call.By)
		f.Events = []earshot.EventID{last}
		return f, err
	case text == "" && f.From.IsZero() && f.To.IsZero() && f.Room == "":
		return f, errors.New("write " + forgetForms)
	case text == "":
		if f.Room == "" && !strings.HasSuffix(strings.Join(words, " "), "everywhere") { // a time means what happened in the person's own room
			f.Room = is.ID
		}
	case c.isEvent(ctx, is.ID, text):
		f.Events = []earshot.EventID{earshot.EventID(text)}
	default:
		f.Who = text
	}
	return f, nil
}

func (c *Command) isEvent(ctx context.Context, in earshot.RoomID, id string) bool {
	_, known, err := c.Eraser.Store.Event(ctx, in, earshot.EventID(id))
	return err == nil && known
}

// lastOf returns the last event that somebody wrote or said in a room.
func (c *Command) lastOf(ctx context.Context, in earshot.RoomID, who participants.Participant) (earshot.EventID, error) {
	people := c.Eraser.People.Identities(who.ID)
	all, err := c.Eraser.Store.For(earshot.Audience{Room: in, Members: []earshot.ParticipantID{who.Reader()}}).Last(ctx, []earshot.Kind{earshot.KindMessage, earshot.KindUtterance}, recentEvents)
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(all) {
		if slices.Contains(people, e.Author) {
			return e.ID, nil
		}
	}
	return "", errors.New("you have said nothing here recently")
}
