package discord_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/internal/discord/compose"
	"earshot/internal/discord/discordtest"
	rest "earshot/internal/discord/gateway"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/outlets/discord"
)

// TestTextReal: on a Discord that loses answers, fails and limits rates, ten channels at once get
// what was said, once and in order, and nobody is pinged who is not meant.
func TestTextReal(t *testing.T) {
	server := discordtest.New(t, discordtest.Config{})
	bot, ann := server.Bot("Claude"), server.AddUser(discordtest.User{Name: "Ann", Human: true})
	own := new(http.Transport)
	defer own.CloseIdleConnections()
	session := rest.New(rest.Config{Token: field.Secret(bot.Token), Base: server.Base(), HTTP: &http.Client{Transport: own}})

	var works sync.WaitGroup
	defer testkit.Finish(t, testkit.Patience, "the outlets", works.Wait)
	var rooms []discordtest.Channel
	for i := range 10 {
		rooms = append(rooms, server.AddChannel(discordtest.Channel{Name: fmt.Sprint("room-", i)}))
	}
	line := "Channel %d: @Ann and @everyone, see `code` at https://example.org/x.\n"
	server.LoseAnswers(3)
	server.Break(2)
	server.RateLimit(200*time.Millisecond, 100*time.Millisecond)
	for i, room := range rooms {
		asked := server.Say(ann.ID, room.ID, "What is it?")
		works.Go(func() {
			text, shut := running(discord.TextConfig{
				Channel: room.ID, REST: session, Names: func(earshot.ParticipantID) compose.Names {
					return compose.Names{{Name: "Ann", ID: ann.ID}}
				},
				Refused: func(err error) { t.Errorf("room %d: %v", i, err) },
			})
			defer shut()
			r := open(t, text, earshot.Opening{Turn: earshot.TurnID(room.Name), About: rest.EventOf(room.ID, asked.ID)})
			defer r.leave()
			for range 60 {
				r.say(fmt.Sprintf(line, i))
			}
			r.Finish()
			testkit.Await(t, patience, "the reply is posted", r.ended)
			if r.heard() != strings.Repeat(fmt.Sprintf(line, i), 60) {
				t.Errorf("room %d: heard %d bytes", i, len(r.heard()))
			}

			all := slices.DeleteFunc(server.Messages(room.ID), func(m discordtest.Message) bool { return m.Author != bot.ID })
			var content []string
			for n, m := range all {
				content = append(content, m.Content)
				if reply := m.ReplyTo == asked.ID; reply != (n == 0) {
					t.Errorf("room %d: message %d answers %d", i, n, m.ReplyTo)
				}
				if got, want := string(m.Allowed), fmt.Sprintf(`{"parse":[],"users":["%d"],"replied_user":false}`, ann.ID); got != want {
					t.Errorf("room %d: message %d may mention %s", i, n, got)
				}
			}
			want := strings.TrimSpace(strings.Repeat(fmt.Sprintf("Channel %d: <@%d> and @\u200beveryone, see `code` at https://example.org/x.\n", i, ann.ID), 60))
			if strings.Join(content, "\n") != want {
				t.Errorf("room %d: %d messages that are not what was said", i, len(all))
			}
		})
	}
}
