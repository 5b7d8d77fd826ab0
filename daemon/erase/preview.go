package erase

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/record"
	"earshot/internal/english"
	"earshot/participants"
	"earshot/speakers"
	"earshot/store"
)

// A plan is what would be forgotten, with the request for it.
type plan struct {
	api.ErasePreview
	request Request
}

// mostReplies is how many replies to others are listed.
const mostReplies = 10

// Preview returns what would be forgotten by f. By is the person who asks.
func (o *Eraser) Preview(ctx context.Context, by participants.Participant, f api.EraseRequest) (api.ErasePreview, error) {
	p, err := o.plan(ctx, by, f)
	if err != nil {
		return api.ErasePreview{}, err
	}
	return p.ErasePreview, nil
}

// plan returns what would be forgotten, and the request for it.
func (o *Eraser) plan(ctx context.Context, by participants.Participant, f api.EraseRequest) (*plan, error) {
	p := &plan{request: Request{At: time.Now(), ID: o.NewID()}}
	if err := o.interpret(ctx, by, f, p); err != nil {
		return nil, err
	}
	last, err := o.last(ctx)
	if err != nil {
		return nil, err
	}
	all, err := o.Store.Select(ctx, p.request.Selection)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(d store.SelectedEvent) bool { return d.Sequence > last }) // it came after the preview
	p.Digest = p.digest(all, last)
	p.request.Selection.Until = last
	o.count(p, all)
	if err := o.addReplies(ctx, by, p, all); err != nil {
		return nil, err
	}
	if p.Files, err = o.Files.Touched(contains(all)); err != nil {
		return nil, err
	}
	for _, path := range o.filesAside(p) {
		p.Aside = append(p.Aside, filepath.Base(path))
	}
	p.Stays = o.listRemains(p)
	return p, nil
}

// interpret translates f into a selection, if by may have that forgotten.
func (o *Eraser) interpret(ctx context.Context, by participants.Participant, f api.EraseRequest, p *plan) error {
	sel := store.Selection{Events: f.Events, Room: f.Room, From: f.From, To: f.To}
	operates := by.Can(participants.Operate)
	if f.Who == "" && !operates {
		f.Who = "me"
	}
	if err := o.findPerson(by, f.Who, &sel); err != nil {
		return err
	}
	own := len(sel.People) > 0 && slices.Contains(sel.People, by.ID)
	switch {
	case !operates && (by.ID == "" || participants.Unnamed(by.ID) || by.Voice()):
		return errors.New("a voice alone is not enough to have something forgotten\n  → say who you are, with --identity NAME; or ask an operator of this earshot")
	case !operates && !own:
		return errors.New("what others said can be forgotten only by them or by an operator of this earshot\n  → ask them")
	case len(sel.People) == 0 && sel.Handle == (earshot.Handle{}) && len(sel.Events) == 0 && sel.Room == "" && sel.From.IsZero() && sel.To.IsZero() && !f.Everything:
		return errors.New("say what to forget: a person, a time, a room, an ID, or everything")
	case !sel.From.IsZero() && !sel.To.IsZero() && !sel.From.Before(sel.To):
		return errors.New("that time span ends before it begins")
	}
	if operates && !own {
		p.request.By = by.ID
	}
	var err error
	if sel.Agents, err = column[earshot.ParticipantID](ctx, o.Store, "SELECT id FROM agents"); err != nil { // former ones too
		return err
	}
	p.Of = o.describe(f, sel)
	p.request.Selection = sel
	if sel.Whole() {
		p.request.Voices = o.voicesOf(sel.People)
		p.Voices = len(p.request.Voices)
		p.Person = o.becomes(sel.People)
	}
	return nil
}

// findPerson records in sel the person that a word means.
func (o *Eraser) findPerson(by participants.Participant, word string, sel *store.Selection) error {
	who := by
	switch provider, id, isHandle := strings.Cut(word, ":"); {
	case word == "":
		return nil
	case strings.EqualFold(word, "me"):
		if by.ID == "" {
			return errors.New("earshot does not know who you are, so it knows of nothing that is yours")
		}
	default:
		found, known := o.People.Find(word)
		if !known {
			found, known = o.People.Get(earshot.ParticipantID(word))
		}
		if !known && isHandle {
			h := earshot.Handle{Provider: provider, ID: id}
			if found = o.People.Resolve(h); found.ID == "" {
				sel.Handle = h // a handle without a known person
				return nil
			}
			known = true
		}
		if !known {
			return fmt.Errorf("nobody is called %s\n  → see: earshot who; or give an ID, or a handle such as discord:80351110224678912", participants.OneLine(word))
		}
		who = found
	}
	if who.Type == participants.Internal {
		return fmt.Errorf("%s is an agent, not a person; what it said is forgotten with what it answered\n  → to end the agent: earshot agents end", who.Name)
	}
	sel.People = o.People.Identities(who.ID)
	return nil
}

// last returns the last sequence of the journal.
func (o *Eraser) last(ctx context.Context) (n int64, err error) {
	err = o.Store.Look(ctx, func(v earshot.View) error {
		return v.QueryRowContext(ctx, "SELECT coalesce(max(sequence), 0) FROM journal").Scan(&n)
	})
	return n, err
}

// voicesOf returns the voices that belong to somebody.
func (o *Eraser) voicesOf(people []earshot.ParticipantID) (all []earshot.Handle) {
	for _, s := range o.Voices.Known() {
		if slices.Contains(people, s.Who) || slices.Contains(people, o.People.Resolve(s.Handle).Reader()) {
			all = append(all, s.Handle)
		}
	}
	return all
}

// becomes says what happens to a person who is forgotten.
func (o *Eraser) becomes(people []earshot.ParticipantID) string {
	p, known := o.People.Get(people[0])
	switch {
	case !known:
		return ""
	case o.People.Declared(p.ID):
		return p.Name + " is in the configuration or is the owner of this account, and stays known as such"
	case p.Arrived():
		return p.Name + " is known by a provider, and counts as somebody new when something arrives from there again"
	case len(o.People.Sessions(p.ID)) > 0:
		return p.Name + " keeps that name until their last terminal has left, and what is said until then is kept; afterwards nobody has that name"
	}
	return "nobody is called " + p.Name + " any more"
}

func (o *Eraser) describe(f api.EraseRequest, sel store.Selection) string {
	var b strings.Builder
	switch {
	case len(sel.Events) > 0:
		b.WriteString(english.Count(len(sel.Events), "event"))
	case f.Everything && len(sel.People) == 0:
		b.WriteString("everything")
	case len(sel.People) == 0 && sel.Handle.ID == "":
		b.WriteString("all that happened")
	default:
		b.WriteString("what is known")
	}
	switch {
	case len(sel.People) > 0:
		b.WriteString(" of " + o.People.Name(sel.People[0]))
	case sel.Handle.ID != "":
		b.WriteString(" of " + participants.OneLine(sel.Handle.String()))
	}
	if sel.Room != "" {
		b.WriteString(" in the room " + o.roomName(sel.Room))
	}
	if !sel.From.IsZero() {
		b.WriteString(" from " + english.When(sel.From) + " on")
	}
	if !sel.To.IsZero() {
		b.WriteString(" until " + english.When(sel.To))
	}
	return b.String()
}

func (o *Eraser) roomName(id earshot.RoomID) string {
	if r, ok := o.find(id); ok {
		return cmp.Or(r.Name, string(id))
	}
	return string(id)
}

// count counts what would go.
func (o *Eraser) count(p *plan, all []store.SelectedEvent) {
	p.Events, p.Kinds, p.Rooms, p.request.Rooms = len(all), make(map[earshot.Kind]int), make(map[string]int), make(map[earshot.RoomID]int)
	for _, d := range all {
		p.Kinds[d.Kind]++
		p.Rooms[o.roomName(d.Room)]++
		p.request.Rooms[d.Room]++
		if p.From.IsZero() || d.At.Before(p.From) {
			p.From = d.At
		}
		if d.At.After(p.To) {
			p.To = d.At
		}
	}
}

// addReplies lists the replies to others that would go. A person who is not an operator is told of
// none that they may not see.
func (o *Eraser) addReplies(ctx context.Context, by participants.Participant, p *plan, all []store.SelectedEvent) error {
	people := p.request.Selection.People
	goes := contains(all)
	for _, d := range all {
		if d.Kind != earshot.KindReply || !d.Derived || d.About == "" || goes(d.About) {
			continue
		}
		asked, known, err := o.Store.Event(ctx, d.Room, d.About)
		if err != nil {
			return err
		}
		if known && slices.Contains(people, asked.Author) {
			continue
		}
		p.Others++
		if len(p.Replies) == mostReplies {
			continue
		}
		e, known, err := o.Store.Event(ctx, d.Room, d.ID)
		if err != nil {
			return err
		}
		if known && (by.Can(participants.Operate) || e.Visibility.Allows(earshot.Audience{Room: d.Room, Members: []earshot.ParticipantID{by.Reader()}})) {
			p.Replies = append(p.Replies, api.ReplyInfo{At: d.At, Room: o.roomName(d.Room), By: o.People.Name(d.Author), To: o.People.Name(asked.Author)})
		}
	}
	return nil
}

// filesAside returns the files that were set aside and go as a whole.
func (o *Eraser) filesAside(p *plan) []string {
	all := store.Aside(o.Dir)
	if p.request.Selection.Whole() {
		all = append(all, speakers.Aside(o.Dir)...)
	}
	return all
}

// listRemains lists what cannot be reached.
func (o *Eraser) listRemains(p *plan) []string {
	all := []string{
		"copies that somebody made: exports, backups, printouts, the window of a terminal; a backup that is restored over this journal forgets it again, one that is restored elsewhere brings it back",
		"what the model server keeps in its memory for now",
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(p.request.Rooms)), o.OnDiscord) {
		all = append(all, "what is posted on Discord, where its author must delete it")
	}
	if p.request.Selection.Whole() {
		all = append(all, "the fact that this person asked not to be heard, if they did, which is stored as a number")
	}
	if p.Files > 0 || len(p.Kinds) > 0 && p.Kinds[earshot.KindUse] > 0 {
		all = append(all, "files of agents that were written before earshot recorded their sources, or were changed by hand")
	}
	return all
}

// contains returns a function that reports whether an event is in a set.
func contains(all []store.SelectedEvent) func(earshot.EventID) bool {
	ids := make([]earshot.EventID, len(all))
	for i, d := range all {
		ids[i] = d.ID
	}
	return record.Among(ids)
}

// digest returns the digest of what would go, up to a sequence.
func (p *plan) digest(all []store.SelectedEvent, last int64) string {
	sum := sha256.New()
	sel := p.request.Selection
	sel.Until, sel.Agents = 0, nil
	_ = json.NewEncoder(sum).Encode(sel) // it holds numbers and names, and cannot fail
	for _, d := range slices.SortedFunc(slices.Values(all), func(a, b store.SelectedEvent) int { return cmp.Compare(a.Sequence, b.Sequence) }) {
		fmt.Fprintf(sum, "%d ", d.Sequence)
	}
	fmt.Fprint(sum, p.request.Voices)
	return strconv.FormatInt(last, 36) + "-" + hex.EncodeToString(sum.Sum(nil)[:4])
}

// upTo returns the sequence up to which a preview reached.
func upTo(digest string) (int64, error) {
	text, _, ok := strings.Cut(digest, "-")
	n, err := strconv.ParseInt(text, 36, 64)
	if !ok || err != nil {
		return 0, errors.New("the digest is not one of a preview; first ask what would be forgotten")
	}
	return n, nil
}
