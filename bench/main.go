// Command bench says what earshot costs, as multiples of the bare thing that
// was measured beside it in the same run: how long a cut takes, what stands
// between a question and the first word of its answer, what the daemon needs
// while nothing happens, what it takes to route a message in a room of a hundred
// people, and that the agent thinks beside the talk; and of its voice, what it
// understands of four others, how well it tells many apart, how soon it falls
// silent for them, what it needs with all its helpers; and of a call on Discord,
// what it takes to hear eight at once, how soon the agent is heard and silent
// there, and how soon it yields to who speaks over it; and of its eyes, what it
// takes to look; and of all that it keeps, how soon a monitor shows it, and what
// it takes to start with a long past, to search in it, to forget some of it, to be
// followed by a thousand, and to be configured otherwise; and of several daemons, how
// long nobody has a room when one is killed, and how many rooms they serve. make bench
// runs it.
//
// Each figure guards something that the README, the docs or a goal of the project
// promise. What nobody was promised is not measured here.
//
// It measures the program as it is put together in cmd/earshot: the real room,
// store, ladder, engine, console, microphone and loudspeaker, and for the idle
// figures and those of the voice the real binaries, which it builds. Only what is
// outside is replaced: the model by something that takes no time, people by
// flite's voices, the sound card by a virtual one. Ours and the bare thing take
// turns, so that whatever else the machine does hits both; each repeat has its
// own percentiles, and the table shows the median of the repeats.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if become(context.Background()) {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		stop()
		os.Exit(1)
	}
}

// A figure is one thing to be measured, in some rows of the table. Its error is
// why it could not be.
type figure struct {
	name    string
	measure func(context.Context, bench) ([]Row, error)
}

// figures are all of them, in the order of the table.
var figures = []figure{
	{"flushed", flushed},
	{"closed", closed},
	{"late", late},
	{"overhead", overhead},
	{"idle", idle},
	{"routing", routing},
	{"people", people},
	{"words", words},
	{"foreign", understood},
	{"names", called},
	{"gap", measureGap},
	{"weighed", weighed},
	{"yield", yielding},
	{"yield-echo", yieldingAcross},
	{"onset-echo", onsetsInEcho},
	{"first-echo", firstEchoes},
	{"yield-styles", mannerly},
	{"yield-call", yieldingInCall},
	{"card", cutOnCard},
	{"satellite", onSatellite},
	{"echo", echoes},
	{"echo-card", echoesOnCard},
	{"tree", tree},
	{"opus", callCodec},
	{"voices", tellApart},
	{"ollama", realModel},
	{"thinking", thinking},
	{"engines", engines},
	{"discord", discordCall},
	{"aloud", aloud},
	{"eyes", eyes},
	{"monitor", monitored},
	{"search", searching},
	{"database", inDatabase},
	{"flood", flooding},
	{"takeover", takingOver},
	{"rooms", manyTalk},
	{"start", starting},
	{"end", ending},
	{"reload", reloading},
	{"streams", streaming},
	{"forget", forgetting},
}

// A bench is how much is measured, and where.
type bench struct {
	rounds  int    // in each repeat
	repeats int    // of which the median counts
	dir     string // for files, on the disk that a journal would be on
	built   string // for programs; empty: a folder of dir
	rooms   int    // that daemons share in each of which something is said every second
	past    int    // sentences in a large journal; zero: as many as a figure is of
	kept    string // where what takes minutes to make is kept for the next run; empty: nowhere
}

const (
	usual = 60 // rounds in each repeat
	// repeats is how often a figure is measured: of five a busy second spoils one
	// or two, and the median is still right.
	repeats = 5
)

// run is the whole program, so that a test can be the whole program too. It
// fails if something could not be measured; a goal that is missed is no error.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	rounds := flags.Int("n", usual, "`rounds` in each repeat")
	again := flags.Int("repeats", repeats, "`repeats`, of which the median counts")
	only := flags.String("only", "", "measure only these, such as flushed,idle: "+strings.Join(names(), ", "))
	asJSON := flags.Bool("json", false, "print JSON, for programs")
	where := flags.String("dir", "", "`directory` for the files that are measured on (default: the user's cache)")
	kept := flags.String("kept", "", "`directory` in which large journals are kept for the next run (default: they are made anew)")
	rooms := flags.Int("rooms", manyRooms, "`rooms` that daemons share, in each of which something is said every second")
	past := flags.Int("past", 0, "`sentences` in the journals that are searched and in which is forgotten (default: a million)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted, err := choose(*only)
	if err != nil {
		return err
	}
	b := bench{rounds: max(*rounds, 1), repeats: max(*again, 1), rooms: *rooms, past: max(*past, 0), kept: *kept}
	if b.dir, err = place(*where); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()

	report := Report{Machine: machine()}
	var faults []error
	for _, f := range wanted {
		rows, err := f.measure(ctx, b)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", f.name, err))
			rows = append(rows, Row{Name: f.name, Note: "not measured: " + err.Error()})
		}
		report.Rows = append(report.Rows, rows...)
	}
	if *asJSON {
		err = report.json(out)
	} else {
		err = report.table(out)
	}
	return errors.Join(append(faults, err)...)
}

// place makes a directory of our own in parent. A directory for temporary
// files may be in memory, where a commit costs nothing.
func place(parent string) (string, error) {
	if parent == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		parent = filepath.Join(cache, "earshot")
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(parent, "bench-")
}

func names() (all []string) {
	for _, f := range figures {
		all = append(all, f.name)
	}
	return all
}

// choose returns the figures in a list with commas; all of them if it is empty.
func choose(list string) (chosen []figure, err error) {
	if list == "" {
		return figures, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.Index(names(), strings.TrimSpace(name))
		if i < 0 {
			return nil, fmt.Errorf("there is no figure %q; there are %s", name, strings.Join(names(), ", "))
		}
		chosen = append(chosen, figures[i])
	}
	return chosen, nil
}
