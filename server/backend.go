package server

import (
	"context"

	"earshot"
	"earshot/api"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/server/remote"
)

// A Backend is the daemon as whoever comes in meets it: who they are, and the room that they
// are in. Its methods may be called from many goroutines. The text of every error is shown to
// whoever asked.
type Backend interface {
	remote.Backend // Join and Admit: of terminals, and of whoever says one thing

	// Identify returns who somebody is who claims c, whom the kernel knows by account. Without
	// an account only the token of c says who they are, and the principal has the account that
	// they have by it. An error refuses them everything; [participants.ErrToken] asks for a
	// token. It is asked for each request, and while one that came in by a token lasts, so
	// that a token that was revoked holds no more.
	Identify(ctx context.Context, account earshot.Handle, c Claim) (Principal, error)

	// Recheck reports why somebody who was let in may not stay, where that is known without
	// looking at their token.
	Recheck(p Principal) error

	// Do carries out what an event says: it keeps a message, as Admit does, and returns whom
	// the message does not reach; it carries out a command, and returns its answer. Both may
	// be empty. Of a message whose ID another has the error is [ErrTaken].
	Do(ctx context.Context, e earshot.Event) (answer string, err error)

	// State returns how everything is for somebody.
	State(ctx context.Context, p Principal) (api.Status, error)

	// Live returns how everything is now for somebody, without the time; and a channel that
	// is closed when it may be something else. What is the same for them is the same JSON,
	// so that nobody can tell by a new one that something happened which they may not know of.
	Live(ctx context.Context, p Principal) (now api.LiveView, changed <-chan struct{}, err error)

	// Context returns what is going on, as somebody may know it.
	Context(ctx context.Context, p Principal) ([]api.SceneEntry, error)

	// Look returns what a camera sees now; that it does not see at the moment is no error.
	// Who asks is told to those who may be in the picture.
	Look(ctx context.Context, by Principal, l api.LookRequest) (api.CameraView, error)

	// Hold takes what is said at the microphone for an agent's until release is called, which
	// may take seconds.
	Hold(ctx context.Context, by Principal) (release func(), err error)
}

// A Journal is what has happened, as everybody in an audience may see it. Its methods may be
// called from many goroutines. Before is a sequence, and 0 is the end.
type Journal interface {
	// Events returns up to limit events after a sequence, the oldest first.
	Events(ctx context.Context, a earshot.Audience, after int64, limit int) ([]earshot.Event, error)

	// Grown returns a channel that is closed when there is more than now.
	Grown() <-chan struct{}

	// Interim returns the words that are being said: events of the kind speech, one of each
	// voice. Changed is closed when there may be others. It returns at once.
	Interim(a earshot.Audience) (words []earshot.Event, changed <-chan struct{})

	// Past returns the newest events before a sequence, of some kinds or of all if there
	// is none, in the order in which they happened.
	Past(ctx context.Context, a earshot.Audience, kinds []earshot.Kind, before int64, limit int) ([]earshot.Event, error)

	// Search returns the newest events before a sequence that a query looks for, the newest
	// first; see [search.Parse]. A query that cannot be looked for is an error.
	Search(ctx context.Context, a earshot.Audience, query string, before int64, limit int) ([]earshot.Event, error)

	// Decisions returns what was decided before a sequence, by the agent who is called so
	// or by all if that is empty, in the order in which it was.
	Decisions(ctx context.Context, a earshot.Audience, agent string, before int64, limit int) ([]api.ExplainedDecision, error)

	// Name returns what somebody is called.
	Name(earshot.ParticipantID) string
}

// An Admin is what somebody does who operates the daemon, or has forgotten what is theirs. Its
// methods may be called from many goroutines.
type Admin interface {
	// Agents returns the agents that there are, and if all is set those that were.
	Agents(ctx context.Context, all bool) ([]api.AgentInfo, error)

	// Order carries out what somebody orders who may, and returns the agent that it is about.
	// It takes effect at once.
	Order(ctx context.Context, by participants.Participant, o agents.Order) (api.AgentInfo, error)

	// Voices returns the voices that are known, without what they sound like.
	Voices(ctx context.Context) ([]api.VoiceInfo, error)

	// Tell carries out what somebody says about voices who may, and returns what changed.
	Tell(ctx context.Context, by participants.Participant, r api.VoiceRequest) (api.VoiceChange, error)

	// Forget says what would be forgotten or, if what is asked for has the digest of what
	// somebody was shown, forgets it, and returns when no trace of it is left that can be
	// removed. What it returns has no word of what it is about.
	Forget(ctx context.Context, by Principal, r api.EraseRequest) (api.ErasePreview, error)

	// Reload reads the configuration again, and returns what has changed. An error says all
	// that is wrong with it; nothing has changed then.
	Reload(ctx context.Context) (api.ReloadResult, error)

	// Ready returns what keeps the daemon from its work, if anything does, and what it still
	// does beside that.
	Ready(ctx context.Context) api.Readiness

	// Diagnose returns what a report of a fault needs, without a word that anybody said
	// and without anybody's name.
	Diagnose(ctx context.Context, r api.DiagnosisRequest) (api.Diagnosis, error)
}
