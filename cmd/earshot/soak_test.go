package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/daemon"
	"earshot/internal/testkit"
	"earshot/participants"
)

// soaking is the name for this test binary as a house that lives through many hours in a few
// seconds. Everything is the daemon's own, including the journal, except for the clock, which is
// that of testing/synctest, and for what the house hears, sees and is told.
const soaking = "earshot-soaking"

// soakHours is the environment variable that sets the number of hours.
const soakHours = "SOAK_HOURS"

// A gauge is what a house uses of the machine after so many hours.
type gauge struct {
	Hour       int       `json:"hour"`
	At         time.Time `json:"at"`
	Heap       uint64    `json:"heap"` // bytes that are in use after a collection
	Goroutines int       `json:"goroutines"`
	Files      int       `json:"files"` // open
	Log        int64     `json:"log"`   // bytes of all files besides the journal
	Journal    int64     `json:"journal"`
	Events     int64     `json:"events"`
	Replies    int       `json:"replies"`
	Faults     []string  `json:"faults"`
	Late       float64   `json:"late"` // seconds of the longest negative latency, or 0
	Reminded   int       `json:"reminded"`
}

// soakModel answers, thinks, sets reminders and has agents talk to each other.
const soakModel = `every_seconds: 0.02
reply: That is an answer of some length to what was said.
rules:
- {for: thought, when: "", reply: "I wonder what the weather will be like."}
- when: remind me
  calls: [{tool: remind, arguments: {action: set, text: the kettle, in_seconds: 900}}]
- {when: ask alice, calls: [{tool: message_agent, arguments: {name: Alice, message: "how are you?"}}]}
- {result: "", reply: "Done."}
`

// beSoaking lives for the given number of hours, and prints a gauge after each.
func beSoaking() {
	code := 1
	defer func() { os.Exit(code) }() // deferred, because the bubble ends this goroutine when the race detector has found something
	synctest.Test(new(testing.T), func(*testing.T) {
		if err := soak(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		code = 0
	})
}

// soak runs a house for its whole life.
func soak(ctx context.Context) error {
	hours := 1
	if _, err := fmt.Sscan(os.Getenv(soakHours), &hours); err != nil {
		return err
	}
	// Noon before the clock goes forward, so that midnight and the skipped hour are included.
	begin := time.Date(2000, 3, 25, 12, 0, 0, 0, time.Local)
	time.Sleep(time.Until(begin))
	a := &app{ctx: ctx, std: std{os.Stdin, outputTo(os.Stdout), os.Stderr}}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	log, closeLog, err := openLogOf(cfg.Log.File)
	if err != nil {
		return err
	}
	defer closeLog()
	d, err := daemon.Open(ctx, cfg, daemon.Options{Log: log, Account: earshot.Handle{Provider: "console", ID: "uid0"}, Name: "Ann"})
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	var serving sync.WaitGroup
	var failed error
	serving.Go(func() { failed = d.Run(ctx, nil) })
	l := life{daemon: d, out: json.NewEncoder(os.Stdout)}
	for h := range hours {
		if err = l.hour(ctx, h); err != nil {
			break
		}
		synctest.Wait()
		if err = l.read(ctx, h); err != nil {
			break
		}
	}
	end()
	serving.Wait()
	if err == nil {
		err = failed
	}
	if e := d.Close(); err == nil {
		err = e
	}
	return err
}

// openLogOf opens a log as the daemon does.
func openLogOf(file string) (*slog.Logger, func() error, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	return slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: slog.LevelWarn})), f.Close, nil
}

// A life is the sequence of things that happen in a house.
type life struct {
	daemon *daemon.Daemon
	out    *json.Encoder

	after int64 // the last event that was looked at
	total gauge
}

// hour lets one hour pass, in which somebody comes and goes nine times: six times at the desk and
// three times in the kitchen.
func (l *life) hour(ctx context.Context, h int) error {
	began := time.Now()
	for visit := range 9 {
		room := earshot.Desk
		if visit%3 == 2 {
			room = "kitchen"
		}
		if err := l.visit(ctx, room, h); err != nil {
			return fmt.Errorf("hour %d, visit %d: %w", h, visit, err)
		}
		time.Sleep(time.Minute)
	}
	time.Sleep(time.Until(began.Add(time.Hour)))
	return nil
}

// visit lets Ann come, type, talk, be seen and leave.
func (l *life) visit(ctx context.Context, room earshot.RoomID, h int) error {
	h1 := l.daemon.Backend()
	account := l.daemon.Account()
	session := participants.Session{ID: string(l.daemon.NewID()), Room: room, Participant: l.daemon.Owner().ID, Account: account, Outlet: "terminal", Connection: "terminal", Since: time.Now()}
	around := earshot.Audience{Room: room, Members: []earshot.ParticipantID{l.daemon.Owner().ID}}
	handle, leave := h1.Join(session, &testkit.Voice{Called: "terminal", Every: time.Millisecond, Flow: true}, around)
	admit := func(e earshot.Event) error {
		e.Room = room
		if e.From.ID == "" {
			e.From, e.Via = handle(), "terminal"
		}
		return l.daemon.Admit(ctx, e)
	}
	defer func() {
		_ = admit(earshot.Event{Body: earshot.Presence{Session: session.ID}})
		leave()
	}()
	if err := admit(earshot.Event{Body: earshot.Presence{Session: session.ID, Here: true}}); err != nil {
		return err
	}
	for n, text := range []string{
		"hello, how are you?", "tell me something about the tides", "remind me of the kettle", "ask alice how she is", "@Alice what do you write?",
		"stop", "what did I say?", "I think we need some milk and bread for tomorrow",
	} {
		if err := admit(earshot.Event{Body: earshot.Typing{Began: true}}); err != nil {
			return err
		}
		time.Sleep(2 * time.Second)
		if err := admit(earshot.Event{ID: l.daemon.NewID(), Body: earshot.Message{Text: earshot.Text(fmt.Sprintf("%s (%d.%d)", text, h, n))}}); err != nil {
			return err
		}
		time.Sleep(time.Duration(n*n) * 300 * time.Millisecond) // sometimes the next thing happens in the middle of the answer
		if room == earshot.Desk {
			if err := admit(l.seen(n)); err != nil {
				return err
			}
			if err := admit(l.heard(fmt.Sprintf("earshot what time is it number %d", n))); err != nil {
				return err
			}
		}
		time.Sleep(25 * time.Second)
	}
	return nil
}

// seen returns something that a camera notices.
func (l *life) seen(n int) earshot.Event {
	return earshot.Event{ID: l.daemon.NewID(), At: time.Now(), From: earshot.Handle{Provider: "webcam", ID: "desk"}, Via: "",
		Body: earshot.Sight{What: earshot.PeopleChanged, People: n % 2, Were: (n + 1) % 2, Eyes: earshot.Clear, Sure: 0.9}}
}

// heard returns something that a microphone hears.
func (l *life) heard(text string) earshot.Event {
	return earshot.Event{ID: l.daemon.NewID(), At: time.Now().Add(-2 * time.Second), From: earshot.Handle{Provider: "microphone", ID: "default"},
		Body: earshot.Utterance{Text: earshot.Text(text), Confidence: 0.9, Lasted: 2 * time.Second}}
}

// read prints the gauge.
func (l *life) read(ctx context.Context, h int) error {
	for { // reads the events since the last time
		some, err := l.daemon.Store().For(earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{l.daemon.Owner().ID}}).Events(ctx, l.after, 500)
		if err != nil {
			return err
		}
		for _, e := range some {
			l.after = e.Sequence
			l.total.Events = e.Sequence
			if r, ok := e.Body.(earshot.Reply); ok {
				l.total.Replies++
				if strings.Contains(string(r.Offered), "kettle") {
					l.total.Reminded++
				}
			}
		}
		if len(some) == 0 {
			break
		}
	}
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if dir := os.Getenv("SOAK_PROFILES"); dir != "" { // to find out what has grown
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("heap.%03d", h)))
		if err != nil {
			return err
		}
		_ = pprof.Lookup("heap").WriteTo(f, 0)
		f.Close()
	}
	open, _ := os.ReadDir("/proc/self/fd")
	r := l.total
	r.Hour, r.At, r.Heap, r.Goroutines, r.Files = h, time.Now(), m.HeapAlloc, runtime.NumGoroutine(), len(open)
	for _, n := range l.daemon.Desk().State(l.daemon.Audience()).Faults {
		r.Faults = append(r.Faults, n.Text)
	}
	journal := l.daemon.Config().Store.Directory
	err := filepath.WalkDir(filepath.Dir(journal), func(path string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		about, err := f.Info()
		if err != nil {
			return nil // gone meanwhile
		}
		if strings.HasPrefix(path, journal) {
			r.Journal += about.Size()
		} else {
			r.Log += about.Size()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return l.out.Encode(r)
}

// TestSoak: many hours of mixed life take no more memory, goroutines, files or disk space besides
// the journal than the first hours. A plain run takes four hours; a proof run takes thirty, through
// midnight and the night in which the clock goes forward.
func TestSoak(t *testing.T) {
	t.Parallel()
	hours := 4
	if os.Getenv("EARSHOT_PROOF") != "" {
		hours = 30
	}
	h := newHome(t, fmt.Sprintf("%s=%d", soakHours, hours), "TZ=Europe/Berlin")
	h.write("config/earshot/config.yaml", `agents:
- {name: Alice, description: writes poems}
- {name: Bob, description: counts things}
rooms:
- {id: kitchen, name: the kitchen}
`)
	h.scripted(soakModel)
	h.name = soaking
	var out, errs bytes.Buffer
	c := h.command()
	c.Stdout, c.Stderr = &out, &errs
	err := c.Start()
	if err == nil {
		defer c.Process.Kill() // if it hangs
		testkit.Finish(t, 60*testkit.Patience, "the end of some days", func() { err = c.Wait() })
	}
	if err != nil {
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 0 {
			t.Fatalf("%v\n%s%s", err, out.String(), errs.String())
		}
	}
	var all []gauge
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		var r gauge
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%v in %q", err, lines.Text())
		}
		all = append(all, r)
		t.Logf("%s heap %4.1f MB, %d goroutines, %d files, log %d kB, journal %4.1f MB, %d events, %d replies, %d reminders %v",
			r.At.Format("02 15:04 MST"), float64(r.Heap)/1e6, r.Goroutines, r.Files, r.Log/1000, float64(r.Journal)/1e6, r.Events, r.Replies, r.Reminded, r.Faults)
	}
	if len(all) != hours {
		t.Fatalf("%d of %d hours: %s", len(all), hours, errs.String())
	}
	// What a room remembers is bounded, and full after some thirteen hours of this life.
	early, last, more := all[hours/2], all[hours-1], uint64(8<<20)
	if hours >= 30 {
		more = 512 << 10
	}
	if last.Heap > early.Heap+more {
		t.Errorf("the heap grew from %d to %d bytes", early.Heap, last.Heap)
	}
	if last.Goroutines > early.Goroutines+2 || last.Files > early.Files+2 {
		t.Errorf("goroutines went from %d to %d, open files from %d to %d", early.Goroutines, last.Goroutines, early.Files, last.Files)
	}
	if last.Log > early.Log+64<<10 {
		t.Errorf("the files besides the journal grew from %d to %d bytes", early.Log, last.Log)
	}
	if last.Replies < 20*hours {
		t.Errorf("there were only %d replies", last.Replies)
	}
}
