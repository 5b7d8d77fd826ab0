package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/participants"
	"earshot/store"
)

// A past is what happened in a house over a long time, made up, and the same each
// time. Its words are as common as words are: the first is in two sentences of three,
// and most are rare (Zipf's law, exponent 1). Somebody writes or says something in one
// of some rooms, which an agent decides about and may answer; one message in fifty is
// between two people, and one in a thousand is in a room where little is said.
type past struct {
	random *rand.Rand
	words  []string
	common []float64 // the sum of how common the words so far are
	at     time.Time
	n      uint64 // events so far
}

const (
	vocabulary = 60_000
	minute     = 30 * time.Second // between two who speak, on average
)

// The rooms of a past, the one where most is said first.
var pastRooms = []earshot.RoomID{earshot.Desk, "kitchen", "workshop", "garden"}

// quiet is the room of a past where little is said.
const quietRoom earshot.RoomID = "attic"

// pastPeople are those who speak in it.
var pastPeople = []earshot.ParticipantID{participants.Owner, "ben", "cleo", "dora", "emil", "fay", "gus", "hana"}

// rareWords are said every so many messages, so that it is known how many there are.
var rareWords = []struct {
	word  string
	every uint64
}{
	{"chrysanthemum", 250_000}, // rare
	{"Überraschung", 50_000},   // accents and capitals
	{"潮汐表", 50_000},            // no spaces between words
}

// privateWord is in each message between two, and in no other.
const privateWord = "zugzwang"

// nowhereWord is as long, begins as it does, and is in none.
const nowhereWord = "zugzwong"

// newPast returns a past that begins two years ago.
func newPast(seed uint64) *past {
	p := &past{random: rand.New(rand.NewPCG(seed, 11)), at: time.Now().Add(-2 * 365 * 24 * time.Hour).Truncate(time.Second)}
	syllables := strings.Fields("ba be bi bo bu da de di do du fa fe fi ga go ka ke ki ko la le li lo lu ma me mi mo mu na ne ni no nu pa pe po ra re ri ro ru sa se si so su ta te ti to tu va ve vi wa we za ze zo")
	seen := map[string]bool{}
	names := rand.New(rand.NewPCG(1, 1)) // the words are the same whatever is said
	for len(p.words) < vocabulary {
		word := ""
		for range 2 + names.IntN(3) {
			word += syllables[names.IntN(len(syllables))]
		}
		if !seen[word] {
			seen[word] = true
			p.words = append(p.words, word)
		}
	}
	sum := 0.0
	for i := range p.words {
		sum += 1 / float64(i+1)
		p.common = append(p.common, sum)
	}
	return p
}

// word returns one of them, a common one more often.
func (p *past) word() string {
	at := p.random.Float64() * p.common[len(p.common)-1]
	i, _ := slices.BinarySearch(p.common, at)
	return p.words[i]
}

// sentence returns what somebody says.
func (p *past) sentence() earshot.Text {
	words := make([]string, 3+int(p.random.ExpFloat64()*10))
	for i := range words {
		words[i] = p.word()
	}
	for _, r := range rareWords {
		if p.n%r.every < 3 { // of an exchange one event is a sentence
			words = append(words, r.word)
		}
	}
	return earshot.Text(strings.Join(words, " ") + ".")
}

func (p *past) id() earshot.EventID {
	p.n++
	return earshot.EventID(fmt.Sprintf("01PAST%020d", p.n))
}

// exchange returns what somebody says, what is decided about it, and the answer if
// there is one.
func (p *past) exchange() []earshot.Event {
	p.at = p.at.Add(time.Duration(p.random.ExpFloat64() * float64(minute))).Truncate(time.Millisecond)
	where := pastRooms[min(int(p.random.ExpFloat64()/math.Ln2), len(pastRooms)-1)]
	if p.random.IntN(1000) == 0 {
		where = quietRoom
	}
	who := pastPeople[p.random.IntN(len(pastPeople))]
	visible := earshot.Visibility{Scope: earshot.Public}
	if p.random.IntN(50) == 0 {
		visible = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{who, participants.Agent}}
	}
	text := p.sentence()
	if len(visible.Members) > 0 {
		text += " " + privateWord
	}
	said := earshot.Event{ID: p.id(), At: p.at, Room: where, From: earshot.Handle{Provider: "console", ID: string(who)}, Author: who, Visibility: visible,
		Body: earshot.Message{Text: text}}
	if p.random.IntN(3) == 0 {
		said.From = earshot.Handle{Provider: "voice", ID: string(who)}
		said.Body = earshot.Utterance{Text: text, Confidence: 0.9, Lasted: 2 * time.Second, Speaker: said.From, Sure: 0.95}
	}
	turn := earshot.TurnID("turn" + string(said.ID))
	decision := earshot.Decision{About: said.ID, Agent: participants.Agent, Verdict: earshot.Silent, Reasons: []string{"not addressed"}}
	answered := p.random.IntN(5) < 2
	if answered {
		decision = earshot.Decision{About: said.ID, Agent: participants.Agent, Verdict: earshot.Speak, Reasons: []string{"addressed"}, Turn: turn}
	}
	by := func(after time.Duration, body earshot.Body) earshot.Event {
		return earshot.Event{ID: p.id(), At: p.at.Add(after), Room: where, Author: participants.Agent, Visibility: visible, Sources: []earshot.EventID{said.ID}, Body: body}
	}
	all := []earshot.Event{said, by(0, decision)}
	if answered {
		text := p.sentence() + " " + p.sentence()
		all = append(all, by(3*time.Second, earshot.Reply{Turn: turn, About: said.ID, Outcome: earshot.Completed, Offered: text,
			Heard: []earshot.Delivery{{Outlet: "console", Bytes: len(text)}}}))
	}
	return all
}

// until yields exchanges until so many sentences were said.
func (p *past) until(sentences int) iter.Seq[[]earshot.Event] {
	return func(yield func([]earshot.Event) bool) {
		for n := 0; n < sentences; {
			all := p.exchange()
			n += len(all) - 1 // the decision is none
			if !yield(all) {
				return
			}
		}
	}
}

// grown returns the directory of a journal in which so many sentences were said, which
// whoever asks may change. It is made once, which takes a minute for each 100,000, and
// copied from then on; where it is kept the next run has it too.
func (b bench) grown(ctx context.Context, sentences int) (string, error) {
	kept := filepath.Join(b.kept, fmt.Sprintf("past-%d", sentences))
	if b.kept == "" {
		kept = filepath.Join(b.dir, filepath.Base(kept))
	}
	if _, err := os.Stat(kept); errors.Is(err, os.ErrNotExist) {
		if err := grow(ctx, kept+".new", sentences); err != nil {
			return "", errors.Join(err, os.RemoveAll(kept+".new"))
		}
		if err := os.Rename(kept+".new", kept); err != nil {
			return "", err
		}
	}
	if err := refresh(ctx, kept); err != nil {
		return "", err
	}
	copied, err := os.MkdirTemp(b.dir, "past-")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"earshot.db", "lock"} {
		if err := copyFile(filepath.Join(kept, name), filepath.Join(copied, name)); err != nil {
			return "", err
		}
	}
	return copied, nil
}

// refresh brings a journal that was kept by an earlier program up to date.
func refresh(ctx context.Context, directory string) error {
	s, err := store.Open(ctx, store.Config{Directory: directory, Log: silent})
	if err != nil {
		return err
	}
	return s.Close()
}

// grow makes a journal in which so many sentences were said.
func grow(ctx context.Context, directory string, sentences int) error {
	if err := os.RemoveAll(directory); err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Config{Directory: directory, Log: silent})
	if err != nil {
		return err
	}
	var batch []earshot.Event
	for all := range newPast(1).until(sentences) {
		if batch = append(batch, all...); len(batch) < 5_000 {
			continue
		}
		if _, err := s.Append(ctx, batch...); err != nil {
			return errors.Join(err, s.Close())
		}
		batch = batch[:0]
	}
	_, err = s.Append(ctx, batch...)
	return errors.Join(err, s.Close())
}

// copyFile copies a file, for its owner alone.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
