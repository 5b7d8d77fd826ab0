package discord

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot/internal/discord/voice"
)

var errUnbuilt = errors.New("not built yet")

// Config is what a session is made of.
type Config struct {
	Token   string // printed nowhere
	Intents discordgo.Intent

	// Base is where the REST interface is, such as https://discord.com/; a test has
	// its own. The gateway's address is asked there.
	Base string

	// Events takes each event of the main gateway, in order, as discordgo's structs:
	// *discordgo.MessageCreate and so on. It may take its time.
	Events func(event any)

	HTTP *http.Client
	Log  *slog.Logger

	// Within is how long opening may take. If 0, 20 s.
	Within time.Duration
}

// A Session is one bot. Its methods may be called from any goroutine.
type Session struct{ _ int }

// New returns a session that does nothing until it runs.
func New(cfg Config) *Session { return nil }

// Run opens the gateway and keeps it open until ctx ends, or until trying again is of
// no use, which is a [*Fault]. It resumes where that is allowed. It returns only
// after all its goroutines have.
func (s *Session) Run(ctx context.Context) error { return errUnbuilt }

// REST is discordgo's client of the REST interface, to be used as it is; nothing else
// of discordgo's session may be touched.
func (s *Session) REST() *discordgo.Session { return nil }

// Call joins a voice channel; the call runs until ctx ends. There is one a guild.
func (s *Session) Call(ctx context.Context, cfg voice.Config) error { return errUnbuilt }

// A Fault is what keeps a session from being open, and the cure for it.
type Fault struct {
	Code int // of the websocket or of HTTP
	What string
	Fix  string
}

func (f *Fault) Error() string { return f.What + "; " + f.Fix }

// Cure says what mends it.
func (f *Fault) Cure() string { return f.Fix }
