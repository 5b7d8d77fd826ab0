package microphone

import (
	"context"
	"time"

	"earshot"
	"earshot/providers"
)

const (
	// mostKept is how many utterances wait for the disk at the same time: more than anybody says
	// while a disk is only slow.
	mostKept = 16

	// headStart is how long to wait for the effects of an utterance in the room besides being
	// stored, which take microseconds.
	headStart = 5 * time.Millisecond

	// farewell is how long a room may take for what is said when Run ends.
	farewell = 100 * time.Millisecond
)

// A demand is what the newest voice asks of the room, according to the last stage that the room
// was told: the speaker who has the floor is held back until the room is told the outcome.
type demand struct {
	emit providers.Emit
	turn chan struct{} // of capacity 1: held while telling the room
	last item          // of voice 0 if there is nothing to take back
}

func newDemand(emit providers.Emit) *demand {
	return &demand{emit: emit, turn: make(chan struct{}, 1)}
}

// hold waits until nobody else is telling the room anything, and returns false if ctx ends first.
func (d *demand) hold(ctx context.Context) bool {
	select {
	case d.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (d *demand) release() { <-d.turn }

// tell tells the room a stage, which matters at once or never.
func (d *demand) tell(ctx context.Context, e item) {
	if !d.hold(ctx) {
		return
	}
	defer d.release()
	d.stage(ctx, e)
}

// stage tells the room e, and records what that asks for.
func (d *demand) stage(ctx context.Context, e item) {
	if err := d.emit(ctx, e.Event); err != nil || e.voice == 0 {
		return
	}
	d.last = e
	if stage(e) == earshot.VoiceOver {
		d.last = item{}
	}
}

// settle waits until the room has been told the utterance e, which takes back the demands of every
// voice. So a voice that began since then asks again. A refused utterance takes nothing back.
func (d *demand) settle(ctx context.Context, e item, done <-chan error) {
	var refused error
	select {
	case refused = <-done:
	case <-time.After(headStart):
	case <-ctx.Done():
		return
	}
	if !d.hold(ctx) {
		return
	}
	defer d.release()
	switch {
	case d.last.voice > e.voice:
		d.again(ctx)
	case refused != nil:
		d.withdraw(ctx)
	default:
		d.last = item{}
	}
}

// again repeats the demand of the newest voice: that it is there, and then perhaps the words it
// has said, which alone might hold nobody back.
func (d *demand) again(ctx context.Context) {
	last := d.last
	if s := last.Body.(earshot.Speech); s.Stage == earshot.VoiceWords {
		there := last
		there.Body = earshot.Speech{Stage: earshot.VoiceLasts, Confidence: sureVoice, Own: s.Own}
		d.stage(ctx, there)
	}
	d.stage(ctx, last)
}

// end takes the demand back once nobody else is telling the room anything any more.
func (d *demand) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	d.withdraw(ctx)
}

// withdraw says that nothing came of the newest voice.
func (d *demand) withdraw(ctx context.Context) {
	if d.last.voice == 0 {
		return
	}
	over := d.last
	over.Body = earshot.Speech{Stage: earshot.VoiceOver, Confidence: 1}
	d.stage(ctx, over)
}

// stage returns the stage of e.
func stage(e item) earshot.Stage {
	s, _ := e.Body.(earshot.Speech)
	return s.Stage
}
