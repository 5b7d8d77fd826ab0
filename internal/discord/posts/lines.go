package posts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot/internal/discord/compose"
	"earshot/internal/discord/gateway"
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
	drop    func(n int)
	more    chan struct{} // holds a token when there is a line

	mu      sync.Mutex
	waiting []string
	dropped int // since the last message
}

// NewLines returns lines for a channel. Dropped receives the number of lines that are not posted
// because Discord is slow, and must not block; it may be nil.
func NewLines(c Channel, dropped func(n int)) *Lines {
	if dropped == nil {
		dropped = func(int) {}
	}
	return &Lines{channel: c, drop: dropped, more: make(chan struct{}, 1)}
}

// Add adds a line, in Discord's notation. It does not wait for Discord.
func (l *Lines) Add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == mostLines {
		l.waiting = slices.Delete(l.waiting, 0, 1)
		l.dropped++
		l.drop(1)
	}
	l.waiting = append(l.waiting, line)
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// Run posts the lines until ctx ends. They ping nobody.
func (l *Lines) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.more:
		}
		for _, p := range compose.All(l.take(), compose.Names{}) {
			_, _ = l.channel.post(ctx, message{Content: p.Content, Allowed: mention(nil)}) // if it fails, a reply will fail as well, and report it
		}
		if !gateway.Pause(ctx, between) {
			return
		}
	}
}

// take takes the waiting lines.
func (l *Lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dropped > 0 {
		l.waiting = append([]string{compose.SmallPrint(fmt.Sprintf("(%d lines are left out)", l.dropped))}, l.waiting...)
	}
	text := strings.Join(l.waiting, "\n")
	l.waiting, l.dropped = nil, 0
	return text
}
