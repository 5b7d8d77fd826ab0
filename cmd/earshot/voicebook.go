package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"earshot"
	"earshot/api"
	"earshot/internal/english"
	"earshot/participants"
	"earshot/speakers"
)

// listen opens what is known about voices. Where the file cannot be used they are
// told apart all the same, and nothing is kept.
func (d *daemon) listen(ctx context.Context) error {
	c := d.config().Speakers
	c.Report = d.report
	c.Changed = func(c speakers.Change) { d.applyVoiceChange(context.WithoutCancel(ctx), c) }
	var err error
	d.voices, err = speakers.Open(d.config().Store.Directory, c)
	if err == nil {
		return d.acquaint(ctx)
	}
	n := earshot.Notice{Key: "voices", Text: err.Error(), Cure: "earshot doctor"}
	if bad, ok := errors.AsType[*speakers.ErrDamaged](err); ok {
		n.Cure = bad.Cure()
	}
	d.report(n)
	d.voices, err = speakers.Open("", c)
	return err
}

// acquaint lets the registry know whose the voices are that are kept, where the
// journal does not: it may be another one.
func (d *daemon) acquaint(ctx context.Context) error {
	for _, s := range d.voices.Known() {
		if err := d.recognise(ctx, s.Handle, s.Said.By); err != nil {
			d.log.Warn("a voice is kept of somebody who is not known", "err", err)
		}
	}
	return nil
}

// applyVoiceChange takes over a change of whose a voice is. The registry of participants
// learns of it first, so that a room that looks it up finds it.
func (d *daemon) applyVoiceChange(ctx context.Context, c speakers.Change) {
	if err := d.join(ctx, c); err != nil {
		d.log.Warn("the owner of a voice could not be recorded", "err", err)
	}
	for _, r := range d.rooms.now() {
		r.ApplyVoiceChange(c)
	}
}

// join lets the registry know which voices are one, and whose.
func (d *daemon) join(ctx context.Context, c speakers.Change) error {
	var faults []error
	switch {
	case c.Act == speakers.Forgotten:
		return nil // what was said stays theirs
	case c.Act == speakers.Merged:
		d.meet(c.Voice)
		d.meet(c.Other)
		faults = append(faults, d.people.Same(ctx, c.Voice, c.Other))
	case c.Act == speakers.Divided && c.Undo:
		faults = append(faults, d.people.Apart(ctx, c.Other))
	}
	for _, h := range []earshot.Handle{c.Voice, c.Other} {
		if h.ID != "" && c.Said.By != "" {
			faults = append(faults, d.recognise(ctx, h, c.Said.By))
		}
	}
	return errors.Join(faults...)
}

// recognise lets the registry know whose a voice is, because somebody says so: nobody's,
// if it began with what was taken back.
func (d *daemon) recognise(ctx context.Context, h earshot.Handle, says earshot.ParticipantID) error {
	s, _ := d.voices.Speaker(h)
	is := d.meet(h)
	by, ok := d.people.Get(says)
	if !ok || says == "" {
		by = d.owner
	}
	if s.Who == is.ID || s.Who == "" && is.Nameless() {
		return nil
	}
	if !is.Nameless() {
		if err := d.people.Unrecognise(ctx, by, is.Reader()); err != nil {
			return err
		}
	}
	if s.Who == "" {
		return nil
	}
	return d.people.Recognise(ctx, by, is.Reader(), s.Who)
}

// meet returns who has a voice.
func (d *daemon) meet(h earshot.Handle) participants.Participant {
	name := "voice"
	if s, known := d.voices.Speaker(h); known && s.Number > 0 {
		name = "voice " + strconv.Itoa(s.Number)
	}
	return d.people.Meet(h, name)
}

// singers returns voices as they are told of.
func singers(all []speakers.Speaker, name func(earshot.ParticipantID) string) []api.VoiceInfo {
	list := []api.VoiceInfo{}
	for _, s := range all {
		one := api.VoiceInfo{
			Handle: s.Handle, Also: s.Also, Number: s.Number, Who: s.Who, Kept: s.Kept, Said: api.Attestation(s.Said),
			Heard: s.Heard, Spoken: s.Spoken, Last: s.Last, Called: s.Handle.String(),
		}
		if s.Who != "" {
			one.Name, one.SaidBy = name(s.Who), name(s.Said.By)
			one.Called = "the voice of " + one.Name
		}
		if s.Number > 0 {
			one.Called = "voice " + strconv.Itoa(s.Number)
		}
		list = append(list, one)
	}
	return list
}

// Voices implements [server.Admin].
func (h backend) Voices(context.Context) ([]api.VoiceInfo, error) {
	return singers(h.daemon.voices.Known(), h.daemon.people.Name), nil
}

// Tell implements [server.Admin].
func (h backend) Tell(ctx context.Context, by participants.Participant, t api.VoiceRequest) (api.VoiceChange, error) {
	before := h.daemon.labels()
	c, err := h.daemon.tell(ctx, by, t)
	if c.Act == "" {
		return api.VoiceChange{}, err
	}
	maps.Copy(before, h.daemon.labels()) // what is gone is called as it was
	text := h.daemon.outcome(c, before)
	h.daemon.desk.Mention(fmt.Sprintf("%s (says %s).", text, by.Name)) // where the microphone is
	return voiceChange(c, text), err
}

// voiceChange returns c as people and programs are told of it, in the words of text.
func voiceChange(c speakers.Change, text string) api.VoiceChange {
	return api.VoiceChange{
		Act: string(c.Act), Voice: c.Voice, Other: c.Other, Who: c.Who, Was: c.Was, Said: api.Attestation(c.Said), Moved: c.Moved, Undo: c.Undo, Text: text,
	}
}

// tell carries out what somebody says about voices.
func (d *daemon) tell(ctx context.Context, by participants.Participant, t api.VoiceRequest) (c speakers.Change, err error) {
	said := speakers.Said{By: by.ID, At: time.Now()}
	var voices []earshot.Handle
	for _, text := range t.Voices {
		h, err := pick(d.voices.Known(), text, d.people.Name)
		if err != nil {
			return c, err
		}
		voices = append(voices, h)
	}
	var who participants.Participant
	if t.Who != "" {
		if who, err = d.whoever(ctx, t.Who); err != nil {
			return c, err
		}
	}
	switch needs := map[string]int{"enroll": 1, "name": 1, "merge": 2, "split": 1, "forget": 1}[t.Act]; {
	case len(voices) != needs:
		return c, fmt.Errorf("%s needs %s; see: earshot speakers", t.Act, english.Count(needs, "voice"))
	case t.Act == "enroll" && !t.Consents:
		return c, errors.New("a voice is kept only with the person's consent; ask them, and say that they agree")
	case (t.Act == "enroll" || t.Act == "name") && t.Who == "":
		return c, errors.New("say whose voice it is")
	}
	switch t.Act {
	case "enroll":
		return d.voices.Enrol(who.ID, said, voices...)
	case "name":
		return d.voices.Name(voices[0], who.ID, said)
	case "merge":
		return d.voices.Merge(voices[0], voices[1], said)
	case "split":
		return d.voices.Split(voices[0], said)
	case "forget":
		return d.voices.Forget(voices[0], said)
	case "undo":
		return d.voices.Undo(said)
	}
	return c, fmt.Errorf("%q is not possible; use enroll, name, merge, split, forget or undo", t.Act)
}

// whoever returns the person of a name, who comes to be known if nobody is called
// so. That lets nobody in.
func (d *daemon) whoever(ctx context.Context, name string) (participants.Participant, error) {
	p, known := d.people.Find(name)
	if !known {
		return d.people.Claim(ctx, d.account, name, nil)
	}
	if p.Type != participants.Human {
		return p, fmt.Errorf("%q is not a person; say whose voice it is", p.Name)
	}
	return p, nil
}

// pick returns the voice that is called so: "3", "voice 3", its handle, or the name
// of the person whose it is, if only one is.
func pick(all []speakers.Speaker, text string, name func(earshot.ParticipantID) string) (earshot.Handle, error) {
	key := participants.Key(text) // in which a one is an l
	number, _ := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(strings.ToLower(text), "voice ")))
	var found []speakers.Speaker
	for _, s := range all {
		also := append([]earshot.Handle{s.Handle}, s.Also...)
		if number > 0 && s.Number == number || slices.ContainsFunc(also, func(h earshot.Handle) bool { return h.String() == text }) {
			return s.Handle, nil
		}
		if s.Who != "" && key != "" && participants.Key(name(s.Who)) == key {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 1:
		return found[0].Handle, nil
	case len(found) > 1:
		return earshot.Handle{}, fmt.Errorf("%d voices belong to %s; say which one, such as %s", len(found), participants.OneLine(text), found[0].Handle)
	}
	return earshot.Handle{}, speakers.ErrUnknown
}

// outcome says what became otherwise, to people.
func (d *daemon) outcome(c speakers.Change, called map[earshot.Handle]string) string {
	text := map[speakers.Act]string{
		speakers.Named:     "%[1]s is %[3]s until earshot stops",
		speakers.Enrolled:  "the voice of %[3]s is now kept",
		speakers.Merged:    "%[2]s is the same as %[1]s",
		speakers.Divided:   "some of %[1]s is %[2]s",
		speakers.Taught:    "that was said by %[3]s",
		speakers.Forgotten: "%[1]s is forgotten",
	}[c.Act]
	who := d.people.Name(c.Who)
	if c.Who == "" {
		who = "nobody who is known"
	}
	if c.Undo {
		text = "undone: " + text
	}
	return fmt.Sprintf(text+"%.0[1]s%.0[2]s%.0[3]s", called[c.Voice], called[c.Other], who)
}

// labels returns what people call the voices that are known.
func (d *daemon) labels() map[earshot.Handle]string {
	all := make(map[earshot.Handle]string)
	for _, s := range singers(d.voices.Known(), d.people.Name) {
		all[s.Handle] = s.Called
	}
	return all
}
