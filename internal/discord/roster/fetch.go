package roster

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"earshot/internal/discord/gateway"
)

// A Client is Discord's REST interface; a [*gateway.Session] is one.
type Client interface {
	// Ask sends a request, see [gateway.Session.Ask].
	Ask(ctx context.Context, method, path string, body, into any) error
}

// A Fetcher asks Discord what the gateway did not tell, in the background. Its methods are for the
// goroutine of the roster, which takes the findings; they do not wait for Discord.
type Fetcher struct {
	client     Client
	background *gateway.Background
	found      chan *Finding
}

// NewFetcher returns a fetcher.
func NewFetcher(client Client, background *gateway.Background) *Fetcher {
	return &Fetcher{client, background, make(chan *Finding)}
}

// Found returns the channel of the findings, which are for [Roster.Take].
func (f *Fetcher) Found() <-chan *Finding { return f.found }

// hand hands over a finding.
func (f *Fetcher) hand(ctx context.Context, is *Finding) {
	select {
	case f.found <- is:
	case <-ctx.Done():
	}
}

// LookUp asks what a channel is. It calls busy with a finding if too much is asked already.
func (f *Fetcher) LookUp(ctx context.Context, channel uint64, busy func(*Finding)) {
	f.background.Run(func() {
		is := &Finding{channel: channel}
		if err := f.client.Ask(ctx, http.MethodGet, "channels/"+gateway.Digits(channel), nil, &is.found); err != nil {
			f.background.LogFailure(ctx, "asking what a channel is", err)
			refused := (*gateway.Refusal)(nil)
			is.found, is.failed = nil, !errors.As(err, &refused) || refused.Status >= http.StatusInternalServerError
		}
		f.hand(ctx, is)
	}, func() { busy(&Finding{channel: channel, failed: true}) })
}

// LookUpDirect asks for the channels of direct messages with people.
func (f *Fetcher) LookUpDirect(ctx context.Context, users []uint64) {
	if len(users) == 0 {
		return
	}
	f.background.RunGuild(ctx, func() {
		for _, user := range users {
			var found *discordgo.Channel
			err := f.client.Ask(ctx, http.MethodPost, "users/@me/channels", map[string]any{"recipient_id": gateway.Digits(user)}, &found)
			if err != nil || found == nil {
				f.background.LogFailure(ctx, "asking for direct messages", err)
				continue
			}
			f.hand(ctx, &Finding{with: user, found: found})
		}
	}, func() {})
}

// CatchUp asks for the newest messages of channels of one guild, or of direct messages, in which
// something may have been missed.
func (f *Fetcher) CatchUp(ctx context.Context, behind []*Channel) {
	if len(behind) == 0 {
		return
	}
	known := make([]uint64, len(behind)) // the channels themselves are the roster's
	for i, c := range behind {
		known[i] = c.newest()
	}
	f.background.RunGuild(ctx, func() {
		for i, c := range behind {
			newest, err := f.newest(ctx, "channels/"+gateway.Digits(c.ID)+"/messages", known[i])
			if err != nil {
				f.background.LogFailure(ctx, "asking what was said meanwhile", err)
				continue
			}
			f.hand(ctx, &Finding{in: c, newest: newest})
		}
	}, func() {
		for _, c := range behind {
			c.behind = true // the next time
		}
	})
}

// errHidden is the error of a channel that shows none of its messages.
var errHidden = errors.New("the history of a channel cannot be read: the bot's role lacks Read Message History there")

// unknownMessage is Discord's code for a message that does not exist.
const unknownMessage = 10008

// newest returns the newest messages of a channel, where a message is known to have been. An empty
// answer is believed only if that message is gone: Discord also gives it to bots that may not read
// the history.
func (f *Fetcher) newest(ctx context.Context, path string, known uint64) (newest []*discordgo.Message, err error) {
	err = f.client.Ask(ctx, http.MethodGet, fmt.Sprintf("%s?limit=%d", path, MostRecent), nil, &newest)
	if err != nil || len(newest) > 0 || known == 0 {
		return newest, err
	}
	err = f.client.Ask(ctx, http.MethodGet, path+"/"+gateway.Digits(known), nil, nil)
	if refused := (*gateway.Refusal)(nil); errors.As(err, &refused) && refused.Code == unknownMessage {
		return nil, nil
	}
	return nil, errHidden
}
