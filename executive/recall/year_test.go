package recall

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/store"
)

// A theme is something that people say, and how it is asked for in other words.
type theme struct {
	said    string // with a place for what it is about
	near    string // a question with some of its words
	far     string // a question with none but what it is about: held out
	queries string // what a model that knows the language might search for
}

var themes = []theme{
	{"my sister in %s is getting married in spring", "whose sister in %s is getting married?", "is there a wedding coming up near %s?", "married %s"},
	{"the dentist in %s pulled my tooth", "who went to the dentist in %s?", "who had teeth trouble around %s?", "dentist %s"},
	{"I sold the old car to a man from %s", "who sold a car to somebody from %s?", "who got rid of a vehicle, with a buyer of %s?", "sold car %s"},
	{"our train to %s was cancelled because of snow", "whose train to %s was cancelled?", "who was stuck in winter weather on the way to %s?", "train snow %s"},
	{"I start a new job at the bakery in %s", "who starts a job at a bakery in %s?", "who found work making bread at %s?", "job bakery %s"},
	{"we bought a house with a garden in %s", "who bought a house in %s?", "who owns property over at %s now?", "house garden %s"},
	{"my dog ran away in the woods of %s", "whose dog ran away in %s?", "whose pet got lost close to %s?", "dog ran %s"},
	{"I broke my leg skiing above %s", "who broke a leg skiing near %s?", "who had an accident on the slopes at %s?", "leg skiing %s"},
}

const (
	yearPeople = 200
	yearPlaces = 40 // so that a place alone is said by many
)

// yearSize returns how many messages answer nothing, and of how many questions two are asked. The whole
// year is for make proof: with the race detector it takes minutes.
func yearSize() (noise, each int) {
	if os.Getenv("EARSHOT_PROOF") != "" {
		return 8000, 2
	}
	return 2000, 8
}

// yearPlace returns a made-up name.
func yearPlace(i int) string {
	return []string{"Bran", "Quel", "Torv", "Mirn", "Wexl", "Hult", "Zand", "Pruv"}[i%8] + []string{"au", "ingen", "oster", "by", "ham"}[i/8%5]
}

// year writes a made-up year of 200 people, each of whom tells something of two themes in one place, and
// returns the event that answers each question.
func year(tb testing.TB, noise int) (*store.Store, []earshot.EventID, []theme) {
	n := 0
	id := func() earshot.EventID { n++; return earshot.EventID(fmt.Sprintf("e%06d", n)) }
	s, err := store.Open(context.Background(), store.Config{Directory: tb.TempDir(), NewID: id, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	var all []earshot.Event
	var wanted []earshot.EventID
	var asked []theme
	start := noon.AddDate(-1, 0, 0)
	say := func(i int, text string) earshot.EventID {
		e := earshot.Event{
			ID: id(), Room: earshot.Desk, At: start.Add(time.Duration(len(all)) * time.Hour),
			Author: earshot.ParticipantID(fmt.Sprintf("u_%03d", i)), Visibility: public, Body: earshot.Message{Text: earshot.Text(text)},
		}
		all = append(all, e)
		return e.ID
	}
	for i := range yearPeople {
		for k := range 2 {
			t, place := themes[(i/yearPlaces+4*k)%len(themes)], yearPlace(i%yearPlaces)
			wanted = append(wanted, say(i, fmt.Sprintf(t.said, place)))
			asked = append(asked, theme{near: fmt.Sprintf(t.near, place), far: fmt.Sprintf(t.far, place), queries: fmt.Sprintf(t.queries, place)})
		}
		for k := range noise / yearPeople {
			say(i, []string{"who sold the bread at the market", "the weather in %s is fine", "I am off to %s for work", "somebody got the house keys", "good morning, is there coffee"}[k%5])
			if m := all[len(all)-1].Body.(earshot.Message); strings.Contains(string(m.Text), "%s") {
				all[len(all)-1].Body = earshot.Message{Text: earshot.Text(fmt.Sprintf(string(m.Text), yearPlace(i*7+k)))}
			}
		}
	}
	for some := range slices.Chunk(all, 500) {
		if _, err := s.Append(context.Background(), some...); err != nil {
			tb.Fatal(err)
		}
	}
	return s, wanted, asked
}

// A yearJournal searches the journal of a year.
type yearJournal struct{ *store.Store }

func (j yearJournal) Search(ctx context.Context, a earshot.Audience, query string, limit int) ([]earshot.Event, error) {
	return j.For(a).Search(ctx, query, limit)
}

// TestYear measures how often what answers a question is among the passages that are read: of questions in
// the words of the answer, in others, and in others with the queries of a model. The queries are made up
// as well. How often it is found by its meaning is not measured: no model for embeddings is here, and one
// that a test makes up would measure only itself.
func TestYear(t *testing.T) {
	noise, each := yearSize()
	s, wanted, asked := year(t, noise)
	r, _ := searcher(yearJournal{s}, func(*llm.Request) (string, error) { return "", errors.New("there is none") })
	scope := tool.Scope{Visibility: public, Audience: earshot.Audience{Room: earshot.Desk}}
	for _, is := range []struct {
		name    string
		queries func(theme) []string
		least   int // of a hundred
	}{
		{"in its words", func(q theme) []string { return []string{q.near} }, 95},
		{"in other words", func(q theme) []string { return []string{q.far} }, 0},
		{"in other words, with queries", func(q theme) []string { return []string{q.far, q.queries} }, 85},
	} {
		found, first, n, began := 0, 0, 0, time.Now()
		for i, q := range asked {
			if i%each > 1 { // of each person, both questions or none
				continue
			}
			n++
			list, err := r.find(t.Context(), scope, is.queries(q))
			if err != nil {
				t.Fatal(err)
			}
			switch slices.IndexFunc(list, func(p passage) bool { return p.id == wanted[i] }) {
			case -1:
			case 0:
				first++
				fallthrough
			default:
				found++
			}
		}
		t.Logf("%s: %d of %d questions find their answer, %d of them first, in %v each", is.name, found, n, first, time.Since(began)/time.Duration(n))
		if found*100 < is.least*n {
			t.Errorf("%s: %d of %d questions find their answer", is.name, found, n)
		}
	}
}
