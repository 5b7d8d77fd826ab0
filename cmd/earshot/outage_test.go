package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
)

// An outage loses a part of the voice, and brings it back.
type outage struct {
	name string
	lose func(*parlour, *process) error
	mend func(context.Context, *parlour) error
}

var outages = []outage{
	{"sound helper killed", kill(helper.SoundProgram), nil},
	{"recogniser killed", kill(helper.SpeechProgram, "hear"), nil},
	{"voice killed", kill(helper.SpeechProgram, "say"), nil},
	{
		"microphone unplugged",
		func(p *parlour, _ *process) error { return p.card.Unload(soundtest.Microphone) },
		func(_ context.Context, p *parlour) error { return p.plugged(soundtest.Microphone) },
	},
	{
		"loudspeaker unplugged",
		func(p *parlour, _ *process) error { return p.card.Unload(soundtest.Speaker) },
		func(_ context.Context, p *parlour) error { return p.plugged(soundtest.Speaker) },
	},
	{"microphone moved, and then to where it would hear itself", moved, nil},
	{
		"server frozen",
		func(p *parlour, _ *process) error { return p.card.Freeze() },
		func(_ context.Context, p *parlour) error { return p.card.Thaw() },
	},
	{
		"server killed",
		func(p *parlour, _ *process) error { p.card.Kill(); return nil },
		func(ctx context.Context, p *parlour) error { return p.card.Restart(ctx) },
	},
}

// moved moves the capture to a microphone into which nobody speaks, which is no outage, and then
// back to the monitor that it came from. That is an outage, since no person would move it there.
func moved(p *parlour, _ *process) error {
	const elsewhere = "elsewhere"
	if err := p.card.AddSource(elsewhere); err != nil {
		return err
	}
	here := strings.Count(p.log(), "moved a stream")
	if err := p.card.MoveSources(elsewhere); err != nil {
		return err
	}
	testkit.Await(p.t, soon, "word of the move", func() bool { return strings.Count(p.log(), "moved a stream") > here })
	return errors.Join(p.card.MoveSources(soundtest.Source), p.card.Unload(elsewhere))
}

// kill returns a function that kills a helper.
func kill(args ...string) func(*parlour, *process) error {
	return func(_ *parlour, d *process) error {
		for _, pid := range children(d.Process.Pid) {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			called := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
			called[0] = filepath.Base(called[0])
			if strings.Join(called, " ") == strings.Join(args, " ") {
				return syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		return fmt.Errorf("there is no %v", args)
	}
}

// children returns the child processes of a process.
func children(parent int) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range all {
		stat, _ := os.ReadFile(file) // it may have ended meanwhile
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// plugged plugs a device in again.
func (p *parlour) plugged(name string) error {
	return errors.Join(p.card.Load(name), p.card.Default())
}

// rounds returns how often an outage is rehearsed: more often in a proof run.
func rounds() int {
	if os.Getenv("EARSHOT_PROOF") != "" {
		return 100
	}
	return 3
}

// mostTold is how many lines tell people of something that is lost again and again, however often:
// the gap between two lines is always longer than the one before.
const mostTold = 12

// TestVoiceOutages: whatever part of the voice is lost in mid-sentence, people are told of the loss
// and of the return, but not every time if it comes and goes. Meanwhile what they write is kept and
// answered, and afterwards the agent hears and speaks.
func TestVoiceOutages(t *testing.T) {
	t.Parallel()
	for _, o := range outages { // not in parallel, since each needs a whole parlour
		t.Run(o.name, func(t *testing.T) {
			p := newParlour(t, "EARSHOT_EXECUTIVE_SPEECH_ANSWER_TYPED_ALOUD=true")
			p.scripted(talker)
			p.name = hasty
			d := p.wakes()
			var posted []earshot.EventID
			for range rounds() {
				posted = append(posted, p.suffers(o, d)...)
				if t.Failed() {
					return
				}
			}
			p.says(bob, "earshot, what is the weather like today")
			p.heard(1)
			p.answered(posted)
			over := func() bool { said := p.reported(); return strings.HasSuffix(said[len(said)-1], "over=true") }
			testkit.Await(t, 2*soon, "word of the return", over)
			if said := p.reported(); len(said)%2 != 0 || len(said) > min(2*rounds(), mostTold) {
				t.Errorf("%d lines of %d outages:\n%s", len(said), rounds(), strings.Join(said, "\n"))
			}
		})
	}
}

// suffers lets an outage happen while the agent speaks, and returns what was posted meanwhile. It
// first waits until no fault is left: neither a part that is slow to start on a busy machine, nor
// one that returns and is lost once more before it stays, such as a helper that started before the
// server.
func (p *parlour) suffers(o outage, d *process) (posted []earshot.EventID) {
	p.t.Helper()
	recording := p.records()
	defer recording.Stop()
	testkit.Await(p.t, soon, "everything to be well", func() bool { return p.faults() == 0 })
	posted = append(posted, p.post("tell me about the tide"))
	p.speaking(recording, 200)
	before := p.losses()
	if err := o.lose(p, d); err != nil {
		p.t.Fatal(err)
	}
	testkit.Await(p.t, soon, "the loss to be counted", func() bool { return p.losses() > before }) // it may be over already
	posted = append(posted, p.post("and how is the weather"))
	ctx, stop := context.WithTimeout(p.t.Context(), soon)
	defer stop()
	if o.mend != nil {
		if err := o.mend(ctx, p); err != nil {
			p.t.Fatal(err)
		}
	}
	testkit.Await(p.t, soon, "the return to be known", func() bool { return p.faults() == 0 })
	p.listens()
	return posted
}

// faults returns the number of current faults, reported or not, or -1 if it is unknown.
func (p *parlour) faults() int {
	state, err := p.client().State(p.t.Context())
	if err != nil {
		return -1
	}
	return len(state.Faults)
}

// losses returns how often a part was lost so far.
func (p *parlour) losses() (n int) {
	p.t.Helper()
	_, metrics := ask(p.t, p.socket, "/metrics")
	for line := range strings.Lines(metrics) {
		if strings.HasPrefix(line, "earshot_outages_total{") {
			f := strings.Fields(line)
			more, err := strconv.Atoi(f[len(f)-1])
			if err != nil {
				p.t.Fatalf("a count of outages is %q", line)
			}
			n += more
		}
	}
	return n
}

// post writes a message to the daemon.
func (p *parlour) post(text earshot.Text) earshot.EventID {
	p.t.Helper()
	id, err := p.client().Post(p.t.Context(), "", text)
	if err != nil {
		p.t.Fatal(err)
	}
	return id
}

// answered waits until everything posted is decided about, and every turn that began has ended.
func (p *parlour) answered(posted []earshot.EventID) {
	p.t.Helper()
	testkit.Await(p.t, soon, "an end of every turn", func() bool {
		decided, turns := make(map[earshot.EventID]bool), make(map[earshot.TurnID]bool)
		events := p.journal()
		for _, d := range testkit.Bodies[earshot.Decision](events) {
			decided[d.About] = true
			turns[d.Turn] = true
		}
		delete(turns, "")
		for _, r := range testkit.Bodies[earshot.Reply](events) {
			delete(turns, r.Turn)
		}
		for _, id := range posted {
			if !decided[id] {
				return false
			}
		}
		return len(turns) == 0
	})
}

// reported returns the log lines that tell people of a loss and of the return. It leaves out parts
// that were only late to start on a busy machine, since these were not lost.
func (p *parlour) reported() (lines []string) {
	lost := make(map[string]bool)
	for line := range strings.Lines(p.log()) {
		_, about, ok := strings.Cut(strings.TrimSpace(line), "msg=reported ")
		fault, _, _ := strings.Cut(about, " text=")
		back := strings.HasSuffix(about, "over=true")
		if ok && (lost[fault] || !back) {
			lost[fault] = !back
			lines = append(lines, about)
		}
	}
	return lines
}
