// Package room runs one room: it takes events in, decides who gets the floor and who answers,
// writes the journal, and says where a reply comes out, always in the same order.
//
//  1. [Room.Admit], on the goroutine of the sense, determines who the event is from, whom it
//     is for and who may see it; then the gate and the floor judge it. So a cut never waits
//     for a disk, nor for anything that came before it. The agent's own voice, picked up by a
//     microphone, goes no further.
//  2. [Room.Run], the owner, appends everything that waits to the journal in one commit,
//     updates the scene, decides "shall I speak?", and starts a turn.
//  3. When the turn has ended, the journal gets the truth about it.
//
// Several agents can sit in a room. Each has a seat: a dialogue of its own. A message that
// calls some agents is theirs to answer and hidden from the others; one that calls nobody in
// particular is for the main agent.
//
// At most one turn is live, of whichever agent. A message that arrives during a turn and may
// not cut it waits for each agent that it calls. Of several that wait for one agent, the most
// urgent is answered and the others become context. A private question is never context of
// what others asked: it waits beside it, in at most maxCircles conversations per agent, beyond
// which the one that has waited longest is given up. Questions of people go before those of
// agents, the conversation in which somebody has waited longest goes first, and within it the
// newest question to any agent, because the talk has moved on.
//
// What is said to an agent that is using a tool or thinking is judged by what it means for that
// work: it can stop the work, say how to go on, or ask how far it is, which disturbs nothing.
// Anything else is answered beside a thought, or after a tool, for which nobody waits longer
// than patience. See steer.go.
//
// What a camera notices is kept like what is said, and does not concern the floor; what it sees
// at the moment changes the scene at once. Together with what is heard and typed it yields an
// estimate of who is here, which gives nobody rights. Somebody who comes into view may be
// greeted: the main agent says so unasked, as it says its findings.
//
// While somebody holds the talk key, what a microphone hears is for the main agent, and a muted
// room is live; see hold.go.
//
// A seat to which nothing happens for a while goes to sleep: its dialogue stays in the journal
// and is read again when there is something for it to answer.
//
// The queue for the journal is bounded by maxWaiting: when it is full, the author of a message
// waits, and for any other event Admit returns that the room is busy. Nothing that was admitted
// is dropped. Records that the room itself makes, such as how a turn ended, and that the journal
// refuses because the disk is full, are written as soon as it accepts events again; they are
// bounded by maxUnsaved, beyond which the oldest is dropped and reported.
//
// An event that is sent twice is answered once if the second copy comes while the first is among
// the last keepRecent. After that it is still kept once, but the decision about it is taken
// again. Faults of earshot itself are shown and logged but not journalled, except those of the
// model: the most common fault is that the journal accepts nothing. Somebody who comes or goes
// counts as here, or gone, before that is written. Of a message off the record only the ID is
// remembered, so that a terminal that sends it again after /resume does not put it on record.
//
// A finding is said in its own words, without asking a model again: what is said is what was
// decided about. It counts as used when a reply says most of its words; being in the prompt
// proves nothing. A question to think about is confirmed some milliseconds before it is on disk,
// and thought about only afterwards; a kill in between loses it.
//
// Typing is known in two places: in the room, which knows when a line is abandoned, and on the
// floor, which holds the agents back. Whatever ends the one must end the other.
package room

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/api"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/executive/explain"
	"earshot/executive/remind"
	"earshot/executive/scene"
	"earshot/executive/think"
	"earshot/executive/tool"
	"earshot/internal/supervise"
	"earshot/interrupt"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

const (
	// drain is how long outlets may take after a cut to say where they
	// stopped. A terminal answers within a millisecond, one over a socket
	// within a few; half a second is lost.
	drain = 500 * time.Millisecond

	// stall is how long an outlet may stand still with words to say. A terminal
	// that somebody has stopped for longer has been forgotten.
	stall = 30 * time.Second
)

// Errors of [Room.Admit].
var (
	ErrClosed = errors.New("the room is closed: earshot is stopping")
	ErrBusy   = errors.New("the room is busy: too much arrived at once; try again in a moment")
)

// Config is what a room is made of. Every field is required unless it says
// otherwise.
type Config struct {
	ID       earshot.RoomID
	Settings func() executive.Config // asked for each event and turn
	People   *participants.Registry
	Journal  Journal
	Model    llm.Service // may be nil: then only reflexes answer

	// Voices tells voices apart; see [Voices]. If nil, whoever is heard through one
	// microphone is one person, whom nobody knows.
	Voices Voices

	// Past is what the room goes on from: the newest events of its journal that are
	// public or that any of its agents may see, the oldest first. Who may see each is looked at
	// when it is used. The dialogue of the main agent is made of it.
	Past []earshot.Event

	// Agenda is what is still to be said to people, however old it is. What Past
	// tells of that may be part of it already.
	Agenda remind.Agenda

	// Agents returns those who have a seat in the room, the main one first. It is
	// asked often and from many goroutines, so it answers at once; see also
	// [Room.Reseat]. If nil, the agent that Settings names sits there alone.
	Agents func() []agents.Record

	// Event returns an event of the room, and whether it is there, for what changes one
	// or takes it back. It may wait for a disk. If nil, that can be done to those alone
	// that the room remembers.
	Event func(ctx context.Context, id earshot.EventID) (earshot.Event, bool, error)

	// Lasts says that what is written there stays to be read by those who are not there,
	// as in a channel of a chat. They are reminded there all the same.
	Lasts bool

	// Former returns what agents were called that have ended, so that who calls one is
	// told. It answers at once. If nil, their names are nobody's.
	Former func() []string

	// Recall returns the newest events of the room that an agent may see, the
	// oldest first, for a seat that wakes: as many as its dialogue is made of. It
	// may wait for a disk. If nil, no seat sleeps.
	Recall func(ctx context.Context, agent earshot.ParticipantID) ([]earshot.Event, error)

	// Order carries out what somebody orders of agents, and returns the one that it
	// is about; see [agents.Directory.Execute]. Who may not is refused. If nil, they can
	// only be listed.
	Order func(ctx context.Context, by participants.Participant, o agents.Order) (agents.Record, error)

	// Scenery returns the newest events of the room that the scene is made of, the
	// oldest first, of each kind as many as it holds. It may wait for a disk. If
	// nil, the scene is never compared with the journal.
	Scenery func(context.Context) ([]earshot.Event, error)

	// Corrected is told that somebody has corrected what a part of the house
	// noticed, which is named as the source of an entry of the scene, by an edit
	// that is on record. It returns at once. May be nil.
	Corrected func(source string, edit earshot.Event)

	// Erased is told which events are erased that somebody has taken back, with what was
	// derived from them. It may wait for a disk. May be nil.
	Erased func([]earshot.EventID)

	// Reader returns how a voice says the clauses of one speech, each with its
	// Spoken form and Marks. If nil, a voice says them as they are written, or
	// as it likes.
	Reader func() func(earshot.Clause) earshot.Clause

	// Enters says why somebody may not be in the room, or nothing. If nil,
	// everybody may.
	Enters func(participants.Participant) error

	// Reach shows an event of the room to somebody for whom the agents work and
	// who is not there: a call, or that they hand over. It returns at once. If
	// nil, they find it in the history.
	Reach func(earshot.ParticipantID, earshot.Event)

	// Decided reads what was decided here, as far as everybody in an audience may
	// know it. If nil, nothing is told of it.
	Decided func(earshot.Audience) explain.Journal

	// Tools are what agents may have done besides what the room itself does for
	// them. Spawner makes agents for a task; if nil, nobody can delegate.
	Tools   tool.Table
	Spawner Spawner

	// Cameras are those that agents here can look through. If nil, there are none.
	Cameras Cameras

	// Commands are what can be asked of the program here beside what can be everywhere.
	Commands command.Table

	// Works says what the house has, such as "console". May be nil.
	Works func() []string

	// Parts says what the house is made of, with its health, for a [api.Snapshot]. It is
	// asked often and from many goroutines, so it answers at once. May be nil.
	Parts func() []api.Part

	// Dropped is told that something was given up since a queue was full: "unsaved", which
	// is what the house had to write down, or "questions". It returns at once. May be nil.
	Dropped func(queue string, n int)

	// Took is told how long a turn took, when it has ended. It returns at once. May be nil.
	Took func(api.Latency)

	Now   func() time.Time
	NewID func() earshot.EventID
	Log   *slog.Logger
}

// A Room is one room. Use [New].
type Room struct {
	cfg            Config
	floor          *interrupt.Floor
	scene          *scene.Scene
	commands       command.Table
	mind           *think.Mind
	thinkHost      *thinkHost
	echoReference  echoReference
	turnControl    conversation.TurnControl
	directoryCache atomic.Pointer[directoryCache]
	seatRoster     atomic.Pointer[seatRoster]

	modeMu     sync.Mutex // held by who changes the mode
	wished     earshot.Mode
	wishes     int
	pushToTalk pushToTalk

	identityMu sync.Mutex // held by who becomes somebody else
	presenceMu sync.Mutex // held by who comes or goes, until it is queued
	parkMu     sync.Mutex // held by who parks the mind, or looks whether it may go on
	admissions admissions
	comings    participants.Announcer

	wake        chan struct{}   // something waits
	turnResults chan turnResult // the live turn is over
	ownerCalls  chan ownerCall  // what the owner does for the live turn
	shut        chan struct{}   // closed when the room is

	head         *llm.HeadStart     // before the model; nil if there is none
	prepareQueue chan resolvedEvent // of capacity 1: words to which an answer may be prepared
	pauses       chan resolvedEvent // of capacity 1: words behind which somebody pauses

	snapshotsRunning sync.WaitGroup // looks that are being taken

	preparations atomic.Int64 // how often it was said anew what is foreseen

	mu               sync.Mutex
	closed           bool
	coming           int // entries that will wait in a moment; they count already
	waiting          []*entry
	vacant           chan struct{} // closed when there is room for more; nil if nobody waits for that
	known            recentEntries // by ID, so that one sent twice is one
	places           []*roomOutlet
	turnOutlets      []*turnOutlet // of the live turn, or the last one
	quiet            bool
	activeTurn       *activeTurn               // the turn that is, or nil
	asked            int                       // questions that wait for a turn
	awaitedSeats     []*awaitedSeat            // seats that other agents wait for
	seats            []*seat                   // of those who have one, the main one first; changed by Run alone
	faults           map[string]earshot.Notice // by key, until they are over
	outages          supervise.Outages         // what is told of them
	leaving          bool                      // the program ends: no turn begins
	lastSpokenReply  lastSpokenReply
	sentences        map[earshot.Handle]sentence  // what a voice has said to agents of late
	answered         map[counterpart]lastExchange // when somebody was last answered aloud
	aside            remark                       // what was said to somebody else, last
	listings         []listing                    // what was shown of what is going on, the newest last
	hinted           map[string]bool              // sessions that have been told what is said once
	mode             earshot.Mode
	moded            chan struct{}   // closed, and made new, when mode changes
	dropped          int             // sounds that came although the room does not listen
	rejectedEvents   []earshot.Event // of the house, which were not taken; Run keeps them
	agenda           remind.Agenda
	tried            map[earshot.EventID]time.Time // reminders that nobody heard, and until when each waits
	activity         activity
	interims         interims
	pendingCuts      pendingCuts
	voicePresence    voicePresence
	cameraStatuses   cameraStatuses
	presence         presenceState
	utteranceRecords []utteranceRecord // what was said aloud, the newest last

	latencies latencies // how long the last turns took

	captioning bool // a model describes a picture

	pulse pulse // of what a snapshot shows

	// What follows belongs to Run.
	captions         captions
	backchannelState backchannelState
	preparedReply    preparedReply
	attentionState   attentionState
	consent          consent
	pending          []question
	strangers        []earshot.Event // in which voices were heard for the first time, of which nobody has been told
	noticed          tokenBucket     // of notices
	sponsors         sponsors
	held             tool.PendingCalls          // calls that wait for somebody to confirm them
	awaited          map[earshot.EventID]string // messages to which something may come, with the outlet beside where they were written
	unsaved          []earshot.Event
	unreturned       []lastWord // after which agents may have to hand over still; see [Room.handOverOverdue]
	unanswered       unanswered // when the program began
	stuck            bool       // the journal takes nothing
	newest           int64      // sequence
	began            int64      // that of the past

	perceived int64 // events that the scene was given
}

// New returns a room that goes on from its past. It does nothing until it runs.
func New(cfg Config) *Room {
	style, _ := interrupt.ParseStyle(cfg.Settings().MultiParty.TurnTakingProtocol)
	r := &Room{
		cfg:          cfg,
		floor:        &interrupt.Floor{Style: style},
		faults:       make(map[string]earshot.Notice),
		scene:        &scene.Scene{Name: cfg.People.Name},
		mode:         earshot.Live,
		wished:       earshot.Live,
		moded:        make(chan struct{}),
		answered:     make(map[counterpart]lastExchange),
		sentences:    make(map[earshot.Handle]sentence),
		hinted:       make(map[string]bool),
		wake:         make(chan struct{}, 1),
		turnResults:  make(chan turnResult, 1),
		ownerCalls:   make(chan ownerCall),
		shut:         make(chan struct{}),
		prepareQueue: make(chan resolvedEvent, 1),
		pauses:       make(chan resolvedEvent, 1),
		agenda:       cfg.Agenda,
	}
	if cfg.Model != nil {
		r.head = &llm.HeadStart{Service: cfg.Model}
	}
	r.scene.Moved = r.pulse.beat
	r.commands = r.table()
	r.mind = r.newMind()
	r.syncSeats()
	r.restorePast()
	r.cfg.Past, r.cfg.Agenda = nil, remind.Agenda{} // which are not needed again
	return r
}

// Run runs the room. It returns when ctx has ended, the live turn is over and recorded, and
// no goroutine of the room is left.
func (r *Room) Run(ctx context.Context) error {
	var turns, thinking sync.WaitGroup
	defer r.dropPreparedReply()
	defer r.snapshotsRunning.Wait()
	defer turns.Wait()
	r.mend(ctx)
	r.resumes(ctx)
	r.updateMind()
	thinking.Go(func() { r.mind.Run(ctx) })
	for {
		var again <-chan time.Time
		if len(r.unsaved) > 0 {
			again = time.After(retry)
		}
		select {
		case <-ctx.Done():
			r.close(ctx, &thinking)
			return nil
		case <-r.wake:
			r.take(ctx)
		case in := <-r.prepareQueue:
			r.prepare(ctx, in)
		case in := <-r.pauses:
			r.showListening(ctx, in, &turns)
		case <-r.settled():
			r.announce()
		case <-r.recovering():
			r.recovers(ctx)
		case <-r.voicePresenceTimer():
			r.expireVoicePresence()
		case <-r.nextSleep():
			r.sleepIdle()
		case <-r.patienceTimer():
			r.grantWaiting()
		case <-r.tiring():
			r.floor.ExpireVoices(r.cfg.Now())
		case <-r.reminding():
		case <-r.unansweredTimer():
		case <-r.attentionTimer():
			r.attentionState.again = time.Time{}
		case <-r.noveltyTimer():
			r.weighNovelty()
		case <-r.quietTimer():
		case <-r.abandonTimer():
			r.abandonStaleLines()
		case <-r.fadingInterims():
			r.showInterims(r.interims.fade(r.cfg.Now()))
			r.keepsCuts()
		case do := <-r.ownerCalls:
			do(ctx)
		case end := <-r.turnResults:
			r.take(ctx) // first what was done in it
			r.conclude(ctx, end)
		case <-again:
			r.keep(ctx)
		}
		r.next(ctx, &turns)
		r.updateMind()
		r.release()
		r.pulse.beat()
	}
}

// Leave says that the program is about to end: whatever is being said is cut,
// and no turn begins any more. Senses and outlets that end before the room does
// then find nothing that they could be blamed for.
func (r *Room) Leave() {
	r.mu.Lock()
	r.leaving = true
	r.mu.Unlock()
	r.parkMu.Lock()
	r.mind.SetEnabled(false)
	r.parkMu.Unlock()
	r.floor.Signal(&interrupt.Signal{
		Kind: interrupt.Shutdown, From: earshot.Handle{Provider: "earshot", ID: "shutdown"}, Confidence: 1, At: r.cfg.Now(),
	})
}

// close ends the room: the live turn is awaited, and the mind, which writes down
// what it was thinking; what has not been kept is refused.
func (r *Room) close(ctx context.Context, thinking *sync.WaitGroup) {
	r.mu.Lock()
	r.closed = true
	close(r.shut)
	left, live := r.waiting, r.activeTurn
	r.waiting = nil
	r.mu.Unlock()
	for _, e := range left {
		r.finish(e, ErrClosed)
	}
	thinking.Wait()
	if live != nil {
		r.conclude(ctx, <-r.turnResults)
	}
	for _, q := range r.pending {
		r.putOff(q)
	}
	r.leavesCuts()
	r.keep(ctx)
	r.release()
}

// event returns an event of the house's own. What an agent does has its ID as
// the author instead.
func (r *Room) event(v earshot.Visibility, body earshot.Body) earshot.Event {
	return earshot.Event{
		ID: r.cfg.NewID(), At: r.cfg.Now(), Room: r.cfg.ID,
		From: earshot.Handle{Provider: "earshot", ID: string(body.Kind())}, Author: participants.Agent,
		Visibility: v, Body: body,
	}
}
