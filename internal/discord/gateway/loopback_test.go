package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot/internal/discord/calls"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/voice"
	"earshot/internal/field"
	"earshot/internal/testkit"
)

const patience = 30 * time.Second

// An ear keeps the messages that a session hands over.
type ear struct {
	mu    sync.Mutex
	heard []string
}

func (e *ear) take(event any) {
	if m, ok := event.(*discordgo.MessageCreate); ok {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.heard = append(e.heard, m.Content)
	}
}

func (e *ear) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.heard)
}

// start runs a session of a bot until the test ends.
func start(t *testing.T, server *discordtest.Server, bot discordtest.User) (*gateway.Session, *ear) {
	t.Helper()
	e := new(ear)
	s := gateway.New(gateway.Config{
		Token: field.Secret(bot.Token), Base: server.Base(), HTTP: server.HTTP(), Events: e.take,
		Intents: discordgo.IntentGuilds | discordgo.IntentGuildMessages | discordgo.IntentMessageContent | discordgo.IntentGuildVoiceStates,
	})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := testkit.Receive(t, testkit.Patience, "the end of the session", done); err != nil {
			t.Errorf("the session ended with %v", err)
		}
	})
	testkit.Await(t, patience, "the session is open", func() bool { return s.Status().Open })
	return s, e
}

// TestLoopbackOutages: through real sockets, against a strict Discord, what is said before and
// after an outage is heard once.
func TestLoopbackOutages(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault      func(*discordtest.Server, uint64)
		identified int
	}{
		"cut":        {func(d *discordtest.Server, bot uint64) { d.Drop(bot) }, 1},
		"op 7":       {func(d *discordtest.Server, bot uint64) { d.Reconnect(bot) }, 1},
		"op 9, true": {func(d *discordtest.Server, bot uint64) { d.Invalid(bot, true) }, 1},
		"op 9":       {func(d *discordtest.Server, bot uint64) { d.Invalid(bot, false) }, 2},
		"zombie":     {func(d *discordtest.Server, bot uint64) { d.HoldAcks(bot, true) }, 1},
		"closed":     {func(d *discordtest.Server, bot uint64) { d.CloseGateway(bot, 4000) }, 1},
		"garbage":    {func(d *discordtest.Server, bot uint64) { d.Garbage(bot) }, 1},
		"op 7 for READY": {func(d *discordtest.Server, bot uint64) {
			d.ReconnectInsteadOfReady(bot, 1)
			d.Invalid(bot, false)
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := discordtest.New(t, discordtest.Config{Heartbeat: 300 * time.Millisecond, IdentifyEvery: 5 * time.Second})
			bot, ann, general := server.Bot("bob"), server.AddUser(discordtest.User{Name: "ann", Human: true}), server.Channel("general")
			s, e := start(t, server, bot)
			server.Say(ann.ID, general.ID, "before")
			testkit.Await(t, patience, "what was said before", func() bool { return e.count() == 1 })

			tt.fault(server, bot.ID)
			testkit.Await(t, patience, "the session is open again", func() bool {
				st := s.Status()
				return st.Open && st.Identified+st.Resumed >= 2
			})
			server.HoldAcks(bot.ID, false)
			server.Say(ann.ID, general.ID, "after")
			testkit.Await(t, patience, "what was said after", func() bool { return e.count() == 2 })
			if st := s.Status(); st.Identified != tt.identified {
				t.Errorf("identified %d times, want %d", st.Identified, tt.identified)
			}
		})
	}
}

// TestLoopbackFaults: refusals that only Discord can make are told apart.
func TestLoopbackFaults(t *testing.T) {
	server := discordtest.New(t, discordtest.Config{})
	plain := server.AddUser(discordtest.User{Name: "plain"})
	for name, tt := range map[string]struct {
		token string
		code  int
	}{
		"bad token":  {"MTIz.not.one", 401},
		"no intents": {plain.Token, 4014},
	} {
		t.Run(name, func(t *testing.T) {
			s := gateway.New(gateway.Config{Token: field.Secret(tt.token), Base: server.Base(), HTTP: server.HTTP(), Intents: discordgo.IntentsGuilds | discordgo.IntentMessageContent})
			err := s.Run(t.Context())
			if f, ok := err.(*gateway.Fault); !ok || f.Code != tt.code {
				t.Errorf("ended with %v", err)
			}
		})
	}
	server.HTTP().CloseIdleConnections()
}

// TestLoopbackCall: the session joins a call, and the call outlives the session's connection, even
// one that Discord does not resume.
func TestLoopbackCall(t *testing.T) {
	t.Parallel()
	server := discordtest.New(t, discordtest.Config{})
	bot, channel := server.Bot("bob"), server.Channel("voice")
	s, _ := start(t, server, bot)

	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	cfg := voice.Config{Place: voice.Place{Guild: server.Guild().ID, Channel: channel.ID}}
	began, done := make(chan *voice.Call, 1), make(chan error, 1)
	go func() { done <- calls.RunCall(ctx, s, cfg, func(c *voice.Call) { began <- c }) }()
	call := testkit.Receive(t, testkit.Patience, "the call", began)
	in := func() bool {
		return call.Status().Phase == "in the call" && server.Voices()[bot.ID] == channel.ID && len(server.InCall(channel.ID)) == 1
	}
	testkit.Await(t, patience, "the call is joined", in)
	if err := calls.RunCall(ctx, s, cfg, nil); err != gateway.ErrBusy {
		t.Errorf("a second call in the guild: %v", err)
	}

	server.Drop(bot.ID)
	testkit.Await(t, patience, "the session is resumed", func() bool { return s.Status().Resumed == 1 })
	if !in() {
		t.Errorf("the call did not outlive a resumed session: %s", call.Status().Phase)
	}
	server.Invalid(bot.ID, false)
	testkit.Await(t, patience, "a new session", func() bool { return s.Status().Identified == 2 })
	testkit.Await(t, patience, "the call is joined by the new session", in)

	leave()
	if err := testkit.Receive(t, testkit.Patience, "the end of the call", done); err != nil {
		t.Errorf("leaving is an error: %v", err)
	}
	testkit.Await(t, patience, "the channel is left", func() bool { return server.Voices()[bot.ID] == 0 })
}

// TestLoopbackREST: requests go to the base, and a bot that is well has no fault.
func TestLoopbackREST(t *testing.T) {
	server := discordtest.New(t, discordtest.Config{})
	bot, general := server.Bot("bob"), server.Channel("general")
	s := gateway.New(gateway.Config{Token: field.Secret(bot.Token), Base: server.Base(), HTTP: server.HTTP()})
	if err := s.Ask(t.Context(), http.MethodPost, fmt.Sprintf("channels/%d/messages", general.ID), map[string]any{"content": "noon"}, nil); err != nil {
		t.Fatal(err)
	}
	if m := server.Messages(general.ID); len(m) != 1 || m[0].Content != "noon" || m[0].Author != bot.ID {
		t.Errorf("sent %+v", m)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("a bot that is well: %v", err)
	}
}
