package calls_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"go.uber.org/goleak"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/discord/calls"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/voice"
	"earshot/internal/field"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	"earshot/models/stt"
	"earshot/models/tts"
	"earshot/providers/microphone"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		helpertest.Remove()
		os.Exit(code)
	}))
}

// patience is how long real processes may take on a machine under load.
const patience = 2 * time.Minute

// A studio has the real helpers.
type studio struct {
	t    *testing.T
	dial func(role string) helper.Dialer
}

// perform runs a part until the test ends.
func perform(t *testing.T, run func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		testkit.Finish(t, testkit.Patience, "the end of a part", running.Wait)
	})
}

// records returns texts in a synthetic voice, as Opus frames of 20 ms.
func (s studio) records(texts ...string) (all [][][]byte) {
	ctx, stop := context.WithCancel(s.t.Context())
	say := tts.New(tts.Config{Dial: s.dial("say"), Log: slog.New(slog.DiscardHandler)})
	var mu sync.Mutex
	var frames [][]byte
	opus := codec.NewOpus(codec.OpusConfig{Dial: s.dial("media"), Encoded: func(_ context.Context, frame []byte) {
		mu.Lock()
		defer mu.Unlock()
		frames = append(frames, slices.Clone(frame))
	}})
	var running sync.WaitGroup
	running.Go(func() { _ = say.Run(ctx) })
	running.Go(func() { _ = opus.Run(ctx) })
	defer running.Wait()
	defer stop()
	for _, text := range texts {
		for c, err := range say.Say(ctx, text) {
			if err != nil {
				s.t.Fatal(err)
			}
			if err := opus.Encode(ctx, audio.Rate, c.PCM); err != nil {
				s.t.Fatal(err)
			}
		}
		if err := opus.Flush(ctx); err != nil {
			s.t.Fatal(err)
		}
		mu.Lock()
		all, frames = append(all, frames), nil
		mu.Unlock()
	}
	return all
}

// A guest is somebody in a call who speaks.
type guest struct {
	user discordtest.User
	call *voice.Call
	line *discordtest.Line
}

// Move implements [voice.Line].
func (g *guest) Move(ctx context.Context, guild, channel uint64, mute, deaf bool) error {
	return g.line.Move(ctx, guild, channel, mute, deaf)
}

func comes(t *testing.T, s *discordtest.Server, name string) *guest {
	g := &guest{user: s.AddUser(discordtest.User{Name: name, Human: true})}
	g.call = voice.New(voice.Config{
		Place: voice.Place{Guild: s.Guild().ID, Channel: s.Channel("voice").ID, Self: g.user.ID}, Line: g, HTTP: s.HTTP(),
	})
	g.line = s.Line(g.user, g.call.State, g.call.Server)
	perform(t, g.call.Run)
	return g
}

// says sends frames at the pace of a call.
func (g *guest) says(t *testing.T, frames [][]byte) {
	for _, f := range frames {
		if err := g.call.Say(t.Context(), f); err != nil {
			t.Error(err)
			return
		}
	}
}

// A house keeps what is said, and who has opted out.
type house struct {
	mu   sync.Mutex
	said []earshot.Event
	out  map[uint64]bool
	told []string
}

func (h *house) emit(_ context.Context, e earshot.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Body.Kind() == earshot.KindUtterance {
		h.said = append(h.said, e)
	}
	return nil
}

// of returns what somebody has said, and whether any of it overlaps.
func (h *house) of(user uint64) (words string, overlaps bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.said {
		if e.From == gateway.HandleOf(user) {
			u := e.Body.(earshot.Utterance)
			words, overlaps = words+" "+string(u.Text), overlaps || u.Overlaps
		}
	}
	return strings.TrimSpace(words), overlaps
}

func (h *house) Out(user uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.out[user]
}

func (h *house) Set(user uint64, out bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.out[user] = out
	return nil
}

// TestReal: three people speak to a bot at once in an encrypted call. Each is understood, and is
// known as the speaker, whether Discord tells soon, late or never to whom a stream belongs.
// Somebody who opts out while they speak is not heard.
func TestReal(t *testing.T) {
	dir := helpertest.Build(t, "earshot-speech")
	log := slog.New(slog.DiscardHandler)
	s := studio{t, func(role string) helper.Dialer {
		return func() (helper.Link, error) {
			return helper.Start(helper.Command{Name: "earshot-speech", Path: filepath.Join(dir, "earshot-speech"), Args: []string{role}, Log: log})
		}
	}}
	t.Cleanup(func() { http.DefaultClient.CloseIdleConnections() })
	texts := []string{"what was the weather like today", "please tell me about some moon and all his stars", "how many people live in london"}
	spoken := s.records(texts...)

	for name, late := range map[string]time.Duration{"at once": 0, "late": 3 * time.Second, "never": -1} {
		t.Run(name, func(t *testing.T) {
			server := discordtest.New(t, discordtest.Config{})
			server.LateSpeaking(late)
			h := &house{out: make(map[uint64]bool)}
			c := bot(t, server, s, h)
			var guests []*guest
			for _, name := range []string{"ann", "bob", "carl"} {
				guests = append(guests, comes(t, server, name))
			}
			testkit.Await(t, patience, "everybody in the call, with keys", func() bool {
				st := c.Status()
				for _, g := range guests {
					if s := g.call.Status(); !s.Encrypted || len(s.People) != len(guests) || len(st) != 1 || s.Code != st[0].Voice.Code {
						return false
					}
				}
				return st[0].Listens && st[0].Voice.Encrypted
			})
			var speaking sync.WaitGroup
			understood := func() bool {
				for i, g := range guests {
					if words, _ := h.of(g.user.ID); words == "" || whose(words, texts) != i {
						return false
					}
				}
				return true
			}
			for range 3 { // a busy machine loses packets, and cut-up words are not understood
				for i, g := range guests {
					speaking.Go(func() { g.says(t, spoken[i]) })
				}
				testkit.Finish(t, 5*testkit.Patience, "the end of what is said", speaking.Wait)
				if testkit.Poll(patience/3, understood) {
					break
				}
			}
			if !understood() {
				t.Fatal("waited in vain: what they said, three times")
			}
			for i, g := range guests {
				got, overlaps := h.of(g.user.ID)
				if whose(got, texts) != i || !overlaps { // packets may be lost, and the recogniser may err
					t.Errorf("%s has said %q, overlaps %v", g.user.Name, got, overlaps)
				}
			}

			if late != 0 {
				return
			}
			ann, bob := guests[0], guests[1]
			before, _ := h.of(ann.user.ID)
			speaking.Go(func() { ann.says(t, spoken[0]) })
			testkit.Await(t, patience, "ann in mid-sentence", func() bool { return ann.call.Sent() > int64(len(spoken[0])+30) })
			c.OptOut(ann.user.ID, true)
			testkit.Finish(t, 5*testkit.Patience, "the end of what is said", speaking.Wait)
			was, _ := h.of(bob.user.ID)
			bob.says(t, spoken[1])
			testkit.Await(t, patience, "what bob said", func() bool { now, _ := h.of(bob.user.ID); return now != was })
			if after, _ := h.of(ann.user.ID); after != before {
				t.Errorf("ann was heard after she had opted out: %q", strings.TrimPrefix(after, before))
			}
		})
	}
}

// whose returns which of the texts, which share no word, has the most words in common with what was
// understood.
func whose(words string, texts []string) (best int) {
	most := 0
	for i, text := range texts {
		n := 0
		for _, w := range strings.Fields(text) {
			if slices.Contains(strings.Fields(words), w) {
				n++
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	if most == 0 {
		return -1
	}
	return best
}

// bot runs a bot that joins the voice channel when somebody is there.
func bot(t *testing.T, server *discordtest.Server, s studio, h *house) *calls.Calls {
	log := slog.New(slog.DiscardHandler)
	pool := stt.NewPool(stt.PoolConfig{Most: 3, Each: stt.Config{Dial: s.dial("hear"), Names: []string{"earshot"}, Log: log}})
	var session *gateway.Session
	cfg := calls.Config{Announce: true, EncryptedCalls: true}
	cfg.ByItself = true
	mic := microphone.DefaultConfig()
	mic.Deaf = 0
	c := calls.New(cfg, calls.Parts{
		Call: func(ctx context.Context, cfg voice.Config, use func(calls.Call)) error {
			return calls.RunCall(ctx, session, cfg, func(c *voice.Call) { use(c) })
		},
		Ear: func(from earshot.Handle, _ earshot.RoomID, c calls.Capture) calls.Ear {
			return microphone.New(mic, microphone.Parts{
				Capture: c, Recogniser: microphone.UseSTT(pool.Listener()), Name: "discord", From: from, Via: "discord voice",
			})
		},
		Decoder: func(heard func(uint32, *audio.Frame)) calls.Decoder {
			return codec.NewOpus(codec.OpusConfig{Dial: s.dial("media"), Heard: heard})
		},
		Room: func(_ context.Context, _, channel uint64) (earshot.RoomID, error) {
			return earshot.RoomID(fmt.Sprintf("discord-%d", channel)), nil
		},
		Listens: func(earshot.RoomID) (bool, <-chan struct{}) { return true, nil },
		Arrive:  func(context.Context, uint64, uint64) error { return nil },
		Tell: func(_ context.Context, _ uint64, text string) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.told = append(h.told, text)
			return nil
		},
		OptOuts: h, Log: log,
	})
	user := server.Bot("earshot")
	session = gateway.New(gateway.Config{
		Token: field.Secret(user.Token), Base: server.Base(), HTTP: server.HTTP(), Events: c.Take,
		Intents: discordgo.IntentGuilds | discordgo.IntentGuildVoiceStates,
	})
	perform(t, pool.Run)
	perform(t, session.Run)
	perform(t, func(ctx context.Context) error { return c.Run(ctx, h.emit) })
	return c
}
