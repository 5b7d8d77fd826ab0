package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"earshot"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/internal/audio"
	"earshot/internal/codec"
	gateway "earshot/internal/discord"
	"earshot/internal/discord/compose"
	"earshot/internal/discord/voice"
	"earshot/internal/supervise"
	hearing "earshot/models/hear"
	"earshot/models/stt"
	"earshot/models/tts"
	outlet "earshot/outlets/discord"
	"earshot/participants"
	"earshot/providers/discord"
	ringing "earshot/providers/discord/calls"
	"earshot/providers/microphone"
)

// An embassy is the house on Discord: one session of a bot, which the sense of what is
// written, the calls and the outlets share.
type embassy struct {
	*daemon
	session *gateway.Session
	sense   *discord.Sense
	line    *ringing.Calls // nil where nothing is heard
	pool    *stt.Pool      // likewise

	mu       sync.Mutex
	postings map[earshot.RoomID]posting // of the rooms that were opened
	own      echo
}

// discord gives the house a bot. What is missing may still come; what has to be mended
// by somebody is the error.
func (d *daemon) discord(hears, speaks bool) error {
	token, err := d.cfg.Providers.Discord.Secret()
	if err != nil {
		return err
	}
	e := &embassy{daemon: d, postings: make(map[earshot.RoomID]posting)}
	take := func(event any) { e.sense.Take(event) }
	e.session = sessionOn(d.cfg, token, d.log, take)
	also := func(any) {}
	if hears {
		if err := e.listens(speaks); err != nil {
			return err
		}
		also = e.line.Take
	}
	e.sense = discord.New(d.cfg.Providers.Discord, discord.Parts{
		Session: e.session, House: e, Agent: func() string { return d.Name(participants.Agent) }, Event: e.eventOf,
		Commands: e.offered(), Also: also, Tell: d.report, Log: d.log,
	})
	d.embassy = e
	d.parts = append(d.parts, part{name: e.sense.Name(), run: e.run})
	return nil
}

// listens gives the bot ears, and if speaks is set a voice.
func (e *embassy) listens(speaks bool) error {
	out, err := openOptouts(e.cfg)
	if err != nil {
		return err
	}
	e.pool = stt.NewPool(stt.PoolConfig{
		Each: stt.Config{Dial: dial(e.log, speechHelper, "hear"), Log: e.log, Names: []string{e.cfg.Executive.Name}},
		Most: e.cfg.Providers.Discord.Recognisers, Name: "recognition of calls", Report: e.report, Restarts: restarts,
	})
	parts := ringing.Parts{
		Call: func(ctx context.Context, cfg voice.Config, use func(ringing.Call)) error {
			return e.session.Call(ctx, cfg, func(c *voice.Call) { use(c) })
		},
		Ear: e.ear,
		Decoder: func(heard func(uint32, *audio.Frame)) ringing.Decoder {
			return codec.NewOpus(codec.OpusConfig{Dial: dial(e.log, speechHelper, "media"), Heard: heard})
		},
		Room:    e.roomOf,
		Listens: e.mayListen,
		Arrive:  e.arrives,
		Tell:    e.tell,
		OptOuts: out, Report: e.report, Log: e.log,
	}
	if speaks {
		parts.Enter = e.speaks
	}
	e.line = ringing.New(e.cfg.Providers.Discord, parts)
	e.parts = append(e.parts, part{name: "recognition of calls", run: e.pool.Run})
	return nil
}

// A posting is a channel and its room while that is open.
type posting struct {
	discord.Channel
	room chamber
	end  func() // ends what writes there, and waits for it
}

// Room implements [discord.House].
func (e *embassy) Room(ctx context.Context, c discord.Channel) (earshot.RoomID, error) {
	room, err := e.openRoom(ctx, executive.Room{ID: c.Room(), Name: c.Name})
	if err != nil {
		return "", err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if was := e.postings[room.is.ID]; was.room.Room != room.Room { // it was just opened
		if was.end != nil {
			was.end()
		}
		e.postings[room.is.ID] = e.post(ctx, room, c)
	}
	return room.is.ID, nil
}

// post lets what writes into a channel into its room, until the posting ends.
func (e *embassy) post(ctx context.Context, room chamber, c discord.Channel) posting {
	p := posting{Channel: c, room: room, end: func() {}}
	set := e.cfg.Outlets.Discord
	if !set.Text {
		return p
	}
	around := earshot.Audience{Unknown: true} // who reads along nobody knows
	if c.Private() {
		around = earshot.Audience{Members: []earshot.ParticipantID{e.Resolve(earshot.Handle{Provider: byDiscord, ID: c.With}).Reader()}}
	}
	channel, _ := gateway.Number(c.ID)
	text := outlet.NewText(outlet.TextConfig{
		Channel: channel, REST: e.session, Self: e.Name(participants.Agent), Beside: !set.Transcript,
		Names:  func() compose.Names { return e.names(room.is.ID) },
		Called: e.Name,
		Posted: func(turn earshot.TurnID, message uint64) { e.own.add(message, saying{room.is.ID, turn}) },
		Refused: func(err error) {
			n := earshot.Notice{Key: "discord " + c.ID, Text: "a reply could not be written in " + c.Name}
			why, cure := plainly(err)
			n.Text, n.Cure = n.Text+": "+why, cure
			e.report(n)
		},
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var writing sync.WaitGroup
	entered := make(chan struct{})
	writing.Go(func() {
		if err := text.Run(ctx, func(o earshot.Outlet) func() {
			defer close(entered)
			return room.Enter(o, around)
		}); err != nil {
			e.log.Error("a channel cannot be written in", "err", err)
		}
	})
	<-entered // before anything is brought in that is answered there
	p.end = func() {
		stop()
		writing.Wait()
	}
	return p
}

// names returns who may be mentioned in a room: those who are there.
func (e *embassy) names(room earshot.RoomID) (all compose.Names) {
	for _, p := range e.Here(room) {
		for _, h := range e.Handles(p.ID) {
			if id, ok := gateway.Number(h.ID); ok && h.Provider == byDiscord {
				all.People = append(all.People, compose.Name{ID: id, Name: p.Name})
			}
		}
	}
	return all
}

// eventOf returns the event that a message is: of a part of a reply that was posted
// since earshot runs, that reply.
func (e *embassy) eventOf(channel, message uint64) earshot.EventID {
	if said, ok := e.own.get(message); ok {
		found, err := e.store.Lately(context.Background(), said.room, earshot.KindReply, lately, e.anybody(said.room)...)
		if err != nil {
			e.log.Warn("a reply cannot be found", "err", err)
		}
		for _, ev := range slices.Backward(found) {
			if r, ok := ev.Body.(earshot.Reply); ok && r.Turn == said.turn {
				return ev.ID
			}
		}
	}
	return gateway.EventOf(channel, message)
}

// mostOwn is how many of its own messages are remembered: what people still answer.
const mostOwn = 4096

// A saying is in which turn something was said, and where.
type saying struct {
	room earshot.RoomID
	turn earshot.TurnID
}

// An echo remembers of messages that were posted which turn they are part of. It may be
// used from many goroutines.
type echo struct {
	mu    sync.Mutex
	turns map[uint64]saying
	order []uint64 // the oldest first
}

func (o *echo) add(message uint64, s saying) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.turns == nil {
		o.turns = make(map[uint64]saying)
	}
	if len(o.order) == mostOwn {
		delete(o.turns, o.order[0])
		o.order = slices.Delete(o.order, 0, 1)
	}
	o.turns[message], o.order = s, append(o.order, message)
}

func (o *echo) get(message uint64) (saying, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.turns[message]
	return s, ok
}

// run is the bot. The session goes last, since a call is left by it, and so does what
// is being written.
func (e *embassy) run(ctx context.Context) error {
	last, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var inCall sync.WaitGroup
	calls, hangUp := context.WithCancel(ctx)
	defer hangUp()
	if e.line != nil {
		inCall.Go(func() {
			cfg := restarts
			cfg.Report = e.report
			if err := supervise.Run(calls, "calls", func(ctx context.Context) error { return e.line.Run(ctx, e.Admit) }, cfg); err != nil {
				e.log.Error("a part cannot run", "part", "calls", "err", err)
			}
		})
	}
	ended := make(chan struct{})
	var rest sync.WaitGroup
	rest.Go(func() {
		defer stop()
		select {
		case <-ctx.Done():
		case <-ended:
		}
		hangUp()
		inCall.Wait()
		e.close()
	})
	err := e.sense.Run(last, e.Admit)
	close(ended)
	rest.Wait()
	e.close() // what came in meanwhile
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// close ends what is being written.
func (e *embassy) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, p := range e.postings {
		p.end()
		delete(e.postings, id)
	}
}

// posted returns the channel of a room.
func (e *embassy) posted(room earshot.RoomID) (discord.Channel, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.postings[room]
	return p.Channel, ok
}

// roomOf opens the room of a voice channel.
func (e *embassy) roomOf(ctx context.Context, guild, channel uint64) (earshot.RoomID, error) {
	c := discord.Channel{ID: strconv.FormatUint(channel, 10), Guild: strconv.FormatUint(guild, 10)}
	if known, ok := e.posted(c.Room()); ok {
		return e.Room(ctx, known)
	}
	var is struct {
		Name string `json:"name"`
	}
	if err := e.session.Ask(ctx, http.MethodGet, "channels/"+c.ID, nil, &is); err != nil {
		return "", err
	}
	c.Name = "#" + is.Name
	return e.Room(ctx, c)
}

// Arrive implements [discord.House].
func (e *embassy) Arrive(ctx context.Context, who earshot.Handle, p discord.Person) (string, error) {
	n := participants.Newcomer{Names: []string{p.Name}, Type: participants.Human, Description: strings.Join(p.Roles, ", ")}
	if p.Bot {
		n.Type = participants.AIAssistant
	}
	is, err := e.Registry.Arrive(ctx, who, n)
	return is.Name, err
}

// arrives makes somebody known who is in a call and has never written.
func (e *embassy) arrives(ctx context.Context, guild, user uint64) error {
	who := ringing.HandleOf(user)
	if e.Resolve(who).ID != "" {
		return nil
	}
	var is struct {
		Nick string `json:"nick"`
		User struct {
			Name   string `json:"username"`
			Global string `json:"global_name"`
			Bot    bool   `json:"bot"`
		} `json:"user"`
	}
	if err := e.session.Ask(ctx, http.MethodGet, fmt.Sprintf("guilds/%d/members/%d", guild, user), nil, &is); err != nil {
		return err
	}
	_, err := e.Arrive(ctx, who, discord.Person{Name: cmp.Or(is.Nick, is.User.Global, is.User.Name), Bot: is.User.Bot})
	return err
}

// Do implements [discord.House].
func (e *embassy) Do(ctx context.Context, ev earshot.Event) (string, error) {
	return house{e.daemon}.Do(ctx, ev)
}

// mayListen reports whether a room listens, and returns what is closed when that changes.
func (e *embassy) mayListen(id earshot.RoomID) (bool, <-chan struct{}) {
	r, ok := e.rooms.find(id)
	if !ok {
		return false, nil
	}
	mode, changed := r.Mode()
	return mode.Listens(), changed
}

// tell writes something of the house into a channel. It pings nobody.
func (e *embassy) tell(ctx context.Context, channel uint64, text string) error {
	return e.session.Ask(ctx, http.MethodPost, fmt.Sprintf("channels/%d/messages", channel),
		map[string]any{"content": text, "allowed_mentions": map[string]any{"parse": []string{}}}, nil)
}

// ear listens to one person in a call. How long it waits for more words depends on what
// the agent has just asked there.
func (e *embassy) ear(from earshot.Handle, c ringing.Capture) ringing.Ear {
	set := e.cfg.Providers.Microphone
	set.Deaf = 0 // who is silent sends nothing
	return microphone.New(set, microphone.Parts{
		Capture: c, Recogniser: overhearer{e.pool.Listener()}, Name: inCalls, From: from, Via: inCalls, Notice: e.report,
		Talk: func() hearing.Talk {
			var about hearing.Talk
			if all := e.line.Status(); len(all) == 1 { // of several nobody knows which it is
				if r, ok := e.rooms.find(all[0].Room); ok {
					about = hearing.Asks(string(r.Asked()))
				}
			}
			about.Name = e.cfg.Executive.Name
			return about
		},
	})
}

// inCalls is what hears in calls, and what speaks there.
const inCalls = "discord voice"

// An overhearer recognises what one of several people says, as a microphone knows it.
type overhearer struct{ *stt.Listener }

// Begin implements [microphone.Recogniser].
func (o overhearer) Begin(on func(microphone.Result)) microphone.Session {
	return o.Listener.Begin(func(s stt.Result) {
		on(microphone.Result{Text: s.Text, Heard: s.Heard, Confidence: s.Confidence, Final: s.Final, Err: s.Err})
	})
}

// A mouth is the voice of the agent in one call, with the helpers that make its sound.
type mouth struct {
	*outlet.Voice
	stop context.CancelFunc
	life sync.WaitGroup
}

// Leave implements [ringing.Mouth].
func (m *mouth) Leave() {
	m.stop()
	m.life.Wait()
}

// speaks gives the agent a voice in a call.
func (e *embassy) speaks(ctx context.Context, call ringing.Call, id earshot.RoomID) (ringing.Mouth, error) {
	line, ok := call.(outlet.Call)
	r, open := e.rooms.find(id)
	if !ok || !open {
		return nil, errors.New("there is no call to speak in")
	}
	set := e.cfg.Outlets.Discord
	say := tts.New(tts.Config{Dial: dial(e.log, speechHelper, "say"), Voice: set.VoiceName, Speed: set.Speed, Log: e.log})
	m := &mouth{Voice: outlet.NewVoice(say)}
	coder := codec.NewOpus(codec.OpusConfig{Dial: dial(e.log, speechHelper, "media"), Encoded: m.Encoded})
	ctx, m.stop = context.WithCancel(context.WithoutCancel(ctx))
	helper := func(name string, run func(context.Context) error) {
		cfg := restarts
		cfg.Report = e.report
		m.life.Go(func() {
			if err := supervise.Run(ctx, name, run, cfg); err != nil {
				e.log.Error("a part cannot run", "part", name, "err", err)
			}
		})
	}
	helper("voice in calls", say.Run)
	helper("sound of the voice in calls", coder.Run)
	m.life.Go(func() {
		m.Run(ctx, line, coder, func(o earshot.Outlet) func() { return r.Enter(o, earshot.Audience{Unknown: true}) })
	})
	return m, nil
}

// unfit are the commands that make no sense on Discord, where everybody is who they are,
// all read what is written, and a voice is an account's.
var unfit = []string{"identity", "msg", "voice"}

// offered are the commands that people are offered where they type a slash.
func (e *embassy) offered() (all []discord.Command) {
	for _, c := range append(e.desk.Commands(), e.table()...) {
		if !slices.Contains(unfit, c.Name) {
			all = append(all, discord.Command{Name: c.Name, Args: c.Args, Help: c.Help})
		}
	}
	return all
}

// table are the commands of the rooms on Discord.
func (e *embassy) table() command.Table {
	const group = "Discord"
	return command.Table{
		{Group: group, Name: "join", Help: "come into the voice channel that I am in", Needs: participants.SendMessages, Do: e.join},
		{Group: group, Name: "leave", Help: "leave the voice channel", Needs: participants.SendMessages, Do: e.leave},
		{Group: group, Name: "optout", Args: "[off]", Help: "do not listen to me in any voice channel; off: do again", Do: e.optOut},
		{Group: group, Name: "status", Help: "the connection, the call, and what is wrong", Do: e.status},
	}
}

// commandsIn returns the commands that only some rooms have.
func (d *daemon) commandsIn(is executive.Room) command.Table {
	if d.embassy == nil || is.Provider != byDiscord {
		return nil
	}
	return d.embassy.table()
}

// errNoCalls is the answer where nothing is heard.
var errNoCalls = errors.New("what hears and speaks in voice channels is missing, or switched off; earshot doctor tells who runs it why")

// asker returns where on Discord a command was given, and by whom.
func (e *embassy) asker(c command.Call) (guild, user uint64, err error) {
	in, ok := e.posted(c.Event.Room)
	if e.line == nil {
		return 0, 0, errNoCalls
	}
	guild, _ = gateway.Number(in.Guild)
	user, known := gateway.Number(c.Event.From.ID)
	if !ok || !known || c.Event.From.Provider != e.sense.Name() {
		return 0, 0, errors.New("that can be asked on Discord alone")
	}
	return guild, user, nil
}

func (e *embassy) join(_ context.Context, c command.Call) (string, error) {
	guild, user, err := e.asker(c)
	if err != nil {
		return "", err
	}
	return e.line.Join(guild, 0, user), nil
}

func (e *embassy) leave(_ context.Context, c command.Call) (string, error) {
	guild, _, err := e.asker(c)
	if err != nil {
		return "", err
	}
	return e.line.Leave(guild), nil
}

func (e *embassy) optOut(_ context.Context, c command.Call) (string, error) {
	_, user, err := e.asker(c)
	if err != nil {
		return "", err
	}
	return e.line.OptOut(user, !strings.EqualFold(strings.TrimSpace(string(c.Args)), "off")), nil
}

// status tells how it stands with the session and the call of the guild where it is
// asked.
func (e *embassy) status(_ context.Context, c command.Call) (string, error) {
	var b strings.Builder
	st := e.session.Status()
	if st.Open {
		fmt.Fprintf(&b, "connected since %s, heartbeat %d ms", st.Since.Format("15:04"), st.RoundTrip.Milliseconds())
	} else {
		fmt.Fprintf(&b, "not connected: %s", cmp.Or(st.Why, "it is just beginning"))
	}
	if lost := st.Lost.Messages; lost > 0 {
		fmt.Fprintf(&b, "; %s had to be asked for again", count(lost, "message"))
	}
	if e.line == nil {
		return b.String() + "\n" + errNoCalls.Error(), nil
	}
	in, _ := e.posted(c.Event.Room)
	guild, _ := gateway.Number(in.Guild)
	for _, call := range e.line.Status() {
		if call.Guild == guild {
			b.WriteString("\n" + tellCall(call))
		}
	}
	return b.String(), nil
}

// tellCall tells how it stands with a call.
func tellCall(c ringing.Status) string {
	v := c.Voice
	text := cmp.Or(v.Phase, "coming")
	switch {
	case v.Encrypted:
		text += fmt.Sprintf(", encrypted end to end (code %s)", v.Code)
	case v.Phase == "in the call":
		text += ", not encrypted end to end: Discord says that somebody here cannot"
	}
	if c.Listens {
		text += fmt.Sprintf("; listens to %s", count(max(0, len(v.People)-1), "other"))
	} else {
		text += "; does not listen"
	}
	if v.Deaf != "" {
		text += "; hears nothing: " + v.Deaf
	}
	for _, t := range c.Trouble {
		text += "\n" + t
	}
	return text
}

// aboutEmbassy gives the house its bot if it is to have one, and says how that went.
func (a *app) aboutEmbassy(d *daemon, voice bool) []finding {
	if !d.cfg.Providers.Discord.Enabled {
		return nil
	}
	f := finding{Thing: "discord", Works: true}
	var hears, speaks bool
	if voice && d.cfg.Providers.Discord.Join != discord.JoinNever {
		roles := lookAtSpeech(a.ctx)
		hears = roles["hear"].may() && roles["media"].may()
		speaks = hears && d.cfg.Outlets.Discord.Voice && roles["say"].may()
	}
	switch {
	case hears && speaks:
		f.Text = "reads and writes, hears and speaks there"
	case hears:
		f.Text = "reads, writes and hears there"
	default:
		f.Text = "reads and writes there, and comes into no voice channel"
	}
	if err := d.discord(hears, speaks); err != nil {
		f.Works = false
		f.Text, f.Cure = plainly(err)
		d.desk.Know(earshot.Notice{Key: f.Thing, Text: f.Text, Cure: f.Cure})
	}
	return []finding{f}
}
