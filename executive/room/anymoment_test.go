package room_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/room"
	"earshot/executive/tool"
	"earshot/internal/testkit"
	"earshot/interrupt"
	"earshot/llm/llmtest"
	"earshot/participants/agents"
)

// Minutes are the record of what came out of some outlets, and when.
type minutes struct {
	mu   sync.Mutex
	live map[earshot.TurnID]int // on how many outlets each turn is open
	came []came
}

// A came records that something of a turn came out of an outlet, and when.
type came struct {
	earshot.Opening
	at time.Time
}

// A scribe is a voice that keeps minutes of what it plays.
type scribe struct {
	testkit.Voice
	of *minutes
}

// Open implements [earshot.Outlet].
func (s *scribe) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	r := s.of
	r.mu.Lock()
	r.live[o.Turn]++
	r.mu.Unlock()
	last := earshot.Heard{}
	return s.Voice.Open(ctx, o, func(h earshot.Heard) {
		r.mu.Lock()
		if h.Clause != last.Clause || h.Byte != last.Byte {
			r.came = append(r.came, came{o, time.Now()})
		}
		last = h
		if h.End {
			if r.live[o.Turn]--; r.live[o.Turn] == 0 {
				delete(r.live, o.Turn)
			}
		}
		r.mu.Unlock()
		heard(h)
	})
}

// turns returns the turns that are coming out now.
func (r *minutes) turns() map[earshot.TurnID]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := make(map[earshot.TurnID]bool)
	for turn := range r.live {
		now[turn] = true
	}
	return now
}

// onlooker reads all that the room and its outlets show to somebody, at the very moments at which
// it changes, so that the race detector notices what is still being written then. It returns which
// messages it has seen replies to.
func (c *crew) onlooker(who string, a earshot.Audience, done <-chan struct{}) map[earshot.EventID]bool {
	saw := make(map[earshot.EventID]bool)
	for n := 0; ; n++ {
		changed := c.Changed()
		if n%3 == 0 { // often enough, and it costs less than each time
			look := c.Snapshot(a)
			for _, g := range look.Replies {
				saw[g.About] = true
			}
			if _, err := json.Marshal(look); err != nil {
				panic(err)
			}
		}
		if n%31 == 0 {
			c.lookDeeper(who, a)
		}
		select {
		case <-changed:
		case <-done:
			return saw
		}
	}
}

// lookDeeper reads what an onlooker reads only now and then.
func (c *crew) lookDeeper(who string, a earshot.Audience) {
	view := room.Scene(c.Room).For(a)
	last := func(all []earshot.Event) []earshot.Event { return all[max(0, len(all)-8):] }
	_, err := json.Marshal([]any{
		c.Going(a), view.Versions(), view.Refuted(time.Now()), c.Latencies(), c.Asked(), c.Speaking(), c.Still(),
		last(c.screens[who].Shown()), last(c.journal.Events()),
	})
	if err != nil {
		panic(err)
	}
}

// TestAtAnyMoment: people write, whisper, speak, type, stop, pause, come, go, configure, change
// what they wrote, take it back or have it forgotten, at any moment, while agents talk, work,
// think, come, go or talk to each other, and while others look on:
//
//   - once somebody has cut in, nothing more comes out of the turn that they cut; once somebody
//     has said stop, nothing that was asked before; and nothing at all while the room is paused;
//   - whoever was promised an answer gets one, unless they or everybody were cut off, or something
//     else was asked in the same conversation;
//   - nobody who looks on sees what is answered to others in private;
//   - nobody waits for ever.
func TestAtAnyMoment(t *testing.T) {
	type step struct {
		what string
		then time.Duration // until the next step; a negative step is at the same time
	}
	kinds := []string{
		"ann @Earshot count", "bob @Earshot count", "ann @Scout count", "ann @Earshot scout", "ann @Earshot exchange", "ann @Earshot work", "ann @all count",
		"bob /msg earshot count", "ann /msg scout count", "ann hm", "ann stop", "bob /stop", "ann Earshot, be quiet", "ann how far are you?", "ann I'm hungry",
		"types ann", "types bob", "leaves ann", "voice began", "voice lasts", "voice calls", "voice over", "says earshot count", "says earshot stop", "says well then",
		"bob goes", "bob comes", "ann /pause", "ann /resume", "ann /remind 1s pizza", "aggressive", "passive", "polite", "whole", "off", "on",
		"ann @Earshot kettle", "ann @Earshot unset", "bob @Earshot ponder", "ann @Earshot note", "ann @Earshot mend", "ann @Earshot delegate",
		"ann /think why", "ann /think", "ann /remind", "bob /think stop", "ann /context", "ann /context change 1 tea", "ann /note milk", "revises ann", "revises bob",
		"retracts ann", "retracts bob", "forgets ann", "forgets bob", "crew alone", "crew both", "crew changed",
		"ann Earshot, what do you see?", "camera somebody", "camera nobody", "camera changes",
	}
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{rapid.SampledFrom(kinds).Draw(rt, "what"), time.Duration(rapid.SampledFrom([]int{-1, 0, 1, 4, 13, 27, 45, 300, 1100}).Draw(rt, "then")) * time.Millisecond}
		}), 2, 12).Draw(rt, "steps")
		slow := time.Duration(rapid.SampledFrom([]int{0, 0, 3, 15}).Draw(rt, "the journal takes")) * time.Millisecond
		leaves := slices.ContainsFunc(steps, func(s step) bool { return s.what == "crew alone" }) // Scout leaves at some point
		var faults []string
		fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
		synctest.Test(t, func(t *testing.T) {
			h := byDay()
			work := &shelf{takes: 60 * time.Millisecond, holds: tool.Answer{Text: "milk", Sources: []earshot.EventID{"m0", "m1"}}}
			h.tools, h.staff, h.eyes, h.model.Vision = work.table(), new(workers), oneSeen(), true
			h.model.Rules = []llmtest.Rule{
				after("Earshot", "", "five six seven"), calls("Earshot", "work", "read_file", `{}`),
				calls("Earshot", "exchange", "message_agent", `{"name":"Scout","message":"tell"}`),
				{Agent: "Scout", When: "tell", Reply: "eight nine ten"}, {Agent: "Earshot", When: "scout", Reply: "@Scout, count"},
				calls("Earshot", "kettle", "remind", `{"action":"set","text":"the kettle","in_seconds":1}`), calls("Earshot", "unset", "remind", `{"action":"cancel","number":1}`),
				calls("Earshot", "ponder", "ponder", `{"question":"why does it rain","uncertainty":0.9}`), calls("Earshot", "note", "note", `{"text":"milk"}`),
				calls("Earshot", "mend", "edit_context", `{"action":"change","field":"notes","entry":"milk","text":"tea"}`), calls("Earshot", "delegate", "delegate", `{"task":"find it"}`),
				thinks("", "it may rain"), one("It may rain."),
			}
			h.journal.Slow(slow)
			c := man(t, h, "bob")
			was := &minutes{live: make(map[earshot.TurnID]int)}
			c.Enter(&scribe{testkit.Voice{Called: "ann's", Every: time.Millisecond, Flow: true}, was}, earshot.Audience{Members: []earshot.ParticipantID{"owner"}})
			c.Enter(&scribe{testkit.Voice{Called: "bob's", Every: 2 * time.Millisecond}, was}, earshot.Audience{Members: []earshot.ParticipantID{"bob"}})
			c.Enter(&scribe{testkit.Voice{Called: "loudspeaker", Every: 3 * time.Millisecond, Aloud: true}, was}, earshot.Audience{Unknown: true})
			time.Sleep(time.Second)
			done := make(chan struct{})
			var looking sync.WaitGroup
			saw := make([]map[earshot.EventID]bool, 2)
			looking.Go(func() {
				saw[0] = c.onlooker("ann", earshot.Audience{Members: []earshot.ParticipantID{"owner"}}, done)
			})
			looking.Go(func() {
				saw[1] = c.onlooker("bob", earshot.Audience{Members: []earshot.ParticipantID{"bob"}}, done)
			})

			type stopped struct {
				what  string
				at    time.Time
				until time.Time // when a pause ended
				turns map[earshot.TurnID]bool
				asked map[earshot.EventID]bool
				all   bool
			}
			var stops []stopped
			issued := make(map[earshot.EventID]time.Time)
			texts := make(map[earshot.EventID]string)
			wrote := make(map[string]earshot.EventID) // the last message in which each person called an agent
			changed := make(map[earshot.EventID]bool)
			paused := -1 // the index in stops of the pause that lasts
			here := true
			var all sync.WaitGroup
			admit := func(i int, e earshot.Event, what string) {
				e.ID = earshot.EventID(fmt.Sprint("m", i))
				issued[e.ID], texts[e.ID] = time.Now(), what
				all.Go(func() { _ = c.Admit(t.Context(), e) })
			}
			for i, s := range steps {
				who, text, _ := strings.Cut(s.what, " ")
				if text == "/pause" || text == "/resume" { // kept apart, since the last of them holds
					time.Sleep(7 * time.Microsecond)
				}
				is := stopped{what: s.what, at: time.Now()}
				switch {
				case text == "earshot stop", text == "stop", text == "/stop", strings.HasSuffix(text, "be quiet"), text == "/pause":
					is.asked = make(map[earshot.EventID]bool)
					for id, at := range issued {
						is.asked[id] = at.Before(is.at) && !strings.Contains(texts[id], "remind") // a reminder is for later
					}
					if is.turns = was.turns(); text == "/pause" && paused < 0 {
						is.all, paused = true, len(stops)
					}
					stops = append(stops, is)
				case strings.HasPrefix(text, "@Scout") && leaves: // Scout may not be there
				case who == "says" && strings.HasPrefix(text, "earshot"), strings.HasPrefix(text, "@"):
					is.turns = was.turns()
					stops = append(stops, is)
				case text == "/resume" && paused >= 0:
					stops[paused].until, paused = is.at, -1
				}
				switch who {
				case "ann", "bob":
					e := earshot.Event{From: handle(who), Via: who, Body: earshot.Message{Text: earshot.Text(text)}}
					if rest, command := strings.CutPrefix(text, "/"); command {
						name, args, _ := strings.Cut(rest, " ")
						e.Body = earshot.Command{Name: name, Args: earshot.Text(args)}
					}
					switch {
					case text == "goes" && here:
						here = false
						all.Go(func() { c.goes(t, "bob") })
					case text == "comes" && !here:
						here = true
						all.Go(func() { c.come(t, "bob") })
					case text != "goes" && text != "comes":
						if admit(i, e, s.what); strings.HasPrefix(text, "@") {
							wrote[who] = earshot.EventID(fmt.Sprint("m", i))
						}
					}
				case "revises", "retracts", "forgets":
					of, some := wrote[text]
					if some {
						changed[of] = true
					}
					switch b := (earshot.Event{From: handle(text), Via: text}); {
					case !some:
					case who == "forgets":
						all.Go(func() { _ = c.Forget(t.Context(), c.journal.Forget(of), nil) })
					case who == "retracts":
						all.Go(func() { _ = c.Admit(t.Context(), with(b, earshot.Withdrawal{Of: of})) })
					default:
						all.Go(func() { _ = c.Admit(t.Context(), with(b, earshot.Revision{Of: of, Text: "@Earshot count again"})) })
					}
				case "camera":
					e := earshot.Event{From: desk, Body: earshot.Body(glance(map[string]int{"somebody": 1}[text]))}
					if text == "changes" {
						e.Body = earshot.Sight{Camera: desk.ID, What: earshot.SceneChanged, Eyes: earshot.Clear}
					}
					admit(i, e, s.what)
				case "crew":
					crew := []agents.Record{record("agent", "Earshot"), record("scout", "Scout")}
					switch text {
					case "alone":
						crew = crew[:1]
					case "changed":
						crew[1].Description = "tall"
					}
					all.Go(func() { c.seats(crew...) })
				case "says":
					admit(i, aloud(text, 0), s.what)
				case "types", "leaves":
					admit(i, earshot.Event{From: handle(text), Via: text, Body: earshot.Typing{Began: who == "types"}}, s.what)
				case "voice":
					e := sound(map[string]earshot.Stage{"began": earshot.VoiceBegan, "lasts": earshot.VoiceLasts, "calls": earshot.VoiceWords, "over": earshot.VoiceOver}[text])
					e.From = mic
					if b := e.Body.(earshot.Speech); text == "calls" {
						b.Words = "earshot count"
						e.Body = b
					}
					admit(i, e, s.what)
				default:
					set := h.settings()
					switch who {
					case "whole":
						set.Streaming.DisplayPartial = false
					case "off", "on":
						set.Enabled = who == "on"
					default:
						set.MultiParty.TurnTakingProtocol = who
					}
					h.reset.Store(&set)
				}
				if s.then >= 0 {
					time.Sleep(s.then + 7*time.Microsecond) // so that nothing else happens at the same time
				}
			}
			all.Wait()
			for _, name := range []string{"ann", "bob"} {
				_ = c.Admit(t.Context(), earshot.Event{From: handle(name), Via: name, Body: earshot.Typing{}})
			}
			time.Sleep(5 * time.Minute)
			if slices.ContainsFunc(steps, func(s step) bool { return s.what == "passive" }) { // a passive agent does not go on by itself
				for n := 0; n < 3 && (n == 0 || c.Busy()); n++ { // a reminder that nobody has heard is said again, and held back again
					_ = c.writes(t, "ann", "/stop")
					time.Sleep(time.Minute)
				}
			}
			if c.Busy() || c.state().Waiting > 0 {
				fault("the room does not come to rest")
			}
			c.stop()
			close(done)
			looking.Wait()
			for i, others := range []string{"bob /msg", "ann /msg"} {
				for id := range saw[i] {
					if strings.HasPrefix(texts[id], others) {
						fault("somebody else could see what is answered to %q", texts[id])
					}
				}
			}

			used := make(map[earshot.TurnID]bool) // a turn also answers those who gave way to it, so it may use tools for them
			for _, u := range testkit.Bodies[earshot.Use](c.journal.Events()) {
				used[u.Turn] = true
			}
			works := func(c came) bool { // a turn that works says nothing meanwhile
				text := texts[c.About]
				return used[c.Turn] || slices.ContainsFunc([]string{"work", "exchange", "kettle", "unset", "ponder", "note", "mend", "delegate"}, func(does string) bool {
					return strings.HasSuffix(text, "@Earshot "+does)
				})
			}
			for _, s := range stops {
				for _, c := range was.came {
					late := c.at.After(s.at) && !c.Protected
					if late && s.turns[c.Turn] && !works(c) {
						fault("after %q at %v something of %q came at %v", s.what, s.at.Format("05.000000"), texts[c.About], c.at.Format("05.000000"))
						break
					}
					if late && s.asked[c.Root] && !changed[c.Root] {
						fault("after %q at %v something of %q came at %v, which had been asked", s.what, s.at.Format("05.000000"), texts[c.Root], c.at.Format("05.000000"))
						break
					}
					if late && s.all && (s.until.IsZero() || c.at.Before(s.until)) {
						fault("while it was paused something of %q came", texts[c.Root])
						break
					}
				}
			}
			type promise struct {
				earshot.Decision
				visibility earshot.Visibility
			}
			promised := make(map[earshot.TurnID]promise)
			ends := make(map[earshot.TurnID]int)
			erased := 0 // ends of turns that were erased
			for _, e := range c.journal.Events() {
				switch b := e.Body.(type) {
				case earshot.Decision:
					if b.Turn != "" {
						promised[b.Turn] = promise{b, e.Visibility}
					}
				case earshot.Tombstone:
					if b.Was == earshot.KindReply {
						erased++
					}
				case earshot.Reply:
					ends[b.Turn]++
					p := promised[b.Turn]
					if _, persons := issued[p.About]; !persons || strings.Contains(texts[p.About], "remind") { // a reminder is tried again
						continue
					}
					another := false
					for turn, o := range promised {
						another = another || turn != b.Turn && o.Agent == p.Agent && o.visibility.Scope == p.visibility.Scope && o.About != p.About
					}
					for _, e := range c.journal.Events() { // the other question may come later, or be forgotten
						if b, ok := e.Body.(earshot.Tombstone); ok {
							another = another || b.Was == earshot.KindDecision
						}
						if o, ok := e.Body.(earshot.Decision); ok && o.Turn != "" {
							another = another || o.Turn != b.Turn && o.Agent == p.Agent && e.Visibility.Scope == p.visibility.Scope && o.About != p.About
						}
					}
					left := p.Agent == "scout" && leaves
					switch {
					case changed[p.About] || left: // it may have been asked twice, or nobody is there who could answer
					case b.Outcome == earshot.Suppressed && !another:
						fault("%q was given up for nothing", texts[p.About])
					case b.Outcome == earshot.Interrupted && len(b.Heard) == 0 && b.Cut.Signal != interrupt.Command.String():
						fault("%q was not answered, since %s had said something to an agent", texts[p.About], b.Cut.By)
					case b.Outcome == earshot.Failed:
						fault("the answer to %q failed", texts[p.About])
					}
				}
			}
			for turn, p := range promised {
				if ends[turn] == 0 && erased > 0 {
					erased--
					continue
				}
				if ends[turn] != 1 {
					fault("the answer to %q, of %s, has %d ends", texts[p.About], p.Agent, ends[turn])
				}
			}
		})
		if len(faults) > 0 {
			slices.Sort(faults)
			rt.Fatalf("%s\nsteps %v, the journal takes %v", strings.Join(slices.Compact(faults), "\n"), steps, slow)
		}
	})
}
