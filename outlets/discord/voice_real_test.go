package discord_test

import (
	"bytes"
	"context"
	"iter"
	"log/slog"
	"math"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/voice"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/playback"
	"earshot/internal/playback/playbacktest"
	"earshot/internal/testkit"
	"earshot/models/tts"
	"earshot/outlets/discord"
)

// patience is how long a real process may take on a machine under load.
const patience = 30 * time.Second

// A tee keeps what a voice has made, since the same words sound different each time. It hands over
// a text only when all of it is made, so that a busy machine leaves no gap in it for want of sound.
type tee struct {
	playback.Voice

	mu    sync.Mutex
	pcm   []int16
	words []tts.Word
}

func (v *tee) Say(ctx context.Context, spoken string) iter.Seq2[tts.Chunk, error] {
	return func(yield func(tts.Chunk, error) bool) {
		v.mu.Lock()
		v.pcm, v.words = nil, nil
		for c, err := range v.Voice.Say(ctx, spoken) {
			if err != nil {
				v.mu.Unlock()
				yield(c, err)
				return
			}
			v.pcm, v.words = append(v.pcm, c.PCM...), append(v.words, c.Words...)
		}
		whole := tts.Chunk{PCM: v.pcm, Words: v.words}
		v.mu.Unlock()
		yield(whole, nil)
	}
}

// A guest is somebody in the channel who listens.
type guest struct {
	call *voice.Call
	opus *codec.Opus

	mu     sync.Mutex
	silent []bool  // for each 20 ms of what the agent sends
	pcm    []int16 // decoded
}

// hear decodes what comes, one frame for each 20 ms. If nothing was sent for a while, since the
// machine is busy, the decoder is given silence.
func (g *guest) hear(batch []voice.Packet) {
	for _, p := range batch {
		if len(p.Opus) == 0 {
			continue
		}
		g.mu.Lock()
		at := time.Unix(0, 0).Add(time.Duration(len(g.silent)) * audio.Time)
		for range p.Lost {
			g.silent = append(g.silent, true)
		}
		g.silent = append(g.silent, bytes.Equal(p.Opus, []byte{0xF8, 0xFF, 0xFE}))
		g.mu.Unlock()
		at = at.Add(time.Duration(p.Lost) * audio.Time)
		g.opus.Decode([]codec.Packet{{Speaker: 1, At: at, Lost: p.Lost, Data: p.Opus}})
	}
}

// sounds returns what was decoded of the frames that are not silence, and their number.
func (g *guest) sounds() (pcm []int16, frames int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, silent := range g.silent {
		if from := i * audio.Samples; !silent && from+audio.Samples <= len(g.pcm) {
			pcm = append(pcm, g.pcm[from:from+audio.Samples]...)
			frames++
		}
	}
	return pcm, frames
}

// join lets somebody join the call on a test Discord.
func join(t *testing.T, s *discordtest.Server, name string, heard func([]voice.Packet)) *voice.Call {
	user := s.Bot(name)
	var line *discordtest.Line
	call := voice.New(voice.Config{
		Place: voice.Place{Guild: s.Guild().ID, Channel: s.Channel("voice").ID, Self: user.ID},
		Line:  asks(func() *discordtest.Line { return line }),
		Heard: heard, HTTP: s.HTTP(),
	})
	line = s.Line(user, call.State, call.Server)
	perform(t, call.Run)
	return call
}

// asks is a line that can be handed over before the line itself exists.
type asks func() *discordtest.Line

func (a asks) Move(ctx context.Context, guild, channel uint64, mute, deaf bool) error {
	return a().Move(ctx, guild, channel, mute, deaf)
}

// perform runs a part until the test ends.
func perform(t *testing.T, run func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := run(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		testkit.Finish(t, testkit.Patience, "the end of a part", running.Wait)
	})
}

// A theatre is a real voice in an encrypted call, and a guest who decodes it.
type theatre struct {
	*discord.Voice
	made  *tee
	call  *voice.Call
	guest *guest
}

func newTheatre(t *testing.T) *theatre {
	t.Helper()
	dir, log := helpertest.Build(t, "earshot-speech"), slog.New(slog.DiscardHandler)
	dial := func(role string) helper.Dialer {
		return func() (helper.Link, error) {
			return helper.Start(helper.Command{Name: "earshot-speech", Path: filepath.Join(dir, "earshot-speech"), Args: []string{role}, Log: log})
		}
	}
	t.Cleanup(func() { http.DefaultClient.CloseIdleConnections() })
	server := discordtest.New(t, discordtest.Config{})
	g := new(guest)
	g.opus = codec.NewOpus(codec.OpusConfig{Dial: dial("media"), Heard: func(_ uint32, f *audio.Frame) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.pcm = append(g.pcm, f.PCM[:]...)
	}})
	perform(t, g.opus.Run)
	if err := g.opus.Encode(t.Context(), audio.Rate, make([]int16, 1)); err != nil { // unlike Decode, this waits for the helper
		t.Fatal(err)
	}
	g.call = join(t, server, "ann", g.hear)

	say := tts.New(tts.Config{Dial: dial("say"), Log: log})
	th := &theatre{made: &tee{Voice: say}, guest: g}
	th.Voice = discord.NewVoice(th.made)
	opus := codec.NewOpus(codec.OpusConfig{Dial: dial("media"), Encoded: th.Encoded})
	th.call = join(t, server, "agent", nil)
	perform(t, say.Run)
	perform(t, opus.Run)
	entered := make(chan struct{})
	perform(t, func(ctx context.Context) error {
		th.Run(ctx, th.call, opus, func(earshot.Outlet) func() { close(entered); return func() {} })
		return nil
	})
	testkit.Receive(t, testkit.Patience, "the outlet of the call", entered)
	testkit.Await(t, patience, "a voice, and keys", func() bool {
		ready, _ := say.Ready()
		one, other := th.call.Status(), g.call.Status()
		return ready && one.Encrypted && one.Code != "" && one.Code == other.Code
	})
	return th
}

// TestRealCall: a real voice is paused, goes on and is cut. What somebody in the channel decodes of
// it is what was said, without a gap, up to the word reported as heard, give or take one.
func TestRealCall(t *testing.T) {
	th := newTheatre(t)
	const text = "the tide comes in twice every day and goes out again as often as it came in before."
	l := playbacktest.Listen()
	s, err := th.Open(t.Context(), earshot.Opening{}, l.Hear)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Say(earshot.Clause{Text: text}); err != nil {
		t.Fatal(err)
	}
	until := func(n int) {
		testkit.Await(t, patience, "the word", func() bool { return l.At().Byte >= n })
	}
	until(9)
	s.Do(earshot.Pause)
	paused := th.call.Sent()
	testkit.Await(t, patience, "silence", func() bool {
		th.guest.mu.Lock()
		defer th.guest.mu.Unlock()
		n := len(th.guest.silent)
		return n > 0 && th.guest.silent[n-1]
	})
	s.Do(earshot.Resume)
	if sent := th.call.Sent(); sent != paused {
		t.Errorf("%d frames left while it was paused", sent-paused)
	}
	until(43)
	s.Do(earshot.Cut)
	sent := th.call.Sent()
	testkit.Await(t, patience, "the end, and the last frame", func() bool {
		_, frames := th.guest.sounds()
		return l.At().End && int64(frames) >= sent
	})
	got, frames := th.guest.sounds()
	if int64(frames) != sent {
		t.Errorf("%d frames were heard, %d were sent before the cut", frames, sent)
	}
	split := int(paused) * audio.Samples
	th.made.mu.Lock()
	defer th.made.mu.Unlock()
	first, r := alike(got[:split], th.made.pcm)
	t.Logf("to the pause: %d frames, %d samples late, correlation %.3f", paused, first, r)
	if first < 112 || first > 128 || r < 0.85 {
		t.Errorf("what comes before the pause is %d samples late, correlation %.3f", first, r)
	}
	lookahead := 104 // each of the two runs begins with one
	second, r := alike(got[split:], th.made.pcm[split-lookahead:])
	t.Logf("from there: %d frames, %d samples late, correlation %.3f", int64(frames)-paused, second, r)
	if second < 112 || second > 128 || r < 0.85 {
		t.Errorf("what comes after the pause is %d samples late, correlation %.3f", second, r)
	}
	left, sounded := len(got)-2*lookahead, 0
	words := th.made.words
	for i := range words[:len(words)-1] {
		if 2*left >= words[i].Sample+words[i+1].Sample {
			sounded = i + 1
		}
	}
	told := 0
	for _, w := range words {
		if w.Byte < l.At().Byte {
			told++
		}
	}
	if told < sounded-1 || told > sounded+1 {
		t.Errorf("%d words have left, and %d are told", sounded, told)
	}
}

// alike returns by how many samples got lags behind want, below 200, and their correlation at that
// lag.
func alike(got, want []int16) (late int, correlation float64) {
	for shift := range 200 {
		var both, one, other float64
		for i := shift; i < len(got) && i-shift < len(want); i++ {
			a, b := float64(got[i]), float64(want[i-shift])
			both, one, other = both+a*b, one+a*a, other+b*b
		}
		if r := both / math.Sqrt(one*other); r > correlation {
			late, correlation = shift, r
		}
	}
	return late, correlation
}
