package scene

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"earshot"
	"earshot/language"
)

const (
	// keepEdits is how far back edits can be listed and taken back: a long
	// afternoon of corrections.
	keepEdits = 64

	// keepStates is how many edits of one entry can be taken back.
	keepStates = 8

	// mostText is the longest text of an edit in bytes: a few sentences, so that
	// several fit into a field.
	mostText = 300
)

// A correctedObservation is an observation that somebody has corrected.
type correctedObservation struct {
	source string
	text   earshot.Text
}

// says reports whether i is the corrected observation again.
func (w correctedObservation) says(i Item) bool { return i.Source == w.source && i.Text == w.text }

// A Version is an edit, and whether it was undone.
type Version struct {
	Edit   earshot.Event // whose body is an [earshot.Edit]
	Undone bool
}

// Edit takes in an edit from the journal. An edit of something that no longer exists does nothing:
// [View.Check] says whether an edit may be made, before it is written down.
//
// An observation that somebody corrects stays corrected until its sense observes something else. If
// the sense reports by edits of its own, that follows from those edits. If its observations are in
// no journal, the source announces that it corrects one, and another edit announces that the
// correction is over: see [Over].
func (s *Scene) Edit(e earshot.Event) {
	b, ok := e.Body.(earshot.Edit)
	if _, known := bounds[Field(b.Field)]; !ok || !known {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Author == "" {
		s.sense(e, b)
		return
	}
	if slices.ContainsFunc(s.edits, func(v Version) bool { return v.Edit.ID == e.ID }) || !s.edit(e, b) {
		return
	}
	if Over(b) {
		return
	}
	s.edits = append(s.edits, Version{Edit: e})
	s.edits = slices.Delete(s.edits, 0, max(0, len(s.edits)-keepEdits))
}

// sense applies an edit by which a sense reports what it observed.
func (s *Scene) sense(e earshot.Event, b earshot.Edit) {
	i := item(e, b)
	had := s.find(i.Field, i.ID)
	switch {
	case had != nil && had.wrong != nil && b.Act != earshot.Ended && had.wrong.says(i):
	case b.Act == earshot.Created || b.Act == earshot.Changed:
		if s.take(i) {
			s.moves()
		}
	case b.Act == earshot.Ended:
		s.drop(i.Field, i.ID)
	}
}

// item returns the entry that an edit makes.
func item(e earshot.Event, b earshot.Edit) Item {
	return fitted(Item{
		ID: b.Item, Field: Field(b.Field), Source: e.From.Provider, Event: e.ID, At: e.At, Text: b.Text, By: e.Author, Visibility: e.Visibility,
	})
}

// drop removes the journal's entry with an ID.
func (s *Scene) drop(f Field, id string) {
	l := s.layer(f)
	l.entries = slices.DeleteFunc(l.entries, func(e entry) bool { return e.ID == id })
}

// edit applies e, and reports whether there was anything to do.
func (s *Scene) edit(e earshot.Event, b earshot.Edit) bool {
	had := s.find(Field(b.Field), b.Item)
	switch {
	case b.Act == earshot.Created:
		s.moves()
		return s.take(item(e, b))
	case b.Act == earshot.Undone:
		return s.undo(b)
	case Over(b):
		s.drop(Field(b.Field), b.Item)
		return had != nil
	case b.Act != earshot.Changed && b.Act != earshot.Ended || had == nil && b.Source == "":
		return false // too old, and no longer there
	}
	if had == nil {
		s.take(Item{ID: b.Item, Field: Field(b.Field), Source: b.Source, Event: e.ID, At: e.At, Text: b.Was, Visibility: e.Visibility})
		had = s.find(Field(b.Field), b.Item)
	}
	s.alter(had, e, b)
	return true
}

// alter changes or removes an entry.
func (s *Scene) alter(had *entry, e earshot.Event, b earshot.Edit) {
	if had.wrong == nil && had.By == "" && len(had.before) == 0 {
		had.wrong = &correctedObservation{had.Source, had.Text}
	}
	had.before = append(had.before, state{had.Item, had.gone})
	had.before = slices.Delete(had.before, 0, max(0, len(had.before)-keepStates))
	had.Event, had.Was = e.ID, had.Text
	if had.Field == Messages { // they stay the author's words, from the time they were said
		had.Mended = e.Author
	} else {
		had.At, had.By = e.At, e.Author
	}
	if had.gone = b.Act == earshot.Ended; !had.gone {
		had.Text = fitted(Item{Field: had.Field, Text: b.Text}).Text
	}
	s.moves()
}

// Over reports whether b says that a sense has observed something other than what somebody had
// corrected, so that the correction is over.
func Over(b earshot.Edit) bool { return b.Act == earshot.Ended && b.Source != "" && b.Undoes != "" }

// undo undoes an edit, if it is the last edit of its entry.
func (s *Scene) undo(b earshot.Edit) bool {
	k := slices.IndexFunc(s.edits, func(v Version) bool { return v.Edit.ID == b.Undoes })
	had := s.find(Field(b.Field), b.Item)
	if k < 0 || had == nil || had.Event != b.Undoes {
		return false
	}
	s.edits[k].Undone = true
	defer s.moves()
	if len(had.before) == 0 { // that edit added it
		had.gone = true
		return true
	}
	last := had.before[len(had.before)-1]
	had.before = had.before[:len(had.before)-1]
	had.Item, had.gone = last.Item, last.gone
	if len(had.before) == 0 {
		had.wrong = nil // the sense was right after all
	}
	if had.Event == b.Undoes { // nothing is left but the observation
		s.drop(had.Field, had.ID)
	}
	return true
}

// Use marks the findings on which a reply with the words said has relied. These are findings that
// came from the given events, which means that they were in the reply's prompt, and most of whose
// words are in the reply. v is the visibility of the reply. A finding that more people may see than
// the reply stays unused, because it is still new to them.
func (s *Scene) Use(said earshot.Text, v earshot.Visibility, events ...earshot.EventID) {
	words := make(map[string]bool)
	for _, w := range telling(said) {
		words[w] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.layer(Reasoning)
	for k := range l.entries {
		e := &l.entries[k]
		shown := slices.Contains(events, e.Event) || slices.Contains(events, earshot.EventID(e.ID))
		e.Used = e.Used || shown && v.Reaches(e.Visibility) && repeats(words, e.Text)
	}
}

// repeats reports whether words contains most of the telling words of text.
func repeats(words map[string]bool, text earshot.Text) bool {
	all, n := telling(text), 0
	for _, w := range all {
		if words[w] {
			n++
		}
	}
	return len(all) > 0 && 3*n >= 2*len(all)
}

// telling returns the telling words of text: the longer ones, and the numbers.
func telling(text earshot.Text) (all []string) {
	for w := range strings.FieldsFuncSeq(strings.ToLower(string(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) > 3 || w[0] >= '0' && w[0] <= '9' {
			all = append(all, w)
		}
	}
	return all
}

// Denied reports whether somebody has denied the finding text, in a way that everybody who may see
// something of visibility v may know of.
func (s *Scene) Denied(text earshot.Text, v earshot.Visibility) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.denied(text, v)
}

// denied is [Scene.Denied] for callers that hold the lock.
func (s *Scene) denied(text earshot.Text, v earshot.Visibility) bool {
	return slices.ContainsFunc(s.layer(Reasoning).entries, func(e entry) bool {
		return len(e.before) > 0 && e.Visibility.Reaches(v) && language.SameWords(e.before[0].Text, text)
	})
}

// Versions returns the recent edits that may be seen, the newest first.
func (v View) Versions() (all []Version) {
	v.scene.mu.Lock()
	defer v.scene.mu.Unlock()
	for _, had := range slices.Backward(v.scene.edits) {
		if had.Edit.Visibility.Allows(v.to) {
			all = append(all, had)
		}
	}
	return all
}

// Edits returns the same edits, the oldest first.
func (v View) Edits() (all []earshot.Event) {
	for _, had := range slices.Backward(v.Versions()) {
		all = append(all, had.Edit)
	}
	return all
}

// Find returns the entry with an ID in a field, if it may be seen.
func (v View) Find(f Field, id string) (Item, bool) {
	for _, i := range v.Items(f) {
		if i.ID == id {
			return i, true
		}
	}
	return Item{}, false
}

// Check says why an edit may not be made; nil if it may. The entry must exist, be visible in the
// view, and be unchanged since somebody decided to edit it. Check returns that entry.
func (v View) Check(e earshot.Edit) (Item, error) {
	b, known := bounds[Field(e.Field)]
	if !known {
		return Item{}, fmt.Errorf("there is no such field; the fields are %s", list(Fields()))
	}
	if e.Act == earshot.Undone {
		return v.undoable(e.Undoes)
	}
	if e.Act == earshot.Created || e.Act == earshot.Changed {
		if err := wording(e.Text, min(b.each, mostText)); err != nil {
			return Item{}, err
		}
	}
	if e.Act == earshot.Created {
		return Item{}, nil
	}
	had, ok := v.Find(Field(e.Field), e.Item)
	switch {
	case !ok:
		return Item{}, errors.New("that entry no longer exists; look at the current entries, and add one if it is needed")
	case had.Text != e.Was:
		return had, errors.New("that entry has changed in the meantime; read it again, and then change it")
	case e.Act == earshot.Changed && had.Text == e.Text:
		return had, errors.New("that is what it says already")
	}
	return had, nil
}

// wording says why text cannot be the text of an entry; nil if it can.
func wording(text earshot.Text, most int) error {
	switch {
	case strings.TrimSpace(string(text)) == "":
		return errors.New("the text is empty; write something, or remove the entry")
	case len(text) > most:
		return fmt.Errorf("the text has %d bytes; at most %d: say it in fewer words", len(text), most)
	}
	return nil
}

// undoable returns the entry that an edit changed, if the edit can be undone: only the last edit of
// an entry can.
func (v View) undoable(id earshot.EventID) (Item, error) {
	all := v.Versions()
	k := slices.IndexFunc(all, func(had Version) bool { return had.Edit.ID == id })
	if k < 0 {
		return Item{}, errors.New("there is no such change; list the changes to see them")
	}
	b := all[k].Edit.Body.(earshot.Edit)
	v.scene.mu.Lock()
	defer v.scene.mu.Unlock()
	had := v.scene.find(Field(b.Field), b.Item)
	switch {
	case b.Act == earshot.Created && had == nil:
		had = v.scene.find(Field(b.Field), string(id))
	case b.Act == earshot.Undone || Over(b):
		return Item{}, errors.New("that change is itself an undo, or ended the entry; make the change again instead")
	}
	switch {
	case all[k].Undone:
		return Item{}, errors.New("that change was taken back already")
	case had == nil:
		return Item{}, errors.New("the changed entry is no longer part of what I know")
	case had.Event != id:
		return Item{}, errors.New("that entry has been changed again since; take back the later change first")
	}
	return had.Item, nil
}

// list returns the names of some fields as a readable list.
func list(fields []Field) string {
	var names []string
	for _, f := range fields {
		names = append(names, string(f))
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// Wrote returns the part of the program, such as a sense, that wrote what an edit corrects or
// removes. It is empty if somebody's own words are edited, or nothing is there.
func (s *Scene) Wrote(b earshot.Edit) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := s.find(Field(b.Field), b.Item)
	switch {
	case b.Act != earshot.Changed && b.Act != earshot.Ended || Over(b):
		return ""
	case had == nil:
		return b.Source
	case had.By != "" && !had.Aloud || len(had.before) > 0:
		return ""
	}
	return had.Source
}

// A Refutation is a finding that somebody has removed or replaced.
type Refutation struct {
	Finding    earshot.Text
	Instead    earshot.Text // empty if nothing replaces it
	Name       string       // of the person who refuted it
	Event      earshot.EventID
	Visibility earshot.Visibility
}

// Refuted returns the findings that somebody has refuted, that may be seen, and that would not be
// stale at now.
func (v View) Refuted(now time.Time) (all []Refutation) {
	var by []earshot.ParticipantID
	v.scene.mu.Lock()
	for _, e := range v.scene.layer(Reasoning).entries {
		if len(e.before) == 0 || !v.shows(e.Item) || e.Stale(now) {
			continue
		}
		r := Refutation{Finding: e.before[0].Text, Event: e.Event, Visibility: e.Visibility}
		if !e.gone {
			r.Instead = e.Text
		}
		all, by = append(all, r), append(by, e.By)
	}
	v.scene.mu.Unlock()
	for k := range all {
		all[k].Name = v.scene.called(by[k])
	}
	return all
}
