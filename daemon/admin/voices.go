package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// Voices keeps the registries of voices and of people in step: who owns a voice, and which voices
// are the same. Its methods may be called from many goroutines.
type Voices struct {
	Registry *speakers.Registry
	People   *participants.Registry
	Account  earshot.Handle           // of this machine, on whose behalf people become known
	Owner    participants.Participant // the owner of the account
	Log      *slog.Logger

	// Changed is called for each change of a voice's owner, after the registry of people was
	// updated, so that a room that looks it up finds it.
	Changed func(speakers.Change)
}

// Open opens the registry of the voices kept in a directory. If the file cannot be used, voices
// are still told apart, nothing is kept, and c.Report is called.
func (v *Voices) Open(ctx context.Context, directory string, c speakers.Config) error {
	c.Changed = func(c speakers.Change) { v.apply(context.WithoutCancel(ctx), c) }
	var err error
	v.Registry, err = speakers.Open(directory, c)
	if err == nil {
		v.acquaint(ctx)
		return nil
	}
	n := earshot.Notice{Key: "voices", Text: err.Error(), Cure: "earshot doctor"}
	if bad, ok := errors.AsType[*speakers.ErrDamaged](err); ok {
		n.Cure = bad.Cure()
	}
	c.Report(n)
	v.Registry, err = speakers.Open("", c)
	return err
}

// acquaint tells the registry of people who owns the kept voices, where the journal does not: it
// may be a different one.
func (v *Voices) acquaint(ctx context.Context) {
	for _, s := range v.Registry.Known() {
		if err := v.recognise(ctx, s.Handle, s.Said.By); err != nil {
			v.Log.Warn("a voice is kept of somebody who is not known", "err", err)
		}
	}
}

// apply applies a change of a voice's owner.
func (v *Voices) apply(ctx context.Context, c speakers.Change) {
	if err := v.join(ctx, c); err != nil {
		v.Log.Warn("the owner of a voice could not be recorded", "err", err)
	}
	v.Changed(c)
}

// join tells the registry which voices are the same, and who owns them.
func (v *Voices) join(ctx context.Context, c speakers.Change) error {
	var faults []error
	switch {
	case c.Act == speakers.Forgotten:
		return nil // what was said stays theirs
	case c.Act == speakers.Merged:
		v.meet(c.Voice)
		v.meet(c.Other)
		faults = append(faults, v.People.Same(ctx, c.Voice, c.Other))
	case c.Act == speakers.Divided && c.Undo:
		faults = append(faults, v.People.Apart(ctx, c.Other))
	}
	for _, h := range []earshot.Handle{c.Voice, c.Other} {
		if h.ID != "" && c.Said.By != "" {
			faults = append(faults, v.recognise(ctx, h, c.Said.By))
		}
	}
	return errors.Join(faults...)
}

// recognise records the owner of a voice because somebody named them; or nobody, if the ownership
// began with an event that was taken back.
func (v *Voices) recognise(ctx context.Context, h earshot.Handle, says earshot.ParticipantID) error {
	s, _ := v.Registry.Speaker(h)
	is := v.meet(h)
	by, ok := v.People.Get(says)
	if !ok || says == "" {
		by = v.Owner
	}
	if s.Who == is.ID || s.Who == "" && is.Nameless() {
		return nil
	}
	if !is.Nameless() {
		if err := v.People.Unrecognise(ctx, by, is.Reader()); err != nil {
			return err
		}
	}
	if s.Who == "" {
		return nil
	}
	return v.People.Recognise(ctx, by, is.Reader(), s.Who)
}

// meet returns the owner of a voice.
func (v *Voices) meet(h earshot.Handle) participants.Participant {
	name := "voice"
	if s, known := v.Registry.Speaker(h); known && s.Number > 0 {
		name = "voice " + strconv.Itoa(s.Number)
	}
	return v.People.Meet(h, name)
}

// ListVoices returns voices in the form that is shown.
func ListVoices(all []speakers.Speaker, name func(earshot.ParticipantID) string) []api.VoiceInfo {
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

// List returns the known voices.
func (v *Voices) List() []api.VoiceInfo { return ListVoices(v.Registry.Known(), v.People.Name) }

// Tell carries out a request about voices. If anything changed, the change has an act, even beside
// an error.
func (v *Voices) Tell(ctx context.Context, by participants.Participant, t api.VoiceRequest) (api.VoiceChange, error) {
	before := v.labels()
	c, err := v.change(ctx, by, t)
	if c.Act == "" {
		return api.VoiceChange{}, err
	}
	maps.Copy(before, v.labels()) // voices that are gone keep their earlier name
	return VoiceChange(c, v.changeText(c, before)), err
}

// VoiceChange returns c in the form that people and programs are shown, with text as its words.
func VoiceChange(c speakers.Change, text string) api.VoiceChange {
	return api.VoiceChange{
		Act: string(c.Act), Voice: c.Voice, Other: c.Other, Who: c.Who, Was: c.Was, Said: api.Attestation(c.Said), Moved: c.Moved, Undo: c.Undo, Text: text,
	}
}

func (v *Voices) change(ctx context.Context, by participants.Participant, t api.VoiceRequest) (c speakers.Change, err error) {
	said := speakers.Attestation{By: by.ID, At: time.Now()}
	var voices []earshot.Handle
	for _, text := range t.Voices {
		h, err := FindVoice(v.Registry.Known(), text, v.People.Name)
		if err != nil {
			return c, err
		}
		voices = append(voices, h)
	}
	var who participants.Participant
	if t.Who != "" {
		if who, err = v.whoever(ctx, t.Who); err != nil {
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
		return v.Registry.Enrol(who.ID, said, voices...)
	case "name":
		return v.Registry.Name(voices[0], who.ID, said)
	case "merge":
		return v.Registry.Merge(voices[0], voices[1], said)
	case "split":
		return v.Registry.Split(voices[0], said)
	case "forget":
		return v.Registry.Forget(voices[0], said)
	case "undo":
		return v.Registry.Undo(said)
	}
	return c, fmt.Errorf("%q is not possible; use enroll, name, merge, split, forget or undo", t.Act)
}

// whoever returns the person with a name, who becomes known if nobody has it. That gives them no
// access.
func (v *Voices) whoever(ctx context.Context, name string) (participants.Participant, error) {
	p, known := v.People.Find(name)
	if !known {
		return v.People.Claim(ctx, v.Account, name, nil)
	}
	if p.Type != participants.Human {
		return p, fmt.Errorf("%q is not a person; say whose voice it is", p.Name)
	}
	return p, nil
}

// FindVoice returns the voice that text means: "3", "voice 3", its handle, or the name of its
// owner, if they own only one.
func FindVoice(all []speakers.Speaker, text string, name func(earshot.ParticipantID) string) (earshot.Handle, error) {
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

// changeText describes what changed.
func (v *Voices) changeText(c speakers.Change, called map[earshot.Handle]string) string {
	text := map[speakers.Act]string{
		speakers.Named:     "%[1]s is %[3]s until earshot stops",
		speakers.Enrolled:  "the voice of %[3]s is now kept",
		speakers.Merged:    "%[2]s is the same as %[1]s",
		speakers.Divided:   "some of %[1]s is %[2]s",
		speakers.Taught:    "that was said by %[3]s",
		speakers.Forgotten: "%[1]s is forgotten",
	}[c.Act]
	who := v.People.Name(c.Who)
	if c.Who == "" {
		who = "nobody who is known"
	}
	if c.Undo {
		text = "undone: " + text
	}
	return fmt.Sprintf(text+"%.0[1]s%.0[2]s%.0[3]s", called[c.Voice], called[c.Other], who)
}

func (v *Voices) labels() map[earshot.Handle]string {
	all := make(map[earshot.Handle]string)
	for _, s := range v.List() {
		all[s.Handle] = s.Called
	}
	return all
}
