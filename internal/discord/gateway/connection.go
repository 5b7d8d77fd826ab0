package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/coder/websocket"
)

const (
	// version is the version of the gateway and the REST interface: the one that discordgo's
	// structs are for.
	version = "9"
	// mostMessage bounds one message of the gateway, in bytes: a guild of some
	// thousands of channels and roles is a few megabytes.
	mostMessage = 16 << 20
	// shortest and slowest bound the heartbeat interval that a server may demand; Discord's is
	// 41.25 s.
	shortest = 100 * time.Millisecond
	slowest  = 5 * time.Minute
	// patience is how long writing one message, or saying goodbye, may take.
	patience = 10 * time.Second
	leave    = time.Second
)

// A connection is one websocket to the gateway, from its hello to its end.
type connection struct {
	ws    *websocket.Conn
	seq   atomic.Int64 // of the last event taken
	sent  atomic.Int64 // when the last heartbeat was, in ns since 1970; 0 if it was answered
	round atomic.Int64 // nanoseconds from the last heartbeat to its answer
	stop  context.CancelCauseFunc
	room  sendLimiter
	open  bool // of the reader: READY or RESUMED has come
}

// An ended is why a connection ends, also as the cause with which its context is cancelled.
type ended struct {
	cause     disconnectCause
	resumable bool // if it is invalid: only for the moment
}

func (e *ended) Error() string { return e.cause.String() }

// errLeaving ends a connection because the session is told to stop.
var errLeaving = errors.New("told to stop")

// attend opens a connection, serves it, and returns how it ended.
func (s *Session) attend(ctx context.Context, c *sessionState, how step) disconnection {
	if err := s.awaitTurn(ctx, c, how.resume); err != nil {
		return disconnection{cause: unreachable, err: err}
	}
	opening, done := context.WithTimeout(ctx, s.within)
	defer done()
	gateway := c.url
	if how.ask || gateway == "" {
		found, e := s.ask(opening, how.resume)
		if e != nil {
			return *e
		}
		if gateway == "" {
			gateway = found
		}
	}
	address, err := s.address(gateway)
	if err != nil {
		return disconnection{cause: unreachable, reached: how.ask, err: err}
	}
	ws, _, err := websocket.Dial(opening, address, &websocket.DialOptions{HTTPClient: s.http})
	if err != nil {
		return disconnection{cause: unreachable, reached: how.ask, err: fmt.Errorf("connecting to the gateway: %w", err)}
	}
	ws.SetReadLimit(mostMessage)
	return s.keep(ctx, opening, c, ws, how.resume)
}

// address returns the websocket's address. The token is sent there, so it must be encrypted,
// unless the REST interface is not.
func (s *Session) address(gateway string) (string, error) {
	u, err := url.Parse(gateway)
	if err != nil || u.Host == "" || u.Scheme != "wss" && !(u.Scheme == "ws" && s.base.Scheme == "http") {
		return "", errors.New("the token may not be sent to the gateway's address")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.RawQuery = url.Values{"v": {version}, "encoding": {"json"}}.Encode()
	return u.String(), nil
}

// keep speaks with the gateway until the connection ends.
func (s *Session) keep(ctx, opening context.Context, c *sessionState, ws *websocket.Conn, resume bool) disconnection {
	// Cancelling the read context of a websocket closes it without a goodbye, and a bot that leaves
	// like that is shown as present for a minute. So the connection has a context of its own, and
	// the end of ctx says goodbye first.
	life, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	conn := &connection{ws: ws, stop: stop}
	conn.seq.Store(c.seq)
	parted := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer close(parted)
		cut := time.AfterFunc(leave, func() { stop(errLeaving) })
		defer cut.Stop()
		ws.Close(websocket.StatusNormalClosure, "")
		stop(errLeaving)
	})
	impatient := context.AfterFunc(opening, func() { stop(&ended{cause: slow}) })
	beating := make(chan struct{})
	var opened time.Time

	err := func() error {
		every, err := conn.hello(life)
		if err != nil {
			close(beating)
			return err
		}
		go func() {
			defer close(beating)
			conn.beat(life, every, s.jitter())
		}()
		if err := s.introduce(life, conn, c, resume); err != nil {
			return err
		}
		return s.listen(life, conn, c, func() {
			impatient()
			opened = time.Now()
		})
	}()

	e := judge(life, err)
	if !opened.IsZero() {
		e.opened, e.lasted = true, time.Since(opened)
	}
	s.closed(conn)
	if !unwatch() {
		<-parted
	}
	impatient()
	stop(err)
	ws.CloseNow()
	<-beating
	return e
}

// judge classifies an error of a connection.
func judge(life context.Context, err error) disconnection {
	for _, err := range []error{context.Cause(life), err} {
		if why, ok := errors.AsType[*ended](err); ok {
			return disconnection{cause: why.cause, resumable: why.resumable, err: why}
		}
	}
	e := disconnection{cause: lost, err: err}
	if code := websocket.CloseStatus(err); code > 0 {
		// The reason text is the server's, and not trusted. The codes are known.
		e.code, e.err = int(code), fmt.Errorf("closed with code %d", code)
	}
	return e
}

// hello reads the first message and returns the heartbeat interval.
func (c *connection) hello(ctx context.Context) (time.Duration, error) {
	e, _, err := c.read(ctx)
	if err != nil {
		return 0, err
	}
	switch e.Op {
	case opHello:
	case opReconnect:
		return 0, &ended{cause: reconnect}
	default:
		return 0, fmt.Errorf("the gateway began with operation %d", e.Op)
	}
	var d struct {
		Every float64 `json:"heartbeat_interval"` // ms
	}
	if err := json.Unmarshal(e.Data, &d); err != nil || !(d.Every > 0) {
		return 0, errors.New("the gateway's hello is not valid")
	}
	return min(max(time.Duration(min(d.Every, 1e9)*1e6), shortest), slowest), nil
}

// beat sends heartbeats, and ends the connection when one was not acknowledged before the next is
// due.
func (c *connection) beat(ctx context.Context, every time.Duration, jitter float64) {
	wait := time.NewTimer(time.Duration(jitter * float64(every)))
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		if c.sent.Load() != 0 {
			c.stop(&ended{cause: zombie})
			return
		}
		c.sent.Store(time.Now().UnixNano())
		if err := c.heartbeat(ctx); err != nil {
			return // the reader notices it, too
		}
		wait.Reset(every)
	}
}

func (c *connection) heartbeat(ctx context.Context) error {
	var seq *int64
	if n := c.seq.Load(); n > 0 {
		seq = &n
	}
	return c.write(ctx, opHeartbeat, seq)
}

// introduce resumes or identifies.
func (s *Session) introduce(ctx context.Context, conn *connection, c *sessionState, resume bool) error {
	if resume {
		return conn.write(ctx, opResume, map[string]any{"token": s.token(), "session_id": c.session, "seq": c.seq})
	}
	if err := s.awaitTurn(ctx, c, false); err != nil { // if the last one has passed meanwhile
		return err
	}
	c.identifying(time.Now())
	conn.seq.Store(0)
	// Not discordgo.Identify: it always sends a presence, in an obsolete form.
	identify := map[string]any{
		"token":           s.token(),
		"intents":         c.intents,
		"large_threshold": 250, // members, beyond which only those online are sent; the most that is allowed
		"properties":      map[string]string{"os": runtime.GOOS, "browser": "earshot", "device": "earshot"},
	}
	if s.shard.Of > 0 {
		identify["shard"] = []int{s.shard.Number, s.shard.Of}
	}
	return conn.write(ctx, opIdentify, identify)
}

// awaitTurn waits for the turn to identify, unless there still is one.
func (s *Session) awaitTurn(ctx context.Context, c *sessionState, resume bool) (err error) {
	if s.shard.Turn != nil && !resume && !time.Now().Before(c.turn) {
		if c.turn, err = s.shard.Turn(ctx); err != nil {
			return fmt.Errorf("waiting for the turn to identify: %w", err)
		}
	}
	return nil
}

// listen reads events until the connection ends. It calls opened when the session is open.
func (s *Session) listen(ctx context.Context, conn *connection, c *sessionState, opened func()) error {
	for {
		e, size, err := conn.read(ctx)
		if err != nil {
			return err
		}
		switch e.Op {
		case opDispatch:
			if err := s.dispatch(ctx, conn, c, e, size, opened); err != nil {
				return err
			}
		case opHeartbeat:
			if err := conn.heartbeat(ctx); err != nil {
				return err
			}
		case opHeartbeatAck:
			if at := conn.sent.Swap(0); at != 0 {
				conn.round.Store(time.Now().UnixNano() - at)
			}
		case opReconnect:
			return &ended{cause: reconnect}
		case opInvalid:
			var resumable bool
			json.Unmarshal(e.Data, &resumable) // anything but true is false
			return &ended{invalid, resumable}
		}
	}
}

// dispatch handles one event.
func (s *Session) dispatch(ctx context.Context, conn *connection, c *sessionState, e envelope, size int, opened func()) error {
	if !c.take(e.Seq) && (e.Type != "RESUMED" || conn.open) {
		s.count(func(st *Status) { st.Repeated++ })
		return nil
	}
	conn.seq.Store(c.seq)
	event := Decode(e.Type, e.Data)
	switch event := event.(type) {
	case *discordgo.Ready:
		conn.open = true
		c.ready(event.SessionID, event.ResumeGatewayURL)
		s.expect(event.Guilds)
		s.opened(conn, event.User.ID, false)
		opened()
		event.SessionID, event.ResumeGatewayURL = "", "" // they would let somebody take over a session
	case *discordgo.Resumed:
		if !conn.open { // a replay may contain another one
			conn.open = true
			c.resumed()
			s.opened(conn, "", true)
			opened()
		}
	case *discordgo.VoiceServerUpdate:
		s.voiceServer(event)
		return nil // it holds a token, and is only for the call
	case *discordgo.VoiceStateUpdate:
		s.voiceState(event)
		event.SessionID = ""
	case *discordgo.GuildCreate:
		s.rejoin(ctx, conn, event.ID)
		for _, v := range event.VoiceStates {
			v.SessionID = ""
		}
	case *discordgo.Event:
		switch e.Type {
		case "READY":
			return errors.New("READY does not say which session it is")
		case "VOICE_SERVER_UPDATE", "VOICE_STATE_UPDATE":
			return nil // it was not understood, and may contain a token for a call
		case "GUILD_CREATE":
			var d struct {
				ID string `json:"id"`
			}
			json.Unmarshal(e.Data, &d) // it exists, whatever its form
			s.rejoin(ctx, conn, d.ID)
		}
	}
	s.hand(waiting{event, kindOf(event), size})
	return nil
}

// read returns the next message and its size.
func (c *connection) read(ctx context.Context) (envelope, int, error) {
	_, data, err := c.ws.Read(ctx)
	if err != nil {
		return envelope{}, 0, err
	}
	var e envelope
	if json.Unmarshal(data, &e) != nil {
		// A message that does not parse may be somebody's text, so the error does not quote it.
		return envelope{}, 0, fmt.Errorf("a message of %d bytes does not follow the gateway's protocol", len(data))
	}
	return e, len(data), nil
}

// write sends one message.
func (c *connection) write(ctx context.Context, op int, data any) error {
	text, err := json.Marshal(map[string]any{"op": op, "d": data})
	if err != nil {
		return fmt.Errorf("encoding operation %d: %w", op, err)
	}
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	return c.ws.Write(ctx, websocket.MessageText, text)
}

// A sendLimiter bounds how much is sent. Discord allows 120 messages in 60 s, of which some are
// reserved for heartbeats, and disconnects clients that send more.
type sendLimiter struct {
	sent [100]time.Time
	next int
}

// take returns how long to wait before a message may be sent at now, and reserves its place.
func (a *sendLimiter) take(now time.Time) time.Duration {
	at := now
	if free := a.sent[a.next].Add(time.Minute); free.After(now) {
		at = free
	}
	a.sent[a.next] = at
	a.next = (a.next + 1) % len(a.sent)
	return at.Sub(now)
}
