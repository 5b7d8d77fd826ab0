package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/daemon/erase"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/internal/english"
	"earshot/internal/terminal"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/server"
	"earshot/server/token"
	"earshot/speakers"
	"earshot/store"
)

type forgetCommand struct {
	identityFlags
	Who        string   `arg:"" optional:"" help:"Who: me, a name, an ID, or a handle such as discord:80351110224678912; everybody by default."`
	ID         []string `name:"id" help:"Only these events, as --json shows them." placeholder:"ID"`
	Since      string   `help:"Only what happened since: 10:00, 2h, 3d, 2027-01-31, or date and time separated by a space." placeholder:"WHEN"`
	Until      string   `help:"Only what happened before then." placeholder:"WHEN"`
	In         string   `help:"Only what happened in this room." placeholder:"ROOM"`
	Everything bool     `help:"Everything that ever happened."`
	DryRun     bool     `help:"Only show what would be forgotten."`
	Yes        bool     `help:"Do not ask for confirmation."`
	JSON       bool     `help:"Print it as JSON."`
}

// Run says what would be forgotten, asks, and forgets it: through the earshot that runs or,
// where none does, in the files themselves.
func (c forgetCommand) Run(a *app) error {
	f, err := c.asks(time.Now())
	if err != nil {
		return &verdict{misused, err}
	}
	cfg, err := a.asking()
	if err != nil {
		return err
	}
	client, _, err := a.visit(cfg, c.identityFlags, "", a.enterAs(""))
	switch {
	case errors.Is(err, server.ErrNotRunning):
		if cfg, err = a.config(); err != nil {
			return err
		}
		return a.write(func(s *store.Store) error { return c.here(a, cfg, s, f) })
	case err != nil:
		return err
	}
	return c.with(a, f, func(f api.EraseRequest) (api.ErasePreview, error) { return client.Forget(a.ctx, f) })
}

// asks returns what is asked for.
func (c forgetCommand) asks(now time.Time) (f api.EraseRequest, err error) {
	f = api.EraseRequest{Who: c.Who, Room: earshot.RoomID(c.In), Everything: c.Everything}
	for _, id := range c.ID {
		f.Events = append(f.Events, earshot.EventID(id))
	}
	if f.From, err = bygone(c.Since, now); err != nil {
		return f, err
	}
	f.To, err = bygone(c.Until, now)
	return f, err
}

// here forgets in the files that no earshot holds.
func (c forgetCommand) here(a *app, cfg *config.Config, s *store.Store, f api.EraseRequest) error {
	book, err := agents.Read(a.ctx, s)
	if err != nil {
		return err
	}
	h, err := a.desk(cfg, c.identityFlags, book, s.For)
	if err != nil {
		return err
	}
	voices, err := speakers.Open(cfg.Store.Directory, cfg.Speakers)
	if err != nil {
		return err
	}
	o := &erase.Eraser{
		Dir: cfg.Store.Directory, Store: s, People: h.people, Voices: voices, Files: workspaces(cfg), Tokens: token.In(cfg.Store.Directory), NewID: identifiers(), Log: quietly,
		ForgetPosts: func(turns map[earshot.TurnID]bool) error {
			return openSayings(cfg.Store.Directory, quietly).forget(turns)
		},
		ForgetName: forgetIdentity, OnDiscord: access.IsChannel,
	}
	if err := o.Finish(a.ctx); err != nil {
		return err
	}
	return c.with(a, f, func(f api.EraseRequest) (api.ErasePreview, error) {
		if f.Digest == "" {
			return o.Preview(a.ctx, h.who, f)
		}
		p, err := o.Erase(a.ctx, h.who, f)
		if err == nil {
			err = o.Clean(a.ctx)
		}
		return p, err
	})
}

// with shows what would be forgotten, asks, and has it forgotten.
func (c forgetCommand) with(a *app, f api.EraseRequest, forget func(api.EraseRequest) (api.ErasePreview, error)) error {
	p, err := forget(f)
	if err != nil {
		return err
	}
	switch {
	case !c.JSON:
		fmt.Fprintln(a.printed(), terminal.Safe(previewText(p)))
	case c.DryRun || isEmpty(p):
		if err := a.json(p); err != nil {
			return err
		}
	}
	switch {
	case isEmpty(p):
		return &verdict{code: notFound}
	case c.DryRun:
		return nil
	case !c.Yes:
		if err := a.agrees("It cannot be undone. Forget that?", "--yes"); err != nil {
			return err
		}
	}
	f.Digest = p.Digest
	if p, err = forget(f); err != nil {
		return err
	}
	if c.JSON {
		return a.json(p)
	}
	_, err = fmt.Fprintln(a.printed(), terminal.Safe(erasedText(p)))
	return err
}

// isEmpty reports whether there is nothing to forget.
func isEmpty(p api.ErasePreview) bool {
	return p.Events == 0 && p.Voices == 0 && p.Files == 0 && p.Person == ""
}

// previewText tells people what would be forgotten.
func previewText(p api.ErasePreview) string {
	if isEmpty(p) {
		return "There is nothing to forget: " + p.Of + "."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "To be forgotten: %s.\n", p.Of)
	fmt.Fprintf(&b, "  %s", english.Count(p.Events, "event"))
	if p.Events > 0 {
		fmt.Fprintf(&b, ", from %s to %s: %s\n", english.When(p.From), english.When(p.To), tally(p.Kinds))
		fmt.Fprintf(&b, "  in %s", places(p.Rooms))
	}
	b.WriteString("\n")
	if p.Others > 0 {
		fmt.Fprintf(&b, "  of these %s to others, because they were made from it\n", english.Plural(p.Others, "reply", "replies"))
		for _, r := range p.Replies {
			fmt.Fprintf(&b, "    %s  %s to %s, in %s\n", english.When(r.At), r.By, r.To, r.Room)
		}
	}
	if p.Voices > 0 {
		fmt.Fprintf(&b, "  %s\n", english.Plural(p.Voices, "print of a voice", "prints of voices"))
	}
	if p.Files > 0 {
		fmt.Fprintf(&b, "  what was made from it in %s of agents\n", english.Count(p.Files, "file"))
	}
	if len(p.Aside) > 0 {
		fmt.Fprintf(&b, "  as a whole, with what others said: %s, set aside when it was damaged or replaced\n", strings.Join(p.Aside, ", "))
	}
	if p.Person != "" {
		fmt.Fprintf(&b, "  %s\n", p.Person)
	}
	b.WriteString("It does not reach:\n")
	for _, s := range p.Stays {
		fmt.Fprintf(&b, "  - %s\n", s)
	}
	return strings.TrimRight(b.String(), "\n")
}

// erasedText tells people what was forgotten.
func erasedText(p api.ErasePreview) string {
	text := "Forgotten: " + english.Count(p.Events, "event") + "."
	if p.Since > 0 {
		text += fmt.Sprintf(" %d of them were added after it was shown.", p.Since)
	}
	return text
}

// tally says how many there are of each kind, most first.
func tally(kinds map[earshot.Kind]int) string {
	all := slices.SortedFunc(maps.Keys(kinds), func(a, b earshot.Kind) int { return cmp.Or(cmp.Compare(kinds[b], kinds[a]), cmp.Compare(a, b)) })
	var words []string
	for _, k := range all {
		words = append(words, english.Plural(kinds[k], string(k), many(k)))
	}
	return strings.Join(words, ", ")
}

// many returns what several of a kind are called.
func many(k earshot.Kind) string {
	switch k {
	case earshot.KindReply:
		return "replies"
	case earshot.KindWhose, earshot.KindErased, earshot.KindForgotten: // which are no nouns
		return string(k)
	}
	return string(k) + "s"
}

// places says how much happened in each room.
func places(rooms map[string]int) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		words = append(words, fmt.Sprintf("%s (%d)", name, rooms[name]))
	}
	return strings.Join(words, ", ")
}

// bygone returns the time that people mean by a text: 10:00 is the last time that it was
// that, 2h and 3d so long ago. The zero time is that of no text.
func bygone(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}, nil
	}
	if n, is := strings.CutSuffix(text, "d"); is {
		if days, err := strconv.Atoi(n); err == nil && days > 0 && days < 100_000 {
			return now.AddDate(0, 0, -days), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		at, err := time.ParseInLocation(layout, text, now.Location())
		if err != nil {
			continue
		}
		today := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), at.Second(), 0, now.Location())
		if today.After(now) {
			today = time.Date(now.Year(), now.Month(), now.Day()-1, at.Hour(), at.Minute(), at.Second(), 0, now.Location())
		}
		return today, nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time; write 10:00, 2h, 3d, 2027-01-31 or \"2027-01-31 10:00\"", participants.OneLine(text))
}

// Forget implements [server.Admin].
func (h backend) Forget(ctx context.Context, by server.Principal, f api.EraseRequest) (api.ErasePreview, error) {
	if f.Digest == "" {
		return h.daemon.eraser.Preview(ctx, by.Participant, f)
	}
	p, err := h.daemon.eraser.Erase(ctx, by.Participant, f)
	if err == nil {
		err = h.daemon.eraser.Clean(ctx)
	}
	return p, err
}

const (
	// meant is how long somebody has to say that they mean what was shown.
	meant = 10 * time.Minute

	// mostMeant is how many of these are waited for.
	mostMeant = 64
)

// Previews are what people were shown that would be forgotten, by the word that says that it is
// meant.
type previews struct {
	mu  sync.Mutex
	all map[string]meaning
}

// A meaning is what somebody was shown.
type meaning struct {
	by    earshot.ParticipantID
	at    time.Time
	asked api.EraseRequest
}

// waits notes what somebody was shown, and returns the word that says that it is meant.
func (s *previews) waits(by earshot.ParticipantID, f api.EraseRequest, digest string, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.all, func(_ string, m meaning) bool { return now.Sub(m.at) > meant || m.by == by })
	if s.all == nil || len(s.all) >= mostMeant {
		s.all = make(map[string]meaning)
	}
	_, word, _ := strings.Cut(digest, "-")
	f.Digest = digest
	s.all[word] = meaning{by, now, f}
	return word
}

// take returns what somebody means by a word.
func (s *previews) take(by earshot.ParticipantID, word string, now time.Time) (api.EraseRequest, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.all[word]
	if !ok || m.by != by || now.Sub(m.at) > meant {
		return api.EraseRequest{}, false
	}
	delete(s.all, word)
	return m.asked, true
}

const forgetForms = "/forget me | last | NAME | ID | since 10:00 | from 10:00 to 11:00, each with: here, or everywhere"

// forgetting is the command of a room that forgets.
func (d *daemon) forgetting(is executive.Room) command.Table {
	return command.Table{{
		Group: "What is kept", Name: "forget", Args: "me | last | …", Help: "forget what you said, or a time span; shows first what would go",
		Do: func(ctx context.Context, c command.Call) (string, error) { return d.forgets(ctx, is, c) },
	}}
}

// forgets answers /forget.
func (d *daemon) forgets(ctx context.Context, is executive.Room, c command.Call) (string, error) {
	words := strings.Fields(string(c.Args))
	now := time.Now()
	switch {
	case len(words) == 0:
		return "Write " + forgetForms + ". It first shows what would be forgotten.", nil
	case strings.EqualFold(words[0], "yes"):
		f, ok := d.shown.take(c.By.ID, strings.ToLower(strings.Join(words[1:], "")), now)
		if !ok {
			return "", errors.New("there is nothing to confirm: nothing was shown to you recently; write /forget and what, to see what would go")
		}
		p, err := d.eraser.Erase(ctx, c.By, f)
		if err != nil {
			return "", err
		}
		return erasedText(p) + " The last traces will be gone from the files in a moment.", nil
	}
	f, err := d.meant(ctx, is, c, words, now)
	if err != nil {
		return "", err
	}
	p, err := d.eraser.Preview(ctx, c.By, f)
	if err != nil {
		return "", err
	}
	if isEmpty(p) {
		return previewText(p), nil
	}
	return previewText(p) + "\nIt cannot be undone. If you mean it, write /forget yes " + d.shown.waits(c.By.ID, f, p.Digest, now), nil
}

// meant returns what somebody asks for in words.
func (d *daemon) meant(ctx context.Context, is executive.Room, c command.Call, words []string, now time.Time) (f api.EraseRequest, err error) {
	text := strings.Join(words, " ")
	for _, where := range []string{"here", "everywhere"} {
		if rest, ok := strings.CutSuffix(" "+text, " "+where); ok {
			text = strings.TrimSpace(rest)
			if where == "here" {
				f.Room = is.ID
			}
			break
		}
	}
	text, from, to := spanIn(text)
	if f.From, err = bygone(from, now); err != nil {
		return f, err
	}
	if f.To, err = bygone(to, now); err != nil {
		return f, err
	}
	text = strings.Trim(text, `"`)
	switch {
	case text == "everything":
		f.Everything = true
	case text == "last":
		f.Who = "me"
		last, err := d.lastOf(ctx, is.ID, c.By)
		f.Events = []earshot.EventID{last}
		return f, err
	case text == "" && f.From.IsZero() && f.To.IsZero() && f.Room == "":
		return f, errors.New("write " + forgetForms)
	case text == "":
		if f.Room == "" && !strings.HasSuffix(strings.Join(words, " "), "everywhere") { // of a time, what happened before their eyes
			f.Room = is.ID
		}
	case d.isEvent(ctx, is.ID, text):
		f.Events = []earshot.EventID{earshot.EventID(text)}
	default:
		f.Who = text
	}
	return f, nil
}

// spanIn takes a span of time out of a text.
func spanIn(text string) (rest, from, to string) {
	padded := " " + text + " "
	for _, word := range []string{" since ", " from "} {
		if before, after, ok := strings.Cut(padded, word); ok {
			from, to, _ = strings.Cut(after, " to ")
			return strings.TrimSpace(before), strings.TrimSpace(from), strings.TrimSpace(to)
		}
	}
	if before, after, ok := strings.Cut(padded, " until "); ok {
		return strings.TrimSpace(before), "", strings.TrimSpace(after)
	}
	return text, "", ""
}

// isEvent reports whether an event of a room has an ID.
func (d *daemon) isEvent(ctx context.Context, in earshot.RoomID, id string) bool {
	_, known, err := d.store.Event(ctx, in, earshot.EventID(id))
	return err == nil && known
}

// lastOf returns what somebody wrote or said last in a room.
func (d *daemon) lastOf(ctx context.Context, in earshot.RoomID, who participants.Participant) (earshot.EventID, error) {
	people := d.people.Identities(who.ID)
	all, err := d.store.For(earshot.Audience{Room: in, Members: []earshot.ParticipantID{who.Reader()}}).Last(ctx, []earshot.Kind{earshot.KindMessage, earshot.KindUtterance}, recall)
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(all) {
		if slices.Contains(people, e.Author) {
			return e.ID, nil
		}
	}
	return "", errors.New("you have said nothing here recently")
}
