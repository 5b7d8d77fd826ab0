// Command speakers learns what it is worth that a book of voices is so sure: it has people who
// are like each other, as relatives are, speak where some of them are known, asks the book
// who it is, and writes down how likely it is to be right. go generate runs it.
//
// The same programs flite and espeak-ng make the same file on one kind of processor.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"time"

	"earshot"
	"earshot/models/voiceprint/cast"
	"earshot/speakers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "speakers: %v\n", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("speakers", flag.ContinueOnError)
	to := flags.String("o", "trust.txt", "the `file` to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	people := cast.Relatives()
	said, err := record(ctx, people)
	if err != nil {
		return err
	}
	same, across, err := ask(said, draws)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("# What judgements are worth: learnt from %d on what %d people say through the channel that\n# their voices are known by, and %d through others.\n", len(same), len(people), len(across))
	return os.WriteFile(*to, []byte(text+speakers.Calibrations{Same: fit(same), Across: fit(across)}.String()), 0o644)
}

// draws is how many rooms there are, each with others in it.
const draws = 400

// rooms are how many are known of how many. In each five of eight are strangers: to be too
// sure is worse than not to be sure enough.
var rooms = []struct{ known, of int }{{1, 3}, {2, 5}, {3, 8}, {5, 13}}

// learnt is how many sayings somebody is known by.
const learnt = 3

// ask returns what a book says of what people say whom it knows and whom it does not, in so
// many rooms: through the channel that it knows them by, and through others.
func ask(said []saying, draws int) (same, across []answer, err error) {
	luck := rand.New(rand.NewPCG(1, 4))
	for range draws {
		r := rooms[luck.IntN(len(rooms))]
		people := gather(said, r.of, luck)
		book, err := acquainted(said, people[:r.known])
		if err != nil {
			return nil, nil, err
		}
		for _, s := range said {
			at := slices.Index(people, s.who)
			if at < 0 || s.what < learnt {
				continue
			}
			j := book.Guess(s.voice, later)
			if j.Speaker.ID == "" {
				continue
			}
			is, _ := book.Speaker(j.Speaker)
			a := answer{sure: j.Sure, right: is.Who == name(s.who)}
			if s.voice.Channel == home {
				same = append(same, a)
			} else {
				across = append(across, a)
			}
		}
	}
	return same, across, nil
}

// gather draws people of whom each has about one relative there.
func gather(said []saying, n int, luck *rand.Rand) (people []int) {
	families := luck.Perm(said[len(said)-1].who/relatives + 1)[:(n+1)/2]
	for _, f := range families {
		for i := range relatives {
			people = append(people, f*relatives+i)
		}
	}
	luck.Shuffle(len(people), func(i, j int) { people[i], people[j] = people[j], people[i] })
	return people[:n]
}

// relatives is how many people of one voice there are one after the other in
// [cast.Relatives].
const relatives = 5

var later = time.Unix(0, 0).Add(time.Hour)

func name(who int) earshot.ParticipantID { return earshot.ParticipantID(fmt.Sprint("person ", who)) }

// acquainted returns a book that knows some people, each by what they say first at home. It
// names somebody however unsure it is.
func acquainted(said []saying, people []int) (*speakers.Registry, error) {
	cfg := speakers.DefaultConfig()
	cfg.Raw, cfg.Sure = true, 0
	book, err := speakers.Open("", cfg)
	if err != nil {
		return nil, err
	}
	now := time.Unix(0, 0)
	for _, who := range people {
		for _, s := range said {
			if s.who != who || s.what >= learnt || !s.plain {
				continue
			}
			now = now.Add(time.Minute)
			book.Whose(s.voice, now)
			if _, err := book.Teach(now, name(who), speakers.Attestation{By: "train", At: now}); err != nil {
				return nil, err
			}
		}
	}
	return book, nil
}
