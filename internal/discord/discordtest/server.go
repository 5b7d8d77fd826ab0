package discordtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"earshot/internal/discord/davetest"
	"earshot/internal/discord/discordtest/wire"
)

// Config configures a server. The zero value is a healthy Discord.
type Config struct {
	Seed uint64 // of the generator that loses, pads, reorders and chooses

	Heartbeat      time.Duration // of the main gateway; 0 is 41.25 s
	VoiceHeartbeat time.Duration // of the voice gateway; 0 is 13.75 s
	Hold           time.Duration // how long a lost connection to a call can be resumed; 0 is 15 s

	// IdentifyEvery refuses an identify that comes sooner after the last one; Discord uses 5 s. If
	// 0, none is refused; the times are recorded in any case.
	IdentifyEvery time.Duration

	// Shards is how many shards a bot must have; 0 is 1. The guild, and all that happens here, belongs to the
	// last of them.
	Shards int

	// FirstSeq is the number before the first one of the voice gateway, so that a test sees it
	// wrap.
	FirstSeq uint16
}

// A Server is a Discord. Its methods may be called from any goroutine.
type Server struct {
	cfg  Config
	ca   *wire.Authority
	rest net.Listener
	http *http.Client

	ctx  context.Context // of all connections; ends with Close
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	dice    *mathrand.Rand
	ids     uint64 // of the last snowflake
	servers []*http.Server
	regions []*region

	guild    Guild
	channels []*Channel
	users    []*User
	accounts map[uint64]*account

	secrets []Secret

	messages     []Message
	interactions []*Interaction
	commands     map[uint64][]object // by guild; 0 is everywhere
	roles        []*Role
	limits       []time.Duration // the next requests are told to wait so long
	broken       int             // how many of the next requests are answered with 503
	lose         int             // the answers of how many of the next requests are lost
	requests     []string

	sessions []*gatewaySession
	calls    map[uint64]*call // by channel
	faults   faults
}

// New starts a server that is closed when the test ends.
func New(t testing.TB, cfg Config) *Server {
	t.Helper()
	s, err := Start(cfg, t.TempDir())
	if err != nil {
		t.Fatalf("starting a Discord: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a server, which must be closed. It stores a certificate in dir.
func Start(cfg Config, dir string) (*Server, error) {
	cfg.Heartbeat = cmp.Or(cfg.Heartbeat, 41250*time.Millisecond)
	cfg.VoiceHeartbeat = cmp.Or(cfg.VoiceHeartbeat, 13750*time.Millisecond)
	cfg.Shards = cmp.Or(cfg.Shards, 1)
	cfg.Hold = cmp.Or(cfg.Hold, 15*time.Second)
	ca, err := wire.NewAuthority(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, ca: ca,
		dice:     mathrand.New(mathrand.NewPCG(cfg.Seed, 1)),
		commands: make(map[uint64][]object),
		accounts: make(map[uint64]*account),
		calls:    make(map[uint64]*call),
		faults:   faults{Rules: davetest.Rules{Spoil: make(map[uint64]bool)}, modes: []string{ModeAES, ModeXChaCha20}},
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.http = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool}}}
	s.populate()
	if s.rest, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.serve(s.rest, s.routes())
	if _, err := s.addRegion(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// serve answers requests until the server is closed.
func (s *Server) serve(l net.Listener, h http.Handler) {
	srv := &http.Server{Handler: h, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	s.servers = append(s.servers, srv)
	s.wg.Go(func() { _ = srv.Serve(l) })
}

// Close ends all connections, and returns when nothing of the server is running.
func (s *Server) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.wg.Wait()
		return
	}
	s.closed = true
	for _, srv := range s.servers {
		_ = srv.Close()
	}
	for _, c := range s.calls {
		c.udp.Close()
	}
	for _, session := range s.sessions {
		session.end()
	}
	s.mu.Unlock()
	s.stop()
	s.http.CloseIdleConnections()
	s.wg.Wait()
}

// after calls f with the mutex held, unless the server is closed before.
func (s *Server) after(d time.Duration, f func()) {
	if s.closed {
		return
	}
	s.wg.Go(func() {
		select {
		case <-s.ctx.Done():
		case <-time.After(d):
			s.with(f)
		}
	})
}

// Base is the address of REST: http, with a slash at the end.
func (s *Server) Base() string { return "http://" + s.rest.Addr().String() + "/" }

// HTTP is a client that trusts the voice gateway's certificate.
func (s *Server) HTTP() *http.Client { return s.http }

// CAFile is a PEM file of the authority that signed it, for other processes.
func (s *Server) CAFile() string { return s.ca.File }

// snowflake makes a new number, which contains its time.
func (s *Server) snowflake() uint64 {
	s.ids = max(s.ids+1, snowflakeOf(time.Now()))
	return s.ids
}

// epoch is the first millisecond that the numbers count, since 1970.
const epoch = 1420070400000

func snowflakeOf(t time.Time) uint64 { return uint64(t.UnixMilli()-epoch) << 22 }

// made returns the time in a number.
func made(id uint64) time.Time { return time.UnixMilli(int64(id>>22) + epoch) }

// random makes a word that cannot be guessed.
func random() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
