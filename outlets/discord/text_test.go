package discord_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/discord/compose"
	rest "earshot/internal/discord/gateway"
	"earshot/internal/discord/posts"
	"earshot/outlets/discord"
)

var (
	_ earshot.Flowing = (*discord.Text)(nil)
	_ earshot.Written = (*discord.Text)(nil)
	_ earshot.Board   = (*discord.Text)(nil)
	_ posts.REST      = (*rest.Session)(nil)
)

const (
	room  = 1 << 50
	asked = 927310423890473011
	annID = 100000000000000001
)

// A posted is a message as Discord was given it.
type posted struct {
	ID      uint64
	At      time.Duration
	Content string `json:"content"`
	Allowed struct {
		Parse   []string `json:"parse"`
		Users   []string `json:"users"`
		Replied bool     `json:"replied_user"`
	} `json:"allowed_mentions"`
	Reference *struct {
		Message string `json:"message_id"`
		Fail    bool   `json:"fail_if_not_exists"`
	} `json:"message_reference"`
	Nonce   string `json:"nonce"`
	Enforce bool   `json:"enforce_nonce"`

	taken bool // deleted again
}

// A channel is a Discord with one channel, in simulated time.
type channel struct {
	began time.Time
	takes func(n int) time.Duration // how long the answer to message n takes
	fails func(n int) error         // the error instead of message n; may be nil

	mu     sync.Mutex
	sent   int
	all    []posted
	typing []time.Duration
}

func newChannel() *channel {
	return &channel{began: time.Now(), takes: func(int) time.Duration { return 100 * time.Millisecond }}
}

// Do implements [posts.REST].
func (c *channel) Do(ctx context.Context, r rest.Request) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	path := fmt.Sprintf("channels/%d", room)
	switch {
	case r.Method == "POST" && r.Path == path+"/typing":
		c.typing = append(c.typing, time.Since(c.began))
		return nil
	case r.Method == "POST" && r.Path == path+"/messages":
		return c.post(ctx, r)
	case r.Method == "DELETE":
		for i := range c.all {
			if r.Path == path+"/messages/"+strconv.FormatUint(c.all[i].ID, 10) {
				c.all[i].taken = true
				return nil
			}
		}
	}
	return &rest.Refusal{Status: 404}
}

// post keeps a message at once, and answers when takes says.
func (c *channel) post(ctx context.Context, r rest.Request) error {
	n := c.sent
	c.sent++
	if c.fails != nil {
		if err := c.fails(n); err != nil {
			return err
		}
	}
	data, _ := json.Marshal(r.Body)
	p := posted{ID: uint64(n + 1), At: time.Since(c.began)}
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	c.all = append(c.all, p)
	takes := c.takes(n)
	c.mu.Unlock()
	defer c.mu.Lock()
	ctx, done := context.WithCancelCause(ctx)
	defer done(nil)
	answered := time.After(takes)
	select {
	case <-answered:
	case <-ctx.Done():
		select {
		case <-answered:
		case <-time.After(r.Grace):
			return context.Cause(ctx)
		}
	}
	if r.Into != nil {
		return json.Unmarshal(fmt.Appendf(nil, `{"id": "%d"}`, p.ID), r.Into)
	}
	return nil
}

// left returns the messages that are still in the channel.
func (c *channel) left() (all []posted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.all), func(p posted) bool { return p.taken })
}

// running returns an outlet that has entered its room, and a function that stops it.
func running(cfg discord.TextConfig) (text *discord.Text, shut func()) {
	text = discord.NewText(cfg)
	ctx, stop := context.WithCancel(context.Background())
	in, out := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(out)
		text.Run(ctx, func(earshot.Outlet) func() {
			close(in)
			return func() {}
		})
	}()
	<-in
	return text, func() {
		stop()
		<-out
	}
}

// A reply follows the reports of one speech.
type reply struct {
	earshot.Speaking
	leave   context.CancelFunc
	t       interface{ Errorf(string, ...any) }
	mu      sync.Mutex
	clauses []string
	at      earshot.Heard
	ends    int
}

func (r *reply) hear(h earshot.Heard) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ends > 0 || h.Clause < r.at.Clause || h.Clause == r.at.Clause && h.Byte < r.at.Byte {
		r.t.Errorf("heard %+v after %+v", h, r.at)
	}
	if r.at = h; h.End {
		r.ends++
	}
}

// say says the next clause.
func (r *reply) say(text string) error {
	r.mu.Lock()
	n := len(r.clauses)
	r.clauses = append(r.clauses, text)
	r.mu.Unlock()
	return r.Say(earshot.Clause{N: n, Text: earshot.Text(text)})
}

// heard returns the text that was heard so far.
func (r *reply) heard() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.clauses) == 0 {
		return ""
	}
	return strings.Join(r.clauses[:r.at.Clause], "") + r.clauses[r.at.Clause][:r.at.Byte]
}

func (r *reply) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ends == 1
}

var people = compose.Names{{Name: "Ann", ID: annID}}

// open opens a speech in a channel.
func open(t interface {
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, text *discord.Text, o earshot.Opening) *reply {
	ctx, leave := context.WithCancel(context.Background())
	r := &reply{t: t, leave: leave}
	var err error
	if r.Speaking, err = text.Open(ctx, o, r.hear); err != nil {
		t.Fatalf("opening: %v", err)
	}
	return r
}

var question = earshot.Opening{Turn: "turn-1", About: rest.EventOf(room, asked), Name: "Claude"}

// TestTextPosts: a reply becomes messages that refer to the question, ping only the people whom
// they mean, and can safely be sent twice. The author of the question is pinged only if Calls says
// so, and once.
func TestTextPosts(t *testing.T) {
	for _, calls := range []bool{false, true} {
		t.Run(fmt.Sprint(calls), func(t *testing.T) { testTextPosts(t, calls) })
	}
}

func testTextPosts(t *testing.T, calls bool) {
	synctest.Test(t, func(t *testing.T) {
		c := newChannel()
		var told []uint64
		text, shut := running(discord.TextConfig{
			Channel: room, REST: c, Self: "Claude", Names: func(earshot.ParticipantID) compose.Names { return people },
			Calls: func(o earshot.Opening) bool { return calls && o.About == question.About },
			Posted: func(turn earshot.TurnID, message uint64) {
				if turn != "turn-1" {
					t.Errorf("told of turn %s", turn)
				}
				told = append(told, message)
			},
		})
		defer shut()
		r := open(t, text, question)
		defer r.leave()
		for _, s := range []string{"@Ann, the tides ", "follow the moon.\n", "\nTwice a day.", " @everyone knows."} {
			if err := r.say(s); err != nil {
				t.Error(err)
			}
			time.Sleep(150 * time.Millisecond)
		}
		r.Finish()
		time.Sleep(time.Second)
		synctest.Wait()
		if !r.ended() || r.heard() != strings.Join(r.clauses, "") {
			t.Errorf("heard %q", r.heard())
		}
		all := c.left()
		if len(all) != 2 || !slices.Equal(told, []uint64{1, 2}) {
			t.Fatalf("posted %+v, told of %d", all, told)
		}
		if got, want := all[0].Content, fmt.Sprintf("<@%d>, the tides follow the moon.", annID); got != want {
			t.Errorf("posted %q, want %q", got, want)
		}
		if got, want := all[1].Content, "Twice a day. @\u200beveryone knows."; got != want {
			t.Errorf("posted %q, want %q", got, want)
		}
		for i, p := range all {
			users := [][]string{{strconv.Itoa(annID)}, {}}[i]
			if p.Allowed.Parse == nil || len(p.Allowed.Parse) > 0 || !slices.Equal(p.Allowed.Users, users) || p.Allowed.Replied != (calls && i == 0) {
				t.Errorf("message %d may mention %+v", i, p.Allowed)
			}
			if !p.Enforce || p.Nonce == "" || len(p.Nonce) > 25 || p.Nonce == all[1-i].Nonce {
				t.Errorf("message %d has nonce %q", i, p.Nonce)
			}
		}
		if ref := all[0].Reference; ref == nil || ref.Message != strconv.Itoa(asked) || ref.Fail {
			t.Errorf("refers to %+v", ref)
		}
		if all[1].Reference != nil {
			t.Errorf("the second message refers to %+v", all[1].Reference)
		}
	})
}

// TestTextPace: what is posted when, and at what times typing is shown.
func TestTextPace(t *testing.T) {
	const sentence = "The tides follow the moon. "
	type said struct {
		at   time.Duration
		text string
	}
	ms := func(n ...int) (all []time.Duration) {
		for _, n := range n {
			all = append(all, time.Duration(n)*time.Millisecond)
		}
		return all
	}
	for name, tt := range map[string]struct {
		said   []said
		ends   time.Duration
		posts  []time.Duration
		typing []time.Duration
	}{
		"all at once":               {[]said{{0, sentence}}, 0, ms(0), nil},
		"a paragraph":               {[]said{{0, sentence + "\n\n"}, {time.Second, sentence}}, 20 * time.Second, ms(0, 8100), nil},
		"a sentence":                {[]said{{0, sentence}, {100 * time.Millisecond, sentence}}, 20 * time.Second, ms(1200), ms(300)},
		"a slow model":              {[]said{{10 * time.Second, sentence}}, 10 * time.Second, ms(10000), ms(300, 8300)},
		"paragraphs in a row":       {[]said{{0, sentence + "\n\n"}, {time.Second, sentence + "\n\n"}, {2 * time.Second, sentence + "\n\n"}}, 20 * time.Second, ms(0, 4100), nil},
		"a paragraph after a while": {[]said{{0, sentence + "\n\n"}, {6 * time.Second, sentence + "\n\n"}, {20 * time.Second, "."}}, 20 * time.Second, ms(0, 6000, 20000), nil},
		"nothing":                   {nil, 9 * time.Second, nil, ms(300, 8300)},
		"nothing, soon":             {nil, 200 * time.Millisecond, nil, nil},
		"white space":               {[]said{{0, " \n\n "}}, time.Second, nil, ms(300)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newChannel()
				text, shut := running(discord.TextConfig{Channel: room, REST: c})
				defer shut()
				r := open(t, text, question)
				defer r.leave()
				for _, s := range tt.said {
					time.Sleep(time.Until(c.began.Add(s.at)))
					r.say(s.text)
				}
				time.Sleep(time.Until(c.began.Add(tt.ends)))
				r.Finish()
				time.Sleep(time.Second)
				synctest.Wait()
				var at []time.Duration
				for _, p := range c.left() {
					at = append(at, p.At)
				}
				if !slices.Equal(at, tt.posts) || !slices.Equal(c.typing, tt.typing) {
					t.Errorf("posted at %v and typing at %v, want %v and %v", at, c.typing, tt.posts, tt.typing)
				}
				if !r.ended() || r.heard() != strings.Join(r.clauses, "") {
					t.Errorf("heard %q", r.heard())
				}
			})
		})
	}
}

// TestTextCut: text that is cut is not posted. A message that is on its way counts if Discord
// acknowledges it in time, and is deleted if it does so too late.
func TestTextCut(t *testing.T) {
	const first, second = "The tides follow the moon.\n\n", "Twice a day, and a little later each."
	for name, tt := range map[string]struct {
		takes time.Duration
		cut   time.Duration
		leave time.Duration // after the cut
		heard string
		left  int
	}{
		"before the second message":     {100 * time.Millisecond, time.Second, 500 * time.Millisecond, first, 1},
		"while the first is on its way": {400 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, first, 1},
		"and it takes too long":         {3 * time.Second, 100 * time.Millisecond, 500 * time.Millisecond, "", 0},
		"given up at once":              {3 * time.Second, 100 * time.Millisecond, 0, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newChannel()
				c.takes = func(int) time.Duration { return tt.takes }
				text, shut := running(discord.TextConfig{Channel: room, REST: c, Refused: func(err error) { t.Errorf("a cut is %v", err) }})
				r := open(t, text, question)
				r.say(first)
				r.say(second)
				time.Sleep(tt.cut)
				if tt.leave > 0 {
					r.Do(earshot.Cut)
					if err := r.say("More."); err != nil {
						t.Errorf("saying after a cut: %v", err)
					}
				}
				r.Finish()
				time.Sleep(tt.leave)
				r.leave()
				shut()
				if !r.ended() || r.heard() != tt.heard || len(c.left()) != tt.left {
					t.Errorf("heard %q of %+v", r.heard(), c.left())
				}
			})
		})
	}
}

// TestTextTakesTurns: the next speaker in the channel ends what is being said.
func TestTextTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChannel()
		text, shut := running(discord.TextConfig{Channel: room, REST: c, Self: "Claude"})
		first := open(t, text, question)
		first.say("The tides ")
		second := open(t, text, earshot.Opening{Turn: "turn-2", Name: "Coder*", About: "01ARZ3NDEKTSV4RRFFQ69G5FAV"})
		if !first.ended() || first.heard() != "" {
			t.Errorf("heard %q of the first", first.heard())
		}
		second.say("follow the moon.")
		second.Finish()
		time.Sleep(time.Second)
		all := c.left()
		if len(all) != 1 || all[0].Content != "-# Coder\\*\nfollow the moon." || all[0].Reference != nil {
			t.Errorf("posted %+v", all)
		}
		first.leave()
		second.leave()
		shut()
		if _, err := text.Open(t.Context(), question, func(earshot.Heard) {}); err != discord.ErrClosed {
			t.Errorf("opened a closed one: %v", err)
		}
	})
}

// TestTextRefused: if Discord refuses a message, the reply ends there, and the refusal tells how to
// mend it.
func TestTextRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChannel()
		c.fails = func(n int) error {
			if n == 1 {
				return &rest.Refusal{Status: 403, Code: 50013}
			}
			return nil
		}
		var why error
		text, shut := running(discord.TextConfig{Channel: room, REST: c, Refused: func(err error) { why = err }})
		defer shut()
		r := open(t, text, question)
		defer r.leave()
		r.say("The tides follow the moon.\n\n")
		time.Sleep(time.Second)
		r.say("Twice a day, and a little later each. ")
		time.Sleep(10 * time.Second)
		if err := r.say("More."); err == nil {
			t.Error("saying more is no error")
		}
		synctest.Wait()
		if cure, ok := why.(interface{ Cure() string }); !ok || cure.Cure() == "" {
			t.Errorf("refused with %v", why)
		}
		if !r.ended() || r.heard() != "The tides follow the moon.\n\n" {
			t.Errorf("heard %q", r.heard())
		}
	})
}

// TestTextWaits: a model that runs ahead has to wait, and a pause holds what is not posted yet.
func TestTextWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChannel()
		text, shut := running(discord.TextConfig{Channel: room, REST: c})
		defer shut()
		r := open(t, text, question)
		defer r.leave()
		r.Do(earshot.Pause)
		went := make(chan int, 100)
		go func() {
			for i := range 40 {
				r.say(strings.Repeat("The tides follow the moon. ", 40))
				went <- i
			}
			r.Finish()
		}()
		time.Sleep(time.Minute)
		if n := len(went); n > 16 || len(c.left()) > 0 {
			t.Errorf("%d clauses went, and %d messages, while it was paused", n, len(c.left()))
		}
		r.Do(earshot.Resume)
		time.Sleep(time.Minute)
		if !r.ended() || len(r.heard()) != 40*40*27 {
			t.Errorf("heard %d bytes", len(r.heard()))
		}
	})
}

// letters returns the visible characters of a text.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\u200b' {
			return -1
		}
		return r
	}, text)
}

// TestTextIsWhatWasHeard: whatever happens when, what stands in the channel is exactly what was
// heard.
func TestTextIsWhatWasHeard(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		play := drawn(r)
		synctest.Test(t, func(*testing.T) { play() })
	})
}

// drawn draws what is said and what happens, and returns a function that performs it.
func drawn(t *rapid.T) (play func()) {
	said := rapid.SliceOfN(rapid.SampledFrom([]string{
		"The tides follow the moon. ", "Twice ", "a day.\n", "\n\n", strings.Repeat("and so on, ", 100), strings.Repeat("x", 2500), "@everyone ", " ", "é",
	}), 0, 12).Draw(t, "said")
	pauses := rapid.SliceOfN(rapid.IntRange(0, 3000), len(said)+1, len(said)+1).Draw(t, "ms between")
	takes := rapid.SliceOfN(rapid.IntRange(0, 5000), 20, 20).Draw(t, "ms an answer")
	controls := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 100), func(n int) int { return max(n, 60) }), len(said)+1, len(said)+1).Draw(t, "controls")
	broken := rapid.IntRange(0, 12).Draw(t, "breaks at")
	return func() {
		c := newChannel()
		c.takes = func(n int) time.Duration { return time.Duration(takes[n%len(takes)]) * time.Millisecond }
		c.fails = func(n int) error {
			if n == broken {
				return &rest.Refusal{Status: 403}
			}
			return nil
		}
		text, shut := running(discord.TextConfig{Channel: room, REST: c})
		r := open(t, text, question)
		for i, s := range said {
			time.Sleep(time.Duration(pauses[i]) * time.Millisecond)
			switch controls[i] {
			case 70, 71, 72:
				r.Do(earshot.Pause)
			case 75:
				r.Do(earshot.Cut)
			case 80, 81:
				r.Do(earshot.Duck)
			}
			if r.say(s) != nil {
				break
			}
		}
		r.Do(earshot.Resume)
		r.Finish()
		time.Sleep(time.Duration(pauses[len(said)]) * time.Millisecond)
		if controls[len(said)] > 90 {
			r.Do(earshot.Cut)
			time.Sleep(500 * time.Millisecond)
			r.leave()
		}
		time.Sleep(5 * time.Minute)
		r.leave()
		shut()
		if !r.ended() {
			t.Errorf("it has not ended")
		}
		var stands strings.Builder
		for _, p := range c.left() {
			stands.WriteString(p.Content)
		}
		if got, want := letters(stands.String()), letters(r.heard()); got != want {
			t.Errorf("%d letters stand there, %d were heard:\n%.300s\n%.300s", len(got), len(want), got, want)
		}
	}
}

// TestTextBoard: what is shown in a channel besides replies.
func TestTextBoard(t *testing.T) {
	for name, tt := range map[string]struct {
		event earshot.Event
		want  string
	}{
		"from a terminal":    {earshot.Event{From: earshot.Handle{Provider: "console", ID: "1"}, Author: "bob", Body: earshot.Message{Text: "*hello* @everyone"}}, "**Bob\\_** (console): \\*hello\\* @\u200beveryone"},
		"from the channel":   {earshot.Event{From: earshot.Handle{Provider: "discord", ID: "1"}, Author: "bob", Body: earshot.Message{Text: "hello"}}, ""},
		"between agents":     {earshot.Event{Author: "claude", Body: earshot.Message{Text: "hello", Turn: "turn-1"}}, ""},
		"a mode":             {earshot.Event{Body: earshot.ModeChange{Mode: earshot.Paused}}, "-# The room is paused from now on: " + earshot.Paused.Means() + "."},
		"an answer":          {earshot.Event{Body: earshot.Notice{Text: "Here are:\nBob <@1>"}}, "-# Here are:\n-# Bob <\u200b@\u200b1>"},
		"a fault of its own": {earshot.Event{Body: earshot.Notice{Key: "discord", Text: "It is deaf.", Cure: "earshot doctor"}}, "-# It is deaf.\n-# earshot doctor"},
		"a fault elsewhere":  {earshot.Event{Body: earshot.Notice{Key: "microphone", Text: "It is lost."}}, ""},
		"a decision":         {earshot.Event{Body: earshot.Decision{Verdict: earshot.Silent, Reasons: []string{"not for it"}}}, ""},
		"a thought":          {earshot.Event{Body: earshot.Thought{Text: "Hm."}}, ""},
		"a failed reply":     {earshot.Event{Author: "bob", Body: earshot.Reply{Outcome: earshot.Failed, Fault: "ollama at 10.0.0.1: refused"}}, "-# \\(no reply from Bob\\_: the model's server refused the key)"},
		"a late reply":       {earshot.Event{Author: "bob", Body: earshot.Reply{Outcome: earshot.Failed, Fault: "ollama at 10.0.0.1: stalled"}}, "-# \\(no reply from Bob\\_: the model did not answer in time)"},
		"no model":           {earshot.Event{Author: "bob", Body: earshot.Reply{Outcome: earshot.Failed, Fault: "ollama at 10.0.0.1: no model"}}, "-# \\(no reply from Bob\\_: its model is not there)"},
		"an unknown fault":   {earshot.Event{Author: "bob", Body: earshot.Reply{Outcome: earshot.Failed, Fault: "10.0.0.1 is not there"}}, "-# \\(no reply from Bob\\_: something went wrong here)"},
		"half a reply":       {earshot.Event{Body: earshot.Reply{Outcome: earshot.Failed, Offered: "x", Heard: []earshot.Delivery{{Bytes: 1}}}}, ""},
		"a suppressed reply": {earshot.Event{Body: earshot.Reply{Outcome: earshot.Suppressed}}, ""},
		"somebody comes":     {earshot.Event{Body: earshot.Presence{Here: true}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newChannel()
				text, shut := running(discord.TextConfig{Channel: room, REST: c, Called: func(earshot.ParticipantID) string { return "Bob_" }})
				text.Show(tt.event)
				time.Sleep(time.Second)
				shut()
				text.Show(tt.event) // too late
				got := ""
				for _, p := range c.left() {
					got += p.Content
					if p.Allowed.Parse == nil || len(p.Allowed.Parse)+len(p.Allowed.Users) > 0 {
						t.Errorf("may mention %+v", p.Allowed)
					}
				}
				if got != tt.want {
					t.Errorf("posted %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestTextBoardIsBounded: many lines are shown in few messages, and the oldest are left out.
func TestTextBoardIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChannel()
		text, shut := running(discord.TextConfig{Channel: room, REST: c})
		for i := range 30 {
			text.Show(earshot.Event{Body: earshot.Notice{Text: fmt.Sprint("line ", i)}})
			if i == 0 {
				synctest.Wait()
			}
		}
		time.Sleep(20 * time.Second)
		shut()
		all := c.left()
		if len(all) != 2 || all[0].Content != "-# line 0" || !strings.HasPrefix(all[1].Content, "-# \\(21 lines are left out)\n-# line 22") {
			t.Errorf("posted %+v", all)
		}
	})
}
