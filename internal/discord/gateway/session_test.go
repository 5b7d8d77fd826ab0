package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/coder/websocket"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A record keeps what a session logs and hands over.
type record struct {
	mu     sync.Mutex
	text   bytes.Buffer
	events []any
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) take(event any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
}

// ids returns the numbers of the messages that came.
func (r *record) ids() (ids []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, event := range r.events {
		if m, ok := event.(*discordgo.MessageCreate); ok {
			n, _ := strconv.Atoi(m.ID)
			ids = append(ids, n)
		}
	}
	return ids
}

// perform runs a session against g for d of virtual time, or until it ends by itself.
func perform(t *testing.T, g *gateway, d time.Duration, change func(*Config)) (*record, *Session, error) {
	r := new(record)
	cfg := g.config(r.take)
	cfg.Log = slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if change != nil {
		change(&cfg)
	}
	s := New(cfg)
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	err := s.Run(ctx)
	synctest.Wait()
	return r, s, err
}

// begin opens the connection as the client asked for.
func begin(n int, g *gateway, c *peer) { c.ready(g.resumes(n), g.seq) }

func TestSessionOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, func(n int, g *gateway, c *peer) {
			begin(n, g, c)
			for i := range 3 {
				c.message(i)
			}
			c.stay()
		})
		r, s, err := perform(t, g, time.Hour, nil)
		if err != nil {
			t.Fatalf("being told to stop is an error: %v", err)
		}
		if got := r.ids(); !slices.Equal(got, []int{0, 1, 2}) {
			t.Errorf("messages %v", got)
		}
		if strings.Contains(r.text.String(), "what somebody wrote") {
			t.Errorf("what was said is in the log:\n%s", r.text.String())
		}
		ready := r.events[0].(*discordgo.Ready)
		if ready.SessionID != "" || ready.ResumeGatewayURL != "" {
			t.Error("READY is handed over with what a session can be taken over by")
		}
		if g.intros != "I" || !slices.Equal(g.closes, []websocket.StatusCode{1000}) {
			t.Errorf("introduced %s, left with %v; want I and 1000", g.intros, g.closes)
		}
		if st := s.Status(); st.Open || st.Identified != 1 {
			t.Errorf("status %+v", st)
		}
	})
}

// TestSessionOutages: after each way in which a connection can behave, how the next ones introduce
// themselves.
func TestSessionOutages(t *testing.T) {
	plots := map[string]func(c *peer){
		"op 7":           func(c *peer) { c.write(7, nil); c.stay() },
		"op 9 resumable": func(c *peer) { c.write(9, true); c.stay() },
		"op 9":           func(c *peer) { c.write(9, false); c.stay() },
		"zombie":         func(c *peer) { c.deaf.Store(true); c.stay() },
		"cut":            func(c *peer) { c.ws.CloseNow() },
		"garbage": func(c *peer) {
			c.ws.Write(c.ctx, websocket.MessageText, []byte(`{"op":0,"s":"what somebody wrote"`))
			c.stay()
		},
		"binary": func(c *peer) { c.ws.Write(c.ctx, websocket.MessageBinary, []byte{1, 2, 3}); c.stay() },
		"silent": func(c *peer) { c.stay() },
	}
	for _, tt := range []struct {
		name   string
		plot   string // what the connections do, with "!" before READY; the next one stays open
		intros string
		within time.Duration // until the last introduction
	}{
		{"op 7", "op 7", "IR", time.Second},
		{"op 9 resumable", "op 9 resumable", "IR", time.Second},
		{"op 9", "op 9", "II", 6 * time.Second},
		{"zombie", "zombie", "IR", 81 * time.Second},
		{"cut", "cut", "IR", time.Second},
		{"garbage", "garbage", "IR", time.Second},
		{"binary", "binary", "IR", time.Second},
		{"1000 by the server", "1000", "IR", time.Second},
		{"4000", "4000", "IR", time.Second},
		{"4007", "4007", "II", 6 * time.Second},
		{"4009", "4009", "II", 6 * time.Second},
		{"op 7 instead of READY", "!op 7", "II", 6 * time.Second},
		{"op 9 instead of READY", "!op 9", "II", 6 * time.Second},
		{"neither READY nor anything", "!silent", "II", 22 * time.Second},
		{"op 7 instead of RESUMED", "cut,!op 7", "IRR", 3 * time.Second},
		{"op 9 instead of RESUMED", "cut,!op 9", "IRI", 8 * time.Second},
		{"cut three times instead of RESUMED", "cut,!cut,!cut,!cut", "IRRRI", 15 * time.Second},
		{"resumed twice", "cut,op 7", "IRR", 3 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := strings.Split(tt.plot, ",")
				g := newGateway(t, func(n int, g *gateway, c *peer) {
					what, early := "", false
					if n < len(script) {
						what, early = strings.CutPrefix(script[n], "!")
					}
					if !early {
						begin(n, g, c)
					}
					if code, err := strconv.Atoi(what); err == nil {
						c.ws.Close(websocket.StatusCode(code), token)
						return
					}
					if plot := plots[what]; plot != nil {
						plot(c)
						return
					}
					c.stay()
				})
				began := time.Now()
				r, s, err := perform(t, g, time.Hour, nil)
				if err != nil {
					t.Fatal(err)
				}
				if g.intros != tt.intros {
					t.Fatalf("introduced %s, want %s\n%s", g.intros, tt.intros, r.text.String())
				}
				if took := g.at[len(g.at)-1].Sub(began); took > tt.within {
					t.Errorf("back after %v, want at most %v", took, tt.within)
				}
				if strings.Contains(r.text.String(), "what somebody wrote") {
					t.Errorf("what was said is in the log:\n%s", r.text.String())
				}
				if st := s.Status(); st.Identified+st.Resumed < 1 {
					t.Errorf("status %+v", st)
				}
				// The outages are logged once, and so is their end, with their number.
				outages := max(strings.Count(","+tt.plot, ",")-strings.Count(tt.plot, "!"), 1)
				often := map[bool]string{true: fmt.Sprintf("is back, after it was lost %d times", outages), false: "is back"}[outages > 1]
				if l := r.text.String(); strings.Count(l, "is lost") != 1 || strings.Count(l, "is back") != 1 || !strings.Contains(l, often) {
					t.Errorf("is to be lost and back %d times:\n%s", outages, l)
				}
			})
		})
	}
}

// TestSessionFaults: a fault that no second try can mend ends the session after the first.
func TestSessionFaults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		code   int
		flags  int
		bot    int // status of GET /gateway/bot
		intros string
		says   string
	}{
		{"bad token", 4004, 0, 0, "I", "Reset Token"},
		{"bad token, said by REST", 401, 0, 401, "", "Reset Token"},
		{"intents", 4014, 0, 0, "I", "Message Content Intent (4014)"},
		{"intents, none of them off", 4014, 1 << 19, 0, "I", "Message Content Intent (4014)"},
		{"shards", 4011, 0, 0, "I", "fewer than 2,500"},
		{"unknown intents", 4013, 0, 0, "I", "update"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(t, func(n int, g *gateway, c *peer) {
					c.ws.Close(websocket.StatusCode(tt.code), token)
				})
				g.flags = tt.flags
				g.bot = func(w http.ResponseWriter) bool {
					if tt.bot != 0 {
						http.Error(w, token, tt.bot)
					}
					return tt.bot != 0
				}
				_, s, err := perform(t, g, time.Hour, nil)
				f, ok := errors.AsType[*Fault](err)
				if !ok || f.Code != tt.code {
					t.Fatalf("ended with %v", err)
				}
				if !strings.Contains(f.Error(), tt.says) {
					t.Errorf("%q does not say %q", f, tt.says)
				}
				if g.intros != tt.intros {
					t.Errorf("introduced %q, want %q", g.intros, tt.intros)
				}
				if !errors.Is(err, errors.ErrUnsupported) {
					t.Error("a supervisor would try again")
				}
				if s.Status().Why == "" {
					t.Error("the status does not say why")
				}
			})
		})
	}
}

// TestSessionRunsAgain: a session can be run again. It then begins anew, and not sooner than
// Discord allows.
func TestSessionRunsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, func(n int, g *gateway, c *peer) { begin(n, g, c); c.stay() })
		r := new(record)
		cfg := g.config(r.take)
		cfg.Log = slog.New(slog.NewTextHandler(r, nil))
		s := New(cfg)
		for range 5 {
			ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
			if err := s.Run(ctx); err != nil {
				t.Fatal(err)
			}
			stop()
		}
		synctest.Wait()
		if len(g.intros) < 2 || strings.Contains(g.intros, "R") || r.text.Len() > 0 {
			t.Errorf("introduced %s, logged %s", g.intros, r.text.String())
		}
		apartEnough(t, g)
	})
}

// TestSessionShard: a session of a shard says so, and waits for its turn before each identify, and for
// another one if it comes too late for that; to resume it needs none.
func TestSessionShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, func(n int, g *gateway, c *peer) {
			begin(n, g, c)
			if n == 1 { // after a resume, the next one is to identify
				c.write(9, false)
			} else if n == 0 {
				c.write(7, nil)
			}
			c.stay()
		})
		turns := 0
		_, s, err := perform(t, g, time.Hour, func(cfg *Config) {
			cfg.Shard = Shard{Number: 1, Of: 3, Turn: func(ctx context.Context) (time.Time, error) {
				if turns++; turns == 1 {
					return time.Now().Add(-time.Millisecond), nil // it has passed
				}
				if !Pause(ctx, 7*time.Second) {
					return time.Time{}, ctx.Err()
				}
				return time.Now().Add(time.Second), nil
			}}
		})
		if err != nil || g.intros != "IRI" || turns != 3 || !slices.Equal(g.shards, []string{"[1,3]", "[1,3]"}) {
			t.Errorf("introduced %s as %v, after %d turns: %v", g.intros, g.shards, turns, err)
		}
		if n, atOnce, err := s.Shards(t.Context()); n != 1 || atOnce != 1 || err != nil {
			t.Errorf("Discord wants %d shards, %d at once: %v", n, atOnce, err)
		}
	})
}

// TestSessionWaits: with no session start left, it waits for Discord's next day; if told to wait,
// it waits; and without a network it keeps trying.
func TestSessionWaits(t *testing.T) {
	for _, tt := range []struct {
		name     string
		answer   func(w http.ResponseWriter, asked time.Duration) bool
		from, to time.Duration
	}{
		{"no start left", func(w http.ResponseWriter, asked time.Duration) bool {
			if asked >= 3*time.Hour {
				return false
			}
			fmt.Fprintf(w, `{"url":"ws://gateway.test","session_start_limit":{"total":1000,"remaining":0,"reset_after":%d}}`, (3*time.Hour - asked).Milliseconds())
			return true
		}, 3 * time.Hour, 3*time.Hour + time.Minute},
		{"too many requests", func(w http.ResponseWriter, asked time.Duration) bool {
			if asked >= 100*time.Second {
				return false
			}
			w.Header().Set("Retry-After", "100")
			w.WriteHeader(429)
			return true
		}, 100 * time.Second, 101 * time.Second},
		{"broken for ten minutes", func(w http.ResponseWriter, asked time.Duration) bool {
			if asked >= 10*time.Minute {
				return false
			}
			w.WriteHeader(502)
			return true
		}, 10 * time.Minute, 12*time.Minute + time.Second},
		{"an address in the clear", func(w http.ResponseWriter, asked time.Duration) bool {
			if asked >= time.Minute {
				return false
			}
			fmt.Fprint(w, `{"url":"http://elsewhere.test"}`)
			return true
		}, time.Minute, 3 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, asked := time.Now(), 0
				g := newGateway(t, func(n int, g *gateway, c *peer) { begin(n, g, c); c.stay() })
				g.bot = func(w http.ResponseWriter) bool { asked++; return tt.answer(w, time.Since(began)) }
				if _, _, err := perform(t, g, 4*time.Hour, nil); err != nil {
					t.Fatal(err)
				}
				if g.intros != "I" {
					t.Fatalf("introduced %s", g.intros)
				}
				if took := g.at[0].Sub(began); took < tt.from || took > tt.to {
					t.Errorf("open after %v, want %v to %v", took, tt.from, tt.to)
				}
				if asked > 20 {
					t.Errorf("asked %d times", asked)
				}
			})
		})
	}
}

// TestSessionDrops: over many losses of every kind, nothing is handled twice or out of order, and
// nothing is lost of a session that was resumed.
func TestSessionDrops(t *testing.T) {
	drops := 200
	if os.Getenv("EARSHOT_PROOF") != "" {
		drops = 1000
	}
	synctest.Test(t, func(t *testing.T) {
		dice := rand.New(rand.NewPCG(1, uint64(drops)))
		var sent []int // the messages that must arrive
		next := 0
		r := new(record)
		over, stop := context.WithCancel(t.Context())
		g := newGateway(t, func(n int, g *gateway, c *peer) {
			resume := g.resumes(n)
			if n < drops && dice.IntN(6) == 0 { // before READY or RESUMED
				switch dice.IntN(3) {
				case 0:
					c.write(7, nil)
				case 1:
					c.write(9, resume)
				case 2:
					c.ws.CloseNow()
				}
				return
			}
			// Some events that the client already has come again.
			c.ready(resume, g.seq-int64(dice.IntN(8)))
			for range dice.IntN(6) {
				c.message(next)
				sent = append(sent, next)
				next++
			}
			if n >= drops {
				time.Sleep(time.Second)
				stop()
				c.stay()
				return
			}
			time.Sleep(time.Duration(dice.IntN(200)) * time.Second)
			switch dice.IntN(6) {
			case 0:
				c.write(7, nil)
			case 1:
				c.write(9, true)
			case 2:
				c.write(9, false)
			case 3:
				c.ws.CloseNow()
			case 4:
				c.ws.Close(4000, "")
			case 5:
				c.deaf.Store(true)
			}
			c.stay()
		})
		cfg := g.config(r.take)
		s := New(cfg)
		if err := s.Run(over); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(g.intros) < drops {
			t.Fatalf("only %d connections", len(g.intros))
		}
		got := r.ids()
		if !slices.Equal(got, sent) {
			t.Errorf("%d messages were sent while a session was open, %d handled", len(sent), len(got))
		}
		apartEnough(t, g)
		st := s.Status()
		t.Logf("%d connections, %d identified, %d resumed, %d messages, %d came again", len(g.intros), st.Identified, st.Resumed, len(got), st.Repeated)
		if st.Repeated == 0 {
			t.Error("nothing came again: the test tests nothing")
		}
	})
}

// apartEnough checks that identifies are 5 s apart.
func apartEnough(t *testing.T, g *gateway) {
	t.Helper()
	var last time.Time
	for i, intro := range g.intros {
		if intro != 'I' {
			continue
		}
		if gap := g.at[i].Sub(last); !last.IsZero() && gap < 5*time.Second {
			t.Errorf("identified again after %v", gap)
		}
		last = g.at[i]
	}
}

// TestSessionSlowReceiver: a receiver that is busy for a day does not stop the heartbeat. It is
// told how much it missed, and gets all states anew.
func TestSessionSlowReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, func(n int, g *gateway, c *peer) {
			begin(n, g, c)
			if n == 0 {
				for i := range 4200 {
					if i%10 == 0 {
						c.event("TYPING_START", map[string]any{"user_id": "5"})
						c.event("VOICE_STATE_UPDATE", map[string]any{"user_id": "5", "guild_id": "7", "channel_id": "8"})
					}
					c.message(i)
				}
			}
			c.stay()
		})
		r := new(record)
		_, s, err := perform(t, g, 48*time.Hour, func(cfg *Config) {
			cfg.Events = func(event any) {
				if _, first := event.(*discordgo.Ready); first && len(r.events) == 0 {
					time.Sleep(24 * time.Hour)
				}
				r.take(event)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if g.intros != "II" {
			t.Errorf("introduced %s, want II: once more after states were lost", g.intros)
		}
		var lost Lost
		for _, event := range r.events {
			if l, ok := event.(*Lost); ok {
				lost = *l
			}
		}
		ids := r.ids()
		if len(ids)+lost.Messages != 4200 || lost.Messages == 0 || lost.States == 0 || !slices.IsSorted(ids) {
			t.Errorf("%d messages came, %+v were lost", len(ids), lost)
		}
		if st := s.Status(); st.Lost != lost {
			t.Errorf("status has %+v, the receiver was told %+v", st.Lost, lost)
		}
	})
}

// TestSessionMovesWhenTheGuildIsThere: a move waits for the guild, since Discord ignores it until
// then. A guild that READY does not name is not waited for.
func TestSessionMovesWhenTheGuildIsThere(t *testing.T) {
	for _, tt := range []struct {
		name  string
		guild string // the event about the guild
		early int    // number of op 4 before the guild is there
		known string // the guild named by READY
	}{
		{"one that comes", `{"id":"7"}`, 0, "7"},
		{"one that is not understood", `{"id":"7","members":[null]}`, 0, "7"},
		{"one that is not named", `{"id":"7"}`, 1, "9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				early := 0
				g := newGateway(t, func(n int, g *gateway, c *peer) {
					c.event("READY", map[string]any{"v": 9, "user": map[string]any{"id": "42"}, "session_id": "s",
						"guilds": []any{nil, map[string]any{"id": tt.known, "unavailable": true}}})
					time.Sleep(3 * time.Second)
					g.mu.Lock()
					early = len(g.moves)
					g.mu.Unlock()
					c.event("GUILD_CREATE", json.RawMessage(tt.guild))
					c.stay()
				})
				s := New(g.config(nil))
				s.Attach(7, nil)
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				done := make(chan error)
				go func() { done <- s.Run(ctx) }()
				if err := (Line{session: s}).Move(ctx, 7, 8, false, false); err != nil {
					t.Fatal(err)
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if early != tt.early || len(g.moves) != 1 {
					t.Errorf("asked %d times before the guild was there, %d in all", early, len(g.moves))
				}
			})
		})
	}
}

// TestVoiceCredentialsAreNotHandedOver: what lets one into a call goes to the call alone, in
// whatever form it comes.
func TestVoiceCredentialsAreNotHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, func(n int, g *gateway, c *peer) {
			begin(n, g, c)
			c.event("VOICE_SERVER_UPDATE", map[string]any{"guild_id": "7", "token": "a voice token", "endpoint": "e"})
			c.event("VOICE_SERVER_UPDATE", map[string]any{"guild_id": 7, "token": "a voice token", "endpoint": "e"})
			c.event("VOICE_STATE_UPDATE", map[string]any{"guild_id": "7", "user_id": "42", "channel_id": "8", "session_id": "a voice session"})
			c.event("VOICE_STATE_UPDATE", map[string]any{"guild_id": 7, "user_id": "42", "channel_id": "8", "session_id": "a voice session"})
			c.message(1)
			c.stay()
		})
		r, _, err := perform(t, g, time.Minute, nil)
		if err != nil || len(r.ids()) != 1 {
			t.Fatalf("%v, messages %v", err, r.ids())
		}
		for _, event := range r.events {
			if text, _ := json.Marshal(event); bytes.Contains(text, []byte("a voice ")) {
				t.Errorf("handed over: %T %s", event, text)
			}
		}
	})
}

// TestSessionMoves: a move that is asked for while the gateway is away happens when it is back, and
// a new session is told again where we want to be.
func TestSessionMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, func(n int, g *gateway, c *peer) {
			if n == 0 {
				return // cut off before READY
			}
			begin(n, g, c)
			if n == 1 {
				time.Sleep(time.Minute)
				c.write(9, false)
			}
			c.stay()
		})
		s := New(g.config(nil))
		s.Attach(7, nil)
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		if err := (Line{session: s}).Move(ctx, 7, 8, false, true); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		want := `{"channel_id":"8","guild_id":"7","self_deaf":true,"self_mute":false}`
		if !slices.Equal(g.moves, []string{want, want}) {
			t.Errorf("asked for %q", g.moves)
		}
		short, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if err := (Line{session: s}).Move(short, 7, 0, false, false); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("moving without a gateway: %v", err)
		}
	})
}

// TestTokenIsNowhere: the token is in no log, no error and no struct, whatever a server repeats.
func TestTokenIsNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		plots := []func(c *peer){
			func(c *peer) { c.ws.Close(4000, token) },
			func(c *peer) { c.ws.Write(c.ctx, websocket.MessageText, []byte(token)); c.stay() },
			func(c *peer) { c.event(token, token); c.event("READY", token); c.write(9, token); c.stay() },
			func(c *peer) {
				c.event("READY", map[string]any{"user": map[string]any{"id": token}, "session_id": token, "resume_gateway_url": "ws://" + token})
				c.ws.CloseNow()
			},
			func(c *peer) { c.ws.Close(4014, token) },
		}
		g := newGateway(t, func(n int, g *gateway, c *peer) { plots[min(n, len(plots)-1)](c) })
		asked := 0
		g.bot = func(w http.ResponseWriter) bool {
			asked++
			switch asked {
			case 1:
				http.Error(w, token, 500)
			case 2:
				fmt.Fprintf(w, `{"url":"ws://%s/%s"}`, "x y", token)
			case 3:
				w.Header().Set("Location", "http://elsewhere.test/"+token)
				w.WriteHeader(302)
			default:
				return false
			}
			return true
		}
		r, s, err := perform(t, g, 24*time.Hour, nil)
		if _, ok := errors.AsType[*Fault](err); !ok {
			t.Fatalf("ended with %v", err)
		}
		cfg := g.config(nil)
		rest := s.Ask(t.Context(), "GET", "channels/1", nil, nil)
		if _, ok := errors.AsType[*Refusal](rest); !ok {
			t.Fatalf("no error of REST: %v", rest)
		}
		request, _ := http.NewRequest("GET", s.base.String(), nil)
		answer, _ := s.rest.Do(request)
		answer.Body.Close()
		_, away := s.rest.Get("http://nowhere.test:port/" + "x")
		synctest.Wait()
		for _, v := range []any{cfg, &cfg, s, s.rest, s.rest.Transport, err, rest, request, request.Header, away, s.Status()} {
			seen = append(seen, fmt.Sprintf("%v %+v %#v %s", v, v, v, v))
		}
		seen = append(seen, r.text.String())
		for _, text := range seen {
			if strings.Contains(text, token) {
				t.Errorf("the token is in %.2000s", text)
			}
		}
	})
}

// TestRESTGoesToTheBase: requests to the base carry the token; no others do.
func TestRESTGoesToTheBase(t *testing.T) {
	for _, tt := range []struct{ base, ask, host, auth string }{
		{"", "https://discord.com/api/v9/users/@me", "discord.com", "Bot " + token},
		{"", "https://cdn.discordapp.com/avatars/1/2.png", "cdn.discordapp.com", ""},
		{"", "http://discord.com/api/v9/users/@me", "discord.com", ""},
		{"http://127.0.0.1:7/", "http://127.0.0.1:7/api/v9/users/@me", "127.0.0.1:7", "Bot " + token},
		{"http://127.0.0.1:7/", "https://discord.com/api/v9/users/@me", "discord.com", ""},
	} {
		var got *http.Request
		s := New(Config{Token: "Bot " + token, Base: tt.base, HTTP: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
			got = r
			return &http.Response{StatusCode: 204, Status: "204", Body: http.NoBody, Header: http.Header{}}, nil
		})}})
		answer, err := s.rest.Get(tt.ask)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close() // or the client watches it until its time is over
		if got.URL.Host != tt.host || got.Header.Get("Authorization") != tt.auth {
			t.Errorf("%s goes to %s, with %q", tt.ask, got.URL.Host, got.Header.Get("Authorization"))
		}
	}
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
