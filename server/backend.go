package server

import (
	"context"

	"earshot"
	"earshot/api"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/server/remote"
)

// A Backend is the daemon as the server's clients meet it: who they are, and the room they are in.
// Its methods may be called from many goroutines. The text of every error is shown to the client.
type Backend interface {
	remote.Backend // Join and Admit: for terminals, and for single messages

	// Identify returns the principal who claims c and whom the kernel knows by account. Without an
	// account, only the token of c proves who they are, and the principal has the account that
	// belongs to it. An error refuses everything; [participants.ErrToken] asks for a token.
	// Identify is called for each request, and again while a request that came in by a token lasts,
	// so that a revoked token is refused.
	Identify(ctx context.Context, account earshot.Handle, c Claim) (Principal, error)

	// Recheck reports why a principal who was let in may not stay, as far as that is known without
	// their token.
	Recheck(p Principal) error

	// Do carries out the body of an event. A message is kept, as by Admit, and Do returns the hints
	// about whom it does not reach; a command is carried out, and Do returns its answer. Both may
	// be empty. If another message has the ID, the error is [ErrTaken].
	Do(ctx context.Context, e earshot.Event) (answer string, err error)

	// State returns the state of the daemon, as a principal may know it.
	State(ctx context.Context, p Principal) (api.Status, error)

	// Live returns the current state of the room for a principal, without the time, and a channel
	// that is closed when it may have changed. Equal states give equal JSON, so that a new line
	// reveals nothing that the principal may not know.
	Live(ctx context.Context, p Principal) (now api.LiveView, changed <-chan struct{}, err error)

	// Context returns what is going on, as a principal may know it.
	Context(ctx context.Context, p Principal) ([]api.SceneEntry, error)

	// Look returns what a camera sees now; a camera that sees nothing at the moment is not an
	// error. The people who may be in the picture are told who asks.
	Look(ctx context.Context, by Principal, l api.LookRequest) (api.CameraView, error)

	// Hold treats what is said at the microphone as meant for an agent until release is called. It
	// may take seconds.
	Hold(ctx context.Context, by Principal) (release func(), err error)
}

// A Service is all that a server offers.
type Service interface {
	Backend
	Journal
	Admin
}

// A Journal holds the past events that everybody in an audience may see. Its methods may be called
// from many goroutines. Before is a sequence; 0 means the end.
type Journal interface {
	// Events returns up to limit events after a sequence, the oldest first.
	Events(ctx context.Context, a earshot.Audience, after int64, limit int) ([]earshot.Event, error)

	// Grown returns a channel that is closed when the journal grows.
	Grown() <-chan struct{}

	// Interim returns the words being said: events of the kind speech, one for each voice. Changed
	// is closed when they may have changed. It returns at once.
	Interim(a earshot.Audience) (words []earshot.Event, changed <-chan struct{})

	// Past returns the newest events before a sequence, in the order in which they happened: those
	// of some kinds, or all if kinds is empty.
	Past(ctx context.Context, a earshot.Audience, kinds []earshot.Kind, before int64, limit int) ([]earshot.Event, error)

	// Search returns the newest events before a sequence that match a query, the newest first; see
	// [search.Parse]. An invalid query is an error.
	Search(ctx context.Context, a earshot.Audience, query string, before int64, limit int) ([]earshot.Event, error)

	// Decisions returns the decisions before a sequence, in order: those of the agent with a name,
	// or all if the name is empty.
	Decisions(ctx context.Context, a earshot.Audience, agent string, before int64, limit int) ([]api.ExplainedDecision, error)

	// Name returns the name of a participant.
	Name(earshot.ParticipantID) string
}

// An Admin carries out the requests of a person who operates the daemon, or who wants their own
// data forgotten. Its methods may be called from many goroutines.
type Admin interface {
	// Agents returns the current agents, and the former ones too if all is set.
	Agents(ctx context.Context, all bool) ([]api.AgentInfo, error)

	// Order carries out an order about an agent, if the principal has the right, and returns the
	// agent. It takes effect at once.
	Order(ctx context.Context, by participants.Participant, o agents.Order) (api.AgentInfo, error)

	// Voices returns the known voices, without their voiceprints.
	Voices(ctx context.Context) ([]api.VoiceInfo, error)

	// Tell carries out a request about voices, if the principal has the right, and returns what
	// changed.
	Tell(ctx context.Context, by participants.Participant, r api.VoiceRequest) (api.VoiceChange, error)

	// Forget says what would be forgotten. If the request has the digest of what the principal was
	// shown, Forget forgets it, and returns when every trace that can be removed is gone. Its
	// result has no word of the content.
	Forget(ctx context.Context, by Principal, r api.EraseRequest) (api.ErasePreview, error)

	// Reload reads the configuration again, and returns what changed. An error lists everything
	// that is wrong with it; nothing has changed then.
	Reload(ctx context.Context) (api.ReloadResult, error)

	// Cluster returns how several daemons share the rooms.
	Cluster(ctx context.Context) (api.Cluster, error)

	// Drain says whether one of several daemons gives its rooms away, and returns how it is then.
	Drain(ctx context.Context, r api.DrainRequest) (api.Cluster, error)

	// Ready returns what keeps the daemon from its work, if anything, and what it still does
	// nevertheless.
	Ready(ctx context.Context) api.Readiness

	// Diagnose returns what a bug report needs, without anything that was said and without names.
	Diagnose(ctx context.Context, r api.DiagnosisRequest) (api.Diagnosis, error)
}
