// Package room runs one room: it takes events in, decides who gets the floor and who answers,
// writes the journal, and chooses where a reply goes. It always does so in this order.
//
//  1. [Room.Admit], on the goroutine of the sense, determines who the event is from, whom it
//     is for and who may see it (see package admission); then the gate and the floor judge it. So a cut never waits
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
// At most one turn is live, whichever agent has it. A message that arrives during a turn and may
// not cut it waits for each agent that it calls. Of several messages that wait for one agent, the
// most urgent is answered and the others become context. A private question is never context for
// what others asked: it waits separately, in at most [conversation.MaxCircles] conversations per
// agent; beyond that the one that has waited longest is given up. Questions of people precede those
// of agents. The conversation in which somebody has waited longest goes first, and within it the
// newest question to any agent, because the talk has moved on.
//
// Words to an agent that is using a tool or thinking are judged by what they mean for that work:
// they can stop the work, say how to continue, or ask for its progress, which disturbs nothing.
// Anything else is answered beside a thought, or after a tool, for which nobody waits longer than
// patience.
//
// What a camera notices is kept like what is said, and does not concern the floor; what it sees at
// the moment changes the scene at once. Together with what is heard and typed it yields an estimate
// of who is here, which gives nobody rights. Somebody who comes into view may be greeted: the main
// agent does so unasked, as it says its findings.
//
// While somebody holds the talk key, what a microphone hears is for the main agent, and a muted
// room is live; see package mode.
//
// A seat to which nothing happens for a while goes to sleep: its dialogue stays in the journal and
// is read again when there is something for it to answer.
//
// The queue for the journal is bounded by maxWaiting. When it is full, the author of a message
// waits, and for any other event Admit returns that the room is busy. Nothing that was admitted is
// dropped. Records that the room itself makes, such as how a turn ended, may be refused by the
// journal because the disk is full; they are written as soon as it accepts events again. They are
// bounded, and beyond that the oldest is dropped and reported; see [record.RetryQueue].
//
// An event that is sent twice is answered once if the second copy comes while the first is still
// remembered; see [admission.Queue]. Later it is still kept only once, but the decision about it
// is taken again. Faults of earshot itself are shown and logged but not journalled, except those of
// the model: the most common fault is that the journal accepts nothing. Somebody who comes or goes
// counts as here, or gone, before that is written. Of a message off the record only the ID is
// remembered, so that a terminal that sends it again after /resume does not put it on record.
//
// A finding is said in its own words, without asking a model again, so that exactly what was
// decided about is said. It counts as used when a reply says most of its words; being in the prompt
// proves nothing. A question to think about is confirmed some milliseconds before it is on disk,
// and thought about only afterwards; a kill in between loses it.
//
// Typing is known in two places: in the room, which knows when a line is abandoned, and on the
// floor, which holds the agents back. Whatever ends the one must end the other.
//
// The files follow an event. It comes in by ingress.go and people.go, is kept by journal.go, decided
// about in decide.go, waits in question.go and is answered in turn.go. What Run does without an event
// is in the table of deadlines.go; parts.go connects the components.
//
// The state of a component has a lock of its own, or belongs to Run. The room itself has one lock,
// that of live.go: it guards what other goroutines may know of what Run does. The order in which a
// goroutine takes locks is that of package lockorder, which checks it in all tests of make race: that
// of the mode, that of who is who, that of the arrivals, that of the mind, that of the live state, and
// last the lock of one component. No lock is held while a model, a disk or an outlet is waited for.
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
	"earshot/executive"
	"earshot/executive/activity"
	"earshot/executive/addressing"
	"earshot/executive/admission"
	"earshot/executive/chain"
	"earshot/executive/command"
	"earshot/executive/exchange"
	"earshot/executive/explain"
	"earshot/executive/hearing"
	"earshot/executive/memory"
	"earshot/executive/mode"
	"earshot/executive/notice"
	"earshot/executive/owner"
	"earshot/executive/perception"
	"earshot/executive/presence"
	"earshot/executive/question"
	"earshot/executive/record"
	"earshot/executive/remind"
	"earshot/executive/reply"
	"earshot/executive/scene"
	"earshot/executive/seat"
	"earshot/executive/sight"
	"earshot/executive/slash"
	"earshot/executive/thoughts"
	"earshot/executive/tool"
	"earshot/executive/unasked"
	"earshot/internal/mailbox"
	"earshot/interrupt"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

// drain is how long outlets may take after a cut to report where they stopped. A terminal answers
// within a millisecond, one over a socket within a few; one that takes half a second is lost.
const drain = 500 * time.Millisecond

// Errors of [Room.Admit].
var (
	ErrClosed = admission.ErrClosed
	ErrBusy   = admission.ErrBusy
	ErrTaken  = admission.ErrTaken
)

// Config is what a room is made of. Every field is required unless it says otherwise.
type Config struct {
	ID       earshot.RoomID
	Settings func() executive.Config // called for each event and turn
	People   *participants.Registry
	Journal  Journal
	Model    llm.Service // may be nil: then only reflexes answer

	// Voices distinguishes voices; see [hearing.Voices]. If nil, everything heard through one microphone is
	// from one unknown person.
	Voices hearing.Voices

	// Past is what the room continues from: the newest events of its journal that are public or
	// that any of its agents may see, oldest first. Visibility is checked on use. The dialogue of
	// the main agent is made from it.
	Past []earshot.Event

	// Lost, if it is set, says that another daemon had the room until a moment ago: the questions whose turns
	// began since then and have no end are answered again.
	Lost time.Time

	// Sealer makes receipts of what is heard, and reads those of whoever had the room; Owned is that of
	// [delivery.Set]. Both are nil where no other daemon can have the room.
	Sealer *record.Sealer
	Owned  func() bool

	// Agenda is the open reminders, however old they are. It may already contain those in Past.
	Agenda remind.Agenda

	// Agents returns the agents with a seat in the room, the main one first. It is called often and
	// concurrently, so it must return at once; see also [Room.Reseat]. If nil, only the agent in
	// Settings has a seat.
	Agents func() []agents.Record

	// Event returns an event of the room, and whether it exists, for events that revise or withdraw
	// it. It may wait for a disk. If nil, only events that the room remembers can be revised or
	// withdrawn.
	Event func(ctx context.Context, id earshot.EventID) (earshot.Event, bool, error)

	// Lasts says that what is written there stays readable for people who are absent, as in a chat
	// channel. They are reminded there even while absent.
	Lasts bool

	// Former returns the names of agents that have ended, so that somebody who calls one is told.
	// It returns at once. If nil, these names are unknown.
	Former func() []string

	// Recall returns the newest events of the room that an agent may see, oldest first, for a seat
	// that wakes: as many as make up its dialogue. It may wait for a disk. If nil, no seat sleeps.
	Recall func(ctx context.Context, agent earshot.ParticipantID) ([]earshot.Event, error)

	// Order carries out an order about agents, and returns the agent concerned; see
	// [agents.Directory.Execute]. It refuses people without the right. If nil, agents can only be
	// listed.
	Order func(ctx context.Context, by participants.Participant, o agents.Order) (agents.Record, error)

	// Scenery returns the newest events of the room from which the scene is made, oldest first, of
	// each kind as many as the scene holds. It may wait for a disk. If nil, the scene is never
	// compared with the journal.
	Scenery func(context.Context) ([]earshot.Event, error)

	// Corrected is called when somebody has corrected what a part of the program noticed, by an
	// edit that is on record. source is the source of that entry of the scene. It returns at once.
	// May be nil.
	Corrected func(source string, edit earshot.Event)

	// Erased receives the events that are erased because somebody has withdrawn one, with
	// everything derived from it. It may wait for a disk. May be nil.
	Erased func([]earshot.EventID)

	// Reader returns how a voice says the clauses of one speech: it adds the Spoken form and Marks
	// to each. If nil, a voice says them as they are written, or as it likes.
	Reader func() func(earshot.Clause) earshot.Clause

	// Enters says why somebody may not be in the room; nil if they may. If the field is nil,
	// everybody may.
	Enters func(participants.Participant) error

	// Recipients returns the agents at an address, to which somebody may post a message in the room. It
	// may wait for a disk. If nil, no agent has an address.
	Recipients func(ctx context.Context, by participants.Participant, address string) ([]agents.Record, error)

	// Reach shows an event of the room, a call or a handover, to somebody for whom the agents work
	// and who is absent. It returns at once. If the field is nil, they find it in the history.
	Reach func(earshot.ParticipantID, earshot.Event)

	// Decided reads the decisions made here, as far as everybody in an audience may know them. If
	// nil, decisions cannot be explained.
	Decided func(earshot.Audience) explain.Journal

	// Tools are the tools of agents besides those that the room itself provides. Spawner makes
	// agents for a task; if nil, nobody can delegate.
	Tools   tool.Table
	Spawner exchange.Spawner

	// Cameras are those that agents here can look through. If nil, there are none.
	Cameras sight.Cameras

	// Commands are the commands of the program here besides those that exist everywhere.
	Commands command.Table

	// Works names what the program has, such as "console". May be nil.
	Works func() []string

	// Parts returns the parts of the program, with their health, for a [api.Snapshot]. It is called
	// often and concurrently, so it must return at once. May be nil.
	Parts func() []api.Part

	// Memory is what the agents remember of what left their dialogue. May be nil.
	Memory *memory.Index

	// Dropped is called when something was given up because a queue was full: "unsaved", records
	// of the room itself, "questions", or "findings". It returns at once. May be nil.
	Dropped func(queue string, n int)

	// Took receives the latency of a turn, when it has ended. It returns at once. May be nil.
	Took func(api.Latency)

	Now   func() time.Time
	NewID func() earshot.EventID
	Log   *slog.Logger
}

// A Room is one room. Use [New].
type Room struct {
	cfg   Config
	owner *owner.Loop // Run

	// What comes in, and what it means.
	floor    *interrupt.Floor
	mode     *mode.Control
	resolver admission.Resolver
	entries  admission.Queue // the way into the journal
	speech   *admission.SpeechHandler
	activity activity.Tracker
	arrivals presence.Arrivals
	slash    *slash.Commands

	// What goes on.
	scene     *scene.Scene
	perceiver perception.Perceiver // of the scene; belongs to Run
	presence  *presence.Estimator
	viewer    *sight.Viewer

	// What is said.
	live        liveState
	seats       []*seat.Seat // the main one first; changed only by Run, with the lock of live
	mind        *thoughts.Thinker
	exchange    exchange.Tracker
	preparation *reply.Preparation[admission.Input]
	followed    atomic.Pointer[time.Time] // when "follow me" ends: until then a reply goes where anybody is heard; nil if nobody said it
	notices     notice.Board
	changes     mailbox.Notifier // of what a snapshot shows

	// The fields below belong to Run.
	set        executive.Config // the settings, as they were when Run was last woken
	unasked    *unasked.Tracker // what the main agent may say by itself; its Reminders are for everybody
	pending    question.Queue
	reply      reply.Builder
	held       tool.PendingCalls // calls that wait for somebody to confirm them
	records    journalState
	chain      *chain.Chain
	unanswered unanswered // the questions that were unanswered when the program began
	lost       record.LostTurns
}

// New returns a room that continues from its past. It does nothing until it runs.
func New(cfg Config) *Room {
	set := cfg.Settings()
	style, _ := interrupt.ParseStyle(set.MultiParty.TurnTakingProtocol)
	r := &Room{
		cfg:   cfg,
		set:   set,
		floor: &interrupt.Floor{Style: style},
		scene: &scene.Scene{Name: cfg.People.Name},
		live:  liveState{results: make(chan turnResult, 1)},
		owner: owner.New(ErrClosed),
	}
	r.notices.Room, r.notices.People, r.notices.Event, r.notices.Changed, r.notices.Recheck = cfg.ID, cfg.People, r.event, r.changes.Notify, r.owner.Wake
	r.notices.Now, r.notices.Log, r.notices.Outlets.Owned = cfg.Now, cfg.Log, cfg.Owned
	r.resolver.Addressing = &addressing.Resolver{Room: cfg.ID, People: cfg.People, Agents: r.agents, Seats: cfg.Agents != nil, Former: cfg.Former, Orders: cfg.Order != nil, Enters: cfg.Enters, Recipients: cfg.Recipients}
	r.preparation = reply.NewPreparation[admission.Input](cfg.Model)
	r.scene.Moved = r.changes.Notify
	r.mode = r.newMode()
	r.entries = admission.Queue{Limit: maxWaiting, Mode: r.mode.Current, Wake: r.owner.Wake, Shut: r.owner.Closed(), Lookup: cfg.Event}
	r.speech = r.newSpeech()
	r.perceiver = r.newPerceiver()
	r.exchange.Askers.People, r.exchange.People = cfg.People, cfg.People
	r.arrivals.Room, r.arrivals.People, r.arrivals.Now = cfg.ID, cfg.People, cfg.Now
	r.viewer = &sight.Viewer{Cameras: cfg.Cameras, Now: cfg.Now, Log: cfg.Log, Done: r.owner.Wake}
	r.presence = presence.NewEstimator(cfg.People)
	r.unasked = r.newUnasked()
	r.mind = r.newMind()
	r.slash = r.newCommands()
	r.reply = r.newReply()
	r.chain = r.newChain()
	r.resolver = admission.Resolver{
		Room: cfg.ID, People: cfg.People, Addressing: r.resolver.Addressing, Listener: r.speech.Listener, Mode: r.mode, Mind: r.mind,
		Waits: &r.exchange.Waits, Queue: &r.entries, Agents: r.agents, Turn: r.live.question, Now: cfg.Now, NewID: cfg.NewID, Log: cfg.Log,
	}
	r.syncSeats()
	r.restorePast()
	r.cfg.Past, r.cfg.Agenda = nil, remind.Agenda{} // they are not needed again
	return r
}

// Run runs the room. It returns when ctx has ended, the live turn has ended and is recorded, and no
// goroutine of the room is left.
func (r *Room) Run(ctx context.Context) error {
	var turns, thinking sync.WaitGroup
	defer r.preparation.Close()
	defer r.viewer.Wait()
	defer turns.Wait()
	r.perceiver.Mend(ctx)
	r.askUnanswered(ctx)
	r.mind.Update()
	thinking.Go(func() { r.mind.Run(ctx) })
	clock := alarmClock{Timer: time.NewTimer(0)}
	defer clock.Stop()
	for {
		clock.set(r)
		select {
		case <-ctx.Done():
			r.close(ctx, &thinking)
			return nil
		case <-r.owner.Woken():
			r.readSettings()
			r.take(ctx)
			r.prepare(ctx)
			r.speech.ShowListening(ctx, r.mayShowListening, &turns)
		case <-clock.C:
			r.readSettings()
			clock.ring(ctx, r)
		case do := <-r.owner.Calls():
			r.readSettings()
			do(ctx)
		case end := <-r.live.results:
			r.readSettings()
			r.take(ctx) // first what was done in the turn
			r.conclude(ctx, end)
		}
		r.next(ctx, &turns)
		r.mind.Update()
		r.settleMessages()
		r.changes.Notify()
	}
}

// mayShowListening reports whether an agent may show by sounds that it listens: not if somebody wants
// it to be quiet.
func (r *Room) mayShowListening() bool {
	return !r.live.silent() && !r.live.busy() && r.mode.Current().Answers() && len(r.pending) == 0
}

// readSettings reads the settings for what Run does next: one event, or one turn, sees one
// configuration.
func (r *Room) readSettings() { r.set = r.cfg.Settings() }

// Leave says that the program is about to end: whatever is being said is cut, and no turn begins
// any more. Senses and outlets that end before the room then find nothing for which they could be
// blamed.
func (r *Room) Leave() {
	r.live.mu.Lock()
	r.live.leaving = true
	r.live.mu.Unlock()
	r.mind.Disable()
	r.floor.Signal(&interrupt.Signal{
		Kind: interrupt.Shutdown, From: earshot.Handle{Provider: "earshot", ID: "shutdown"}, Confidence: 1, At: r.cfg.Now(),
	})
}

// close ends the room. It waits for the live turn, and for the mind to record what it was thinking;
// entries that have not been kept are refused.
func (r *Room) close(ctx context.Context, thinking *sync.WaitGroup) {
	left := r.entries.Close()
	r.live.mu.Lock()
	r.owner.Close()
	live := r.live.turn
	r.live.mu.Unlock()
	for _, e := range left {
		r.entries.Finish(e, ErrClosed)
	}
	thinking.Wait()
	if live != nil {
		r.conclude(ctx, <-r.live.results)
	}
	for _, q := range r.pending { // they are taken up when the program runs again
		r.records.unsaved.Add(r.end(q, earshot.Reply{
			Outcome: earshot.Interrupted, Cut: &earshot.Interruption{Signal: interrupt.Shutdown.String(), At: r.cfg.Now()},
		}))
	}
	r.records.unsaved.Add(r.speech.TakeCuts()...)
	r.keep(ctx)
	r.settleMessages()
}

// Ping returns nil as soon as the owner of the room has gone round its loop since the call: whoever
// waits for the room to do something does not wait in vain. If the owner waits for a disk, Ping
// does not return until ctx ends, and then returns its cause. A room that has closed has nothing
// left to do, and is not stuck.
//
// It is safe for concurrent use, but the owner must not call it.
func (r *Room) Ping(ctx context.Context) error { return r.owner.Ping(ctx) }

// Keep puts an event on record that a part of the program has made for this room, such as what an
// agent found out beside the conversation, and returns when it is on disk. The room takes it in like
// its own events. It is safe for concurrent use.
func (r *Room) Keep(ctx context.Context, e earshot.Event) error { return r.entries.Keep(ctx, e) }

// CheckReminder says why a reminder cannot be set. It is safe for concurrent use.
func (r *Room) CheckReminder(who earshot.ParticipantID, due time.Time, text earshot.Text) error {
	return r.unasked.Reminders.Check(r.cfg.Now(), who, due, text)
}

// Record is Keep for several events that make returns, of which all are put on record or none. It
// calls make while nothing else changes in the room.
func (r *Room) Record(ctx context.Context, make func(context.Context) ([]earshot.Event, error)) (err error) {
	closed := r.owner.Do(ctx, func(ctx context.Context) {
		var events []earshot.Event
		if events, err = make(ctx); err == nil {
			_, err = r.append(ctx, events...)
		}
	})
	return errors.Join(closed, err)
}

// event returns an event by the room itself. The caller sets the author if an agent does it.
func (r *Room) event(v earshot.Visibility, body earshot.Body) earshot.Event {
	return earshot.Event{
		ID: r.cfg.NewID(), At: r.cfg.Now(), Room: r.cfg.ID,
		From: earshot.Handle{Provider: "earshot", ID: string(body.Kind())}, Author: participants.Agent,
		Visibility: v, Body: body,
	}
}
