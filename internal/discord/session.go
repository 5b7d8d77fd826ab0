package discord

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot/internal/discord/voice"
	"earshot/internal/field"
)

var errUnbuilt = errors.New("not built yet")

// Config is what a session is made of.
type Config struct {
	Token   field.Secret // of the bot, without the word "Bot"; printed nowhere
	Intents discordgo.Intent

	// Base is where the REST interface is; "" is https://discord.com/, a test has its
	// own. The gateway's address is asked there.
	Base string

	// Events takes each event of the main gateway, in order, as discordgo's structs:
	// *discordgo.MessageCreate and so on; those that have none, as *discordgo.Event;
	// and *Lost. It may take its time. It may be nil.
	Events func(event any)

	HTTP *http.Client // nil is http.DefaultClient
	Log  *slog.Logger // nil is none

	// Within is how long opening may take. If 0, 20 s.
	Within time.Duration
}

// A Lost stands where events were dropped because their receiver was slow.
type Lost struct {
	Messages int // what was said, and commands: REST still has them
	States   int // who is where, and what there is: it comes anew by itself
	Minor    int // presence and typing
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

// Call joins a voice channel and is in it until ctx ends, or until the call has come
// to an end otherwise, which is a [*voice.Ended]. Use is handed the call before it
// begins. The session fills in the line and who we are. There is one call a guild.
func (s *Session) Call(ctx context.Context, cfg voice.Config, use func(*voice.Call)) error {
	return errUnbuilt
}

// A Fault is what keeps a session from being open, and the cure for it.
type Fault struct {
	Code int // of the websocket or of HTTP
	What string
	Fix  string
}

func (f *Fault) Error() string { return f.What + "; " + f.Fix }

// Cure says what mends it.
func (f *Fault) Cure() string { return f.Fix }
