package microphone

import (
	"context"
	"time"

	"earshot"
	"earshot/providers"
)

const (
	// mostKept is how many utterances wait for the disk beside each other: more
	// than anybody says while a disk is only slow.
	mostKept = 16

	// headStart is how long one waits for what an utterance does in the room
	// beside being kept, which takes microseconds.
	headStart = 5 * time.Millisecond

	// farewell is how long a room may take for what is said when Run ends.
	farewell = 100 * time.Millisecond
)

// A demand is what the newest voice asks of the room, by the stage that the
// room was told last: whoever has the floor is held back until it is told what
// came of it.
type demand struct {
	emit providers.Emit
	turn chan struct{} // of capacity 1: held while the room is told
	last item          // of voice 0 if there is nothing to take back
}

func newDemand(emit providers.Emit) *demand {
	return &demand{emit: emit, turn: make(chan struct{}, 1)}
}

// hold waits until nobody else tells the room anything, and reports false if
// ctx ends before.
func (d *demand) hold(ctx context.Context) bool {
	select {
	case d.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (d *demand) release() { <-d.turn }

// tell tells the room a stage, which is of use at once or never.
func (d *demand) tell(ctx context.Context, e item) {
	if !d.hold(ctx) {
		return
	}
	defer d.release()
	d.stage(ctx, e)
}

// stage tells the room e, and notes what that asks for.
func (d *demand) stage(ctx context.Context, e item) {
	if err := d.emit(ctx, e.Event); err != nil || e.voice == 0 {
		return
	}
	d.last = e
	if stage(e) == earshot.VoiceOver {
		d.last = item{}
	}
}

// settle waits until the room has been told the utterance e, which takes back
// what every voice asked for. So a voice that began since then asks again. An
// utterance that was refused takes nothing back.
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

// again asks for what the newest voice asks for: that it is there, and then
// perhaps which words it has said, which alone might hold nobody back.
func (d *demand) again(ctx context.Context) {
	last := d.last
	if s := last.Body.(earshot.Speech); s.Stage == earshot.VoiceWords {
		there := last
		there.Body = earshot.Speech{Stage: earshot.VoiceLasts, Confidence: sureVoice, Own: s.Own}
		d.stage(ctx, there)
	}
	d.stage(ctx, last)
}

// end takes back what was asked for when nobody else tells the room anything
// any more.
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

// stage returns which one e is.
func stage(e item) earshot.Stage {
	s, _ := e.Body.(earshot.Speech)
	return s.Stage
}
