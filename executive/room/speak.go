package room

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/executive/turn"
	"earshot/interrupt"
	"earshot/llm"
	"earshot/participants"
)

// errMute is a model that has nothing to say twice.
var errMute = errors.New("the model said nothing, twice")

// ErrNoModel is a room without a model, asked what takes one.
var ErrNoModel = errors.New("no language model is set up")

// question is a message that will be answered.
type question struct {
	message earshot.Event
	rank    int              // how urgent it is
	ticket  interrupt.Ticket // a cut after it cuts its turn
	turn    earshot.TurnID
	want    reflex.Kind

	// What the answer is made of: who may see all of it, and the messages,
	// which it is erased with.
	visibility earshot.Visibility
	sources    []earshot.EventID
}

// madeOf notes that the answer rests on lines of the dialogue: only who may see
// all of them may see it, and it is erased with what people wrote of them.
func (q *question) madeOf(lines []line) {
	for _, l := range lines {
		q.visibility = q.visibility.And(l.visibility)
		if l.author != participants.Agent && !l.announces && !slices.Contains(q.sources, l.event) {
			q.sources = append(q.sources, l.event)
		}
	}
}

// restsOn notes the same of what was going on.
func (q *question) restsOn(items []scene.Item) {
	for _, i := range items {
		q.visibility = q.visibility.And(i.Visibility)
		if i.Event != "" && i.Field != scene.Agent && !slices.Contains(q.sources, i.Event) {
			q.sources = append(q.sources, i.Event)
		}
	}
}

// ending is a turn that is over.
type ending struct {
	question question
	began    time.Time
	reply    earshot.Reply
	err      error
	asked    *asking // nil if no model was
}

// An asking is one question to the model, and what came of it beside words. It
// belongs to the goroutine of the text, and to conclude once the turn is over.
type asking struct {
	req       *llm.Request
	agent     string
	truncated bool // the reply ended because it may not be longer
	foreign   int  // others' names that the model began with
	halved    bool // the dialogue was too long for the model
}

// next begins a turn if a question waits and the floor is free.
func (r *Room) next(ctx context.Context, turns *sync.WaitGroup) {
	if len(r.pending) == 0 || r.speaking() || ctx.Err() != nil {
		return
	}
	q := r.pending[0]
	r.pending = slices.Delete(r.pending, 0, 1)
	set := r.cfg.Settings()
	places := r.outlets(q.message, set)
	if len(places) == 0 && q.message.Visibility.Scope == earshot.Private {
		r.tell(q.message.Via, earshot.Notice{Text: "I cannot answer that in private here: others read this too"})
		r.giveUp(q)
		r.keep(ctx)
		r.next(ctx, turns)
		return
	}
	spec := turn.Spec{
		Opening: earshot.Opening{
			Turn: q.turn, About: q.message.ID, Name: set.Name,
			To: q.message.Author, Private: q.message.Visibility.Scope == earshot.Private,
		},
		Floor: r.floor, Since: q.ticket, Ahead: set.Streaming.BufferSize,
		Whole: !set.Streaming.DisplayPartial, Drain: drain, Stall: stall,
		Lost: func(outlet string, err error) {
			r.cfg.Log.Warn("an outlet broke; the turn goes on without it", "outlet", outlet, "turn", q.turn, "err", err)
		},
	}
	var asked *asking
	spec.Text, asked = r.text(set, &q, r.listeners(q.message), slices.ContainsFunc(places, (*place).Audible))
	spec.Outlets = r.showing(places, q.visibility)
	r.setLive(q.turn, q.message)
	r.cfg.Log.Debug("turn begins", "turn", q.turn, "outlets", len(places), "model", asked != nil)
	began := r.cfg.Now()
	turns.Go(func() {
		reply, err := turn.Run(ctx, spec)
		reply.Reflex = asked == nil
		reply.Truncated = asked != nil && asked.truncated
		r.ended <- ending{q, began, reply, err, asked}
	})
}

// showing makes some places the outlets of a turn.
func (r *Room) showing(places []*place, v earshot.Visibility) (outlets []earshot.Outlet) {
	var showings []*showing
	for _, p := range places {
		s := &showing{place: p, visibility: v}
		showings, outlets = append(showings, s), append(outlets, s)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.showings = showings
	return outlets
}

// outlets returns where the answer to a message comes out: where all who are
// around may see it. What was written is not answered aloud, unless that is
// wanted; and what is private never.
func (r *Room) outlets(m earshot.Event, set executive.Config) []*place {
	places := r.around(m.Visibility)
	_, aloud := m.Body.(earshot.Utterance)
	if m.Visibility.Scope == earshot.Private || !aloud && !set.Speech.TypedAloud {
		places = slices.DeleteFunc(places, (*place).Audible)
	}
	return places
}

// listeners returns everybody whom the answer to a message is for, and the
// agent, which reads what it is made of. An answer that all may see is for those
// who come later, too: nothing private is in it, whoever is here.
func (r *Room) listeners(m earshot.Event) earshot.Audience {
	a := earshot.Audience{Room: r.cfg.ID, Unknown: true}
	if m.Visibility.Scope == earshot.Private {
		a.Unknown = false
		a.Members = slices.DeleteFunc(slices.Clone(m.Visibility.Members), func(id earshot.ParticipantID) bool { return id == participants.Agent })
	}
	return a.With(participants.Agent)
}

// maxCircles is how many conversations may wait for an answer at once: the open
// one, and private ones.
const maxCircles = 16

// supersede keeps, of the questions that wait in one conversation, the most
// urgent, of equals the newest, which the model sees last. The others are
// context by now; their turns end before they begin. What only some may see is
// no context of what others asked, so that waits beside it.
func (r *Room) supersede() {
	var kept []question
	for _, q := range r.pending {
		i := slices.IndexFunc(kept, func(k question) bool { return together(k.message.Visibility, q.message.Visibility) })
		switch {
		case i < 0:
			kept = append(kept, q)
			continue
		case q.rank >= kept[i].rank:
			q, kept[i] = kept[i], q
		}
		r.giveUp(q)
	}
	for _, q := range kept[:max(0, len(kept)-maxCircles)] {
		r.giveUp(q)
	}
	r.pending = kept[max(0, len(kept)-maxCircles):]
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = len(r.pending)
}

// giveUp ends the turn of a question before it begins.
func (r *Room) giveUp(q question) {
	r.unsaved = append(r.unsaved, r.end(q, earshot.Reply{Outcome: earshot.Suppressed}))
}

// text returns the words of the reply: those of a reflex if one knows the
// answer, else the model's. It notes in q what they are made of. Aloud says that
// a voice will say them.
func (r *Room) text(set executive.Config, q *question, a earshot.Audience, aloud bool) (func(context.Context) iter.Seq2[string, error], *asking) {
	facts := r.facts(set, a)
	if q.want == reflex.Resume && (facts.Last == nil || facts.Last.Remainder() == "") && r.modelWorks() {
		q.want = reflex.None // there is nothing left unsaid, but perhaps more to say
	}
	if answer := reflex.Answer(q.want, facts); answer != "" {
		if q.want == reflex.Lately || q.want == reflex.Repeat || q.want == reflex.Resume {
			_, used := r.history.prompt(a, r.cfg.People.Name, false)
			q.madeOf(used) // it repeats what was said
			if said := r.latest(a, q.want == reflex.Resume); said.Body != nil {
				q.visibility = q.visibility.And(said.Visibility)
			}
		}
		return func(context.Context) iter.Seq2[string, error] {
			return func(yield func(string, error) bool) { yield(answer, nil) }
		}, nil
	}
	if r.cfg.Model == nil {
		return func(context.Context) iter.Seq2[string, error] {
			return func(yield func(string, error) bool) { yield("", ErrNoModel) }
		}, new(asking)
	}
	asked := &asking{req: r.request(set, q, a, aloud), agent: set.Name}
	return func(ctx context.Context) iter.Seq2[string, error] { return r.think(ctx, asked) }, asked
}

// think asks the model, and yields what of its answer may be heard. A prompt
// that is too long is cut to half its dialogue, and a model that says nothing
// is asked again, once each.
func (r *Room) think(ctx context.Context, asked *asking) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for mute := false; ; {
			said, err := r.ask(ctx, asked, yield)
			var fault *llm.Error
			switch {
			case said || ctx.Err() != nil:
				return // err, if any, was yielded
			case errors.As(err, &fault) && fault.Fault == llm.TooLong && !asked.halved:
				asked.req, asked.halved = halve(asked.req), true
			case err != nil:
				yield("", err)
				return
			case mute:
				yield("", errMute)
				return
			default:
				mute = true
			}
		}
	}
}

// ask asks once. It reports whether anything was yielded; an error before that
// is returned, one after it is yielded.
func (r *Room) ask(ctx context.Context, asked *asking, yield func(string, error) bool) (said bool, err error) {
	scrub := conversation.Scrubber{Own: asked.agent}
	defer func() {
		asked.foreign += scrub.Foreign
		if scrub.Foreign > 0 {
			r.cfg.Log.Warn("the model wrote others' names before its reply; they were taken out", "count", scrub.Foreign)
		}
	}()
	emit := func(text string) bool {
		if !said {
			text = strings.TrimLeft(text, " \t\r\n")
		}
		if text == "" {
			return true
		}
		said = true
		return yield(text, nil)
	}
	for delta, err := range r.cfg.Model.Stream(ctx, asked.req) {
		if err != nil {
			if said {
				yield("", err)
			}
			return said, err
		}
		asked.truncated = delta.Done != nil && delta.Done.Truncated
		if !emit(scrub.Next(delta.Text)) {
			return true, nil
		}
	}
	emit(scrub.End())
	return said, nil
}

// halve returns req with the older half of its dialogue left out.
func halve(req *llm.Request) *llm.Request {
	short := *req
	n := len(req.Messages)
	if n > 3 {
		short.Messages = append(slices.Clone(req.Messages[:1]), req.Messages[1+(n-2)/2:]...)
	}
	return &short
}

// conclude writes down the truth about a turn.
func (r *Room) conclude(ctx context.Context, e ending) {
	r.setLive("", earshot.Event{})
	if !r.cfg.Settings().Interruption.SavePartial {
		e.reply.Offered = e.reply.Delivered()
	}
	done := r.end(e.question, e.reply)
	done.At = e.began
	r.unsaved = append(r.unsaved, done)
	if n, news := r.health(e); news {
		r.unsaved = append(r.unsaved, r.event(earshot.Visibility{Scope: earshot.System}, n))
	}
	if e.asked != nil {
		r.foreign += e.asked.foreign
	}
	if e.asked != nil && e.asked.halved {
		r.once(earshot.Notice{
			Key: "context", Text: "the dialogue is too long for the model; its older half was left out",
			Cure: "choose a model with a larger context, or give it one (for Ollama: OLLAMA_CONTEXT_LENGTH)",
		})
	}
	if _, aloud := e.question.message.Body.(earshot.Utterance); aloud && e.reply.Delivered() != "" {
		r.talked(e.question.message, r.cfg.Now())
	}
	if e.reply.Offered != "" {
		r.spoke(done, e.asked != nil || e.question.want == reflex.Resume)
	}
	if e.err != nil {
		r.cfg.Log.Warn("the turn failed", "turn", e.reply.Turn, "why", kind(e.err))
	}
	r.cfg.Log.Info("turn ended", "turn", e.reply.Turn, "outcome", string(e.reply.Outcome),
		"offered", len(e.reply.Offered), "delivered", len(e.reply.Delivered()), "took", r.cfg.Now().Sub(e.began))
	r.keep(ctx)
}

// spoken is a reply, and whether it took thought, or continued one that did.
type spoken struct {
	reply   earshot.Event
	thought bool
}

// keepSaid is how many replies are remembered: one a conversation that goes on
// beside others.
const keepSaid = maxCircles

// spoke remembers a reply, for those who ask what was said.
func (r *Room) spoke(reply earshot.Event, thought bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, spoken{reply, thought})
	r.said = slices.Delete(r.said, 0, max(0, len(r.said)-keepSaid))
}

// latest returns the last reply that everybody in a may know of, if it must have
// taken thought the last of those.
func (r *Room) latest(a earshot.Audience, thought bool) earshot.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range slices.Backward(r.said) {
		if s.reply.Visibility.Allows(a) && (s.thought || !thought) {
			return s.reply
		}
	}
	return earshot.Event{}
}

// end returns the event that says how the turn of q ended. It is erased with
// the messages that it was made of: the question, and what else of the dialogue
// people wrote.
func (r *Room) end(q question, reply earshot.Reply) earshot.Event {
	reply.Turn, reply.About = q.turn, q.message.ID
	e := r.event(q.visibility, reply)
	for _, id := range append([]earshot.ParticipantID{q.message.Author}, q.message.Visibility.Members...) {
		p, known := r.cfg.People.Get(id) // one person may be among the members twice
		if known && p.ID != participants.Agent && !slices.Contains(e.To, p.ID) {
			e.To = append(e.To, p.ID)
		}
	}
	e.Sources = q.sources
	if !slices.Contains(e.Sources, q.message.ID) {
		e.Sources = append(e.Sources, q.message.ID)
	}
	return e
}

// health returns the notice that follows from how a turn ended: the first time
// that the model fails, and the first time that it is well again.
func (r *Room) health(e ending) (earshot.Notice, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	had, ill := r.faults[modelFault]
	switch {
	case e.err != nil && e.asked != nil && !errors.Is(e.err, turn.ErrUnheard):
		n := fault(e.err)
		if e.question.visibility.Scope == earshot.Private {
			n.Text = kind(e.err) // everybody is told, and what a server says may quote what it was asked
		}
		r.faults[modelFault] = n
		return n, n.Text != had.Text
	case e.err == nil && e.asked != nil && e.reply.Offered != "" && ill:
		delete(r.faults, modelFault)
		return earshot.Notice{Key: modelFault, Text: "the model answers again", Over: true}, true
	}
	return earshot.Notice{}, false
}

// modelWorks reports whether there is a model that did not fail last time.
func (r *Room) modelWorks() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ill := r.faults[modelFault]
	return r.cfg.Model != nil && !ill
}

// modelFault is the key of what is wrong with the model.
const modelFault = "model"

// kind returns what went wrong, for the log and for those who may not know what
// was asked: a server may quote the prompt in its own words, so they do not get
// there.
func kind(err error) string {
	var e *llm.Error
	switch {
	case errors.As(err, &e):
		return e.Engine + ": " + string(e.Fault)
	case errors.Is(err, turn.ErrUnheard), errors.Is(err, ErrNoModel), errors.Is(err, errMute):
		return err.Error()
	}
	return "the model failed in another way"
}

// fault returns what is wrong with the model, for people.
func fault(err error) earshot.Notice {
	n := earshot.Notice{Key: modelFault, Text: err.Error()}
	var e *llm.Error
	switch {
	case errors.As(err, &e):
		if e.Fault == llm.Unreachable { // how the connection failed is for the log
			brief := *e
			brief.Err = nil
			e = &brief
		}
		n.Text, n.Cure = e.Error(), e.Cure
	case errors.Is(err, ErrNoModel):
		n.Cure = "install Ollama, then run: ollama pull llama3.2"
	}
	return n
}

// remember takes what is on record into the scene and the dialogue, if it is
// for the agent to know.
func (r *Room) remember(e earshot.Event) {
	if !sees(e.Visibility) {
		return
	}
	switch body := e.Body.(type) {
	case earshot.Message:
		r.history.add(line{event: e.ID, at: e.At, author: e.Author, to: e.To, text: body.Text, visibility: e.Visibility})
		r.scene.Put(scene.Item{
			Field: scene.Audio, Source: e.From.Provider, Event: e.ID, At: e.At, Visibility: e.Visibility,
			Text: earshot.Text(r.cfg.People.Name(e.Author)+": ") + body.Text,
		})
	case earshot.Utterance:
		r.heard(e, body)
	case earshot.Memo:
		r.noted(e, body)
	case earshot.Presence:
		r.came(e, body)
	case earshot.Reply:
		r.replied(e, body)
	case earshot.Decision:
		r.mu.Lock()
		r.decisions = append(r.decisions, e)
		r.decisions = slices.Delete(r.decisions, 0, max(0, len(r.decisions)-keepDecisions))
		r.mu.Unlock()
	}
}

// heard takes an utterance into what was heard of late, and into the dialogue if
// it was said to the agent: others talk all day, and would drive it out.
func (r *Room) heard(e earshot.Event, u earshot.Utterance) {
	if len(e.To) > 0 {
		r.history.add(line{event: e.ID, at: e.At, author: e.Author, to: e.To, text: u.Text, visibility: e.Visibility})
	}
	r.scene.Put(scene.Item{
		Field: scene.Audio, Source: e.From.Provider, Event: e.ID, At: e.At, Visibility: e.Visibility,
		Text: earshot.Text(r.cfg.People.Name(e.Author)+": ") + u.Text,
	})
}

// replied takes a reply into the dialogue, as far as it was heard. What a reflex
// reported of the house's faults is not the agent's own word.
func (r *Room) replied(e earshot.Event, reply earshot.Reply) {
	note := ended(reply, r.cfg.People.Name)
	if reply.Offered == "" && note == "" {
		return
	}
	text := reply.Delivered()
	if reply.Reflex && strings.HasPrefix(string(text), reflex.Reporting) {
		text = ""
	}
	r.history.add(line{event: e.ID, about: reply.About, at: e.At, author: participants.Agent, text: text, note: note, visibility: e.Visibility})
	state := earshot.Text(note)
	switch {
	case reply.Remainder() != "" && note != "":
		state += " Not said yet: " + reply.Remainder()
	case note == "":
		state = "you have said what you wanted to say"
	}
	r.scene.Put(scene.Item{Field: scene.Agent, Source: "turn", Event: e.ID, At: r.cfg.Now(), Text: state, Visibility: e.Visibility})
}

// recall goes on from the past: the dialogue, and the turns that had begun
// when the program ended without a word.
func (r *Room) recall() {
	open := make(map[earshot.TurnID]earshot.Event)
	done := make(chan struct{})
	close(done)
	for _, e := range r.cfg.Past {
		r.remember(e)
		r.know(&entry{incoming: incoming{event: e}, done: done})
		r.newest = max(r.newest, e.Sequence)
		switch body := e.Body.(type) {
		case earshot.ModeChange:
			r.mode, r.wished = body.Mode, body.Mode
		case earshot.Decision:
			if body.Turn != "" {
				open[body.Turn] = e
			}
		case earshot.Reply:
			delete(open, body.Turn)
			if body.Offered != "" {
				r.spoke(e, !body.Reflex)
			}
		}
	}
	r.history.nobody()
	for _, e := range r.cfg.Past {
		if d, ok := e.Body.(earshot.Decision); ok && open[d.Turn].ID == e.ID && d.Turn != "" {
			lost := r.event(e.Visibility, earshot.Reply{Turn: d.Turn, About: d.About, Outcome: earshot.Failed})
			lost.Sources = []earshot.EventID{d.About}
			r.unsaved = append(r.unsaved, lost)
		}
	}
}

// speaking reports whether no turn can begin.
func (r *Room) speaking() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live != "" || r.leaving
}

// setLive notes which turn is live, if any, and what it answers.
func (r *Room) setLive(t earshot.TurnID, with earshot.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live, r.with, r.asked = t, with, len(r.pending)
}
