package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
)

// A load is how much of the machine a process and its children use.
type load struct {
	own, all int // bytes of memory: of the daemon, and including its helpers
	files    int // open in the daemon
	threads  int
}

// weighs returns the load of the daemon.
func (p *process) weighs() (l load) {
	p.t.Helper()
	resident := func(pid int) int {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		f := strings.Fields(string(text))
		if err != nil || len(f) < 2 {
			return 0 // it has ended meanwhile
		}
		pages, _ := strconv.Atoi(f[1])
		return pages * os.Getpagesize()
	}
	l.own = resident(p.Process.Pid)
	l.all = l.own
	for _, child := range children(p.Process.Pid) {
		l.all += resident(child)
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.Process.Pid))
	l.files, l.threads = len(files), len(threads)
	return l
}

// TestAloudTenMinutes runs the whole program for ten real minutes, with a real sound server and the
// helpers: people type, talk, cut it off, attach and leave. Its load after the tenth minute is that
// after the fourth.
func TestAloudTenMinutes(t *testing.T) {
	if os.Getenv("EARSHOT_PROOF") == "" {
		t.Skip("ten minutes are for a proof: EARSHOT_PROOF=1")
	}
	talks(t)
	p := newParlour(t, "EARSHOT_EXECUTIVE_SPEECH_ANSWER_TYPED_ALOUD=true")
	p.scripted(talker)
	d := p.wakes()
	began := time.Now()
	var loads []load
	for minute := range 10 {
		for n := 0; time.Since(began) < time.Duration(minute+1)*time.Minute; n++ {
			switch n % 3 {
			case 0:
				p.post("tell me about the tide")
			case 1:
				p.says(bob, "earshot, what is the weather like today")
			case 2:
				w := p.open("chat")
				w.await(">", 1)
				w.says("hello")
				w.says("/exit")
				w.ended()
			}
			next := time.Now().Add(7 * time.Second)
			testkit.Await(t, soon, "the next thing to happen", func() bool { return time.Now().After(next) })
		}
		l := d.weighs()
		loads = append(loads, l)
		t.Logf("after %2d minutes: the daemon %5.1f MB, with its helpers %6.1f MB, %d files, %d threads", minute+1, float64(l.own)/1e6, float64(l.all)/1e6, l.files, l.threads)
	}
	early, last := loads[3], loads[9]
	if last.own > early.own+8<<20 || last.all > early.all+24<<20 {
		t.Errorf("memory went from %+v to %+v", early, last)
	}
	if last.files > early.files+3 || last.threads > early.threads+5 {
		t.Errorf("files or threads went from %+v to %+v", early, last)
	}
	d.ends(syscall.SIGTERM)
	replies, cut := 0, 0
	for _, e := range p.journal() {
		if r, ok := e.Body.(earshot.Reply); ok {
			replies++
			if r.Cut != nil {
				cut++
			}
		}
	}
	t.Logf("%d replies, %d of them cut", replies, cut)
	if replies < 30 {
		t.Errorf("there were only %d replies", replies)
	}
}
