package posts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot/internal/discord/compose"
	"earshot/internal/discord/gateway"
	"earshot/internal/mailbox"
)

const (
	// mostLines is how many lines wait to be posted.
	mostLines = 8
	// between is the least time between two messages of lines: people do not come for those.
	between = 5 * time.Second
)

// Lines are short texts that wait to be posted, in as few messages as possible. Their methods may be
// called from any goroutine.
type Lines struct {
	channel Channel
	dropped func(n int)
	waiting *mailbox.Queue[string]
}

// NewLines returns lines for a channel. Dropped receives the number of lines that are not posted
// because Discord is slow, and must not block; it may be nil.
func NewLines(c Channel, dropped func(n int)) *Lines {
	if dropped == nil {
		dropped = func(int) {}
	}
	return &Lines{c, dropped, mailbox.New(func(all []string) (kept []string, dropped int) {
		dropped = max(0, len(all)-mostLines) // of the oldest
		return slices.Delete(all, 0, dropped), dropped
	})}
}

// Add adds a line, in Discord's notation. It does not wait for Discord.
func (l *Lines) Add(line string) {
	if n := l.waiting.Put(line); n > 0 {
		l.dropped(n)
	}
}

// Run posts the lines until ctx ends. They ping nobody.
func (l *Lines) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.waiting.More():
		}
		for _, p := range compose.All(l.take(), nil) {
			_, _ = l.channel.post(ctx, message{Content: p.Content, Allowed: mention(nil)}) // if it fails, a reply will fail as well, and report it
		}
		if !gateway.Pause(ctx, between) {
			return
		}
	}
}

// take takes the waiting lines. A remark in front of them says how many were dropped since the last
// time.
func (l *Lines) take() string {
	all, dropped := l.waiting.TakeAll(nil)
	if dropped > 0 {
		all = slices.Insert(all, 0, compose.SmallPrint(fmt.Sprintf("(%d lines are left out)", dropped)))
	}
	return strings.Join(all, "\n")
}
