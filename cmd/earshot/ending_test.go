package main

import (
	"context"
	"database/sql"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"earshot"
	"earshot/internal/testkit"
	"earshot/interrupt"
	"earshot/server/client"
)

// ends sends the signal and waits until the daemon has ended by itself. After four seconds the
// daemon gives up on whatever hangs, and ends as failed. The bench measures how long the end takes,
// as the figure end.
func (p *process) ends(s syscall.Signal) {
	p.t.Helper()
	began := time.Now()
	p.Process.Signal(s)
	select {
	case <-p.done:
	case <-time.After(soon):
		p.t.Fatal("it does not end")
	}
	took := time.Since(began)
	p.t.Logf("it ended after %v with %v", took.Round(time.Millisecond), p.ProcessState)
}

// speechless starts a server that accepts every connection and never answers.
func speechless(t *testing.T) (address string, asked func() bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var conns []net.Conn
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
		}
	})
	t.Cleanup(func() {
		l.Close()
		testkit.Finish(t, 5*testkit.Patience, "the end of the server", accepting.Wait)
		for _, c := range conns {
			c.Close()
		}
	})
	return l.Addr().String(), func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(conns) > 1 // the first connection only checks that the server is there
	}
}

// TestEndsBesideAHangingModel: the daemon ends although the model took the question and never says
// a word.
func TestEndsBesideAHangingModel(t *testing.T) {
	t.Parallel()
	address, asked := speechless(t)
	h := newHome(t, "EARSHOT_EXECUTIVE_LLM_PROVIDER=openai", "EARSHOT_EXECUTIVE_LLM_MODEL=any", "EARSHOT_EXECUTIVE_LLM_HOST=http://"+address)
	d := h.daemon()
	id, err := h.client().Post(t.Context(), "", "tell me about the tides")
	if err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, soon, "the question at the model", asked)
	d.ends(syscall.SIGTERM)
	if code := d.ProcessState.ExitCode(); code != success {
		t.Errorf("it ended with %d:\n%s", code, d.out.String())
	}
	replies := 0
	for _, e := range h.events(t) {
		if r, ok := e.Body.(earshot.Reply); ok && r.About == id {
			replies++
			if r.Cut == nil || r.Cut.Signal != interrupt.Shutdown.String() {
				t.Errorf("the turn ended as %+v", r)
			}
		}
	}
	if replies != 1 {
		t.Errorf("the turn has %d ends", replies)
	}
}

// hold keeps everybody else from writing the journal, as a hanging disk does.
func (h *home) hold(t *testing.T) (let func()) {
	t.Helper()
	file := filepath.Join(h.dir, "state/earshot/journal/earshot.db")
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate&_pragma=busy_timeout(60000)")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	let = sync.OnceFunc(func() { tx.Rollback(); db.Close() })
	t.Cleanup(let)
	return let
}

// TestEndsBesideASlowDisk: what the journal can only store late is stored all the same.
func TestEndsBesideASlowDisk(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(teller)
	d := h.daemon()
	if _, err := h.client().Post(t.Context(), "", "tell me a story"); err != nil {
		t.Fatal(err)
	}
	w := h.open("chat")
	w.await(">", 1)
	let := h.hold(t)
	slow := time.AfterFunc(1500*time.Millisecond, let)
	defer slow.Stop()
	d.ends(syscall.SIGTERM)
	if code := d.ProcessState.ExitCode(); code != success {
		t.Errorf("it ended with %d:\n%s", code, d.out.String())
	}
	ends := 0
	for _, e := range h.events(t) {
		if r, ok := e.Body.(earshot.Reply); ok && r.Cut != nil {
			ends++
		}
	}
	if ends != 1 {
		t.Errorf("the turn has %d ends", ends)
	}
}

// TestEndsBesideADeadDisk: the daemon ends although the journal stores nothing more. What was not
// stored is lost, but nobody had been told that it was stored. The next start ends the turn.
func TestEndsBesideADeadDisk(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(teller)
	d := h.daemon()
	if _, err := h.client().Post(t.Context(), "", "tell me a story"); err != nil {
		t.Fatal(err)
	}
	let := h.hold(t)
	d.ends(syscall.SIGTERM)
	if code := d.ProcessState.ExitCode(); code != failed || !strings.Contains(d.out.String(), "something hangs, perhaps the disk") {
		t.Errorf("it ended with %d:\n%s", code, d.out.String())
	}
	if log := h.read("state/earshot/earshot.log"); !strings.Contains(log, "earshot/store.(*Store)") || strings.Contains(log, "story") {
		t.Errorf("where it hangs is not in the log, or more:\n%s", log)
	}
	let()
	h.daemon().ends(syscall.SIGTERM)
	if r := h.replies(); len(r) != 1 || r[0].Outcome != earshot.Failed {
		t.Errorf("the transcript says %+v", r)
	}
}

// TestASecondSignalKills: a second signal ends the daemon at once, whatever hangs.
func TestASecondSignalKills(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(teller)
	d := h.daemon()
	if _, err := h.client().Post(t.Context(), "", "tell me a story"); err != nil {
		t.Fatal(err)
	}
	h.hold(t)
	d.Process.Signal(syscall.SIGTERM)
	testkit.Await(t, soon, "the end of its door", func() bool {
		_, err := net.Dial("unix", h.socket)
		return err != nil
	})
	d.Process.Signal(syscall.SIGTERM)
	testkit.Receive(t, testkit.Patience, "the end of the daemon after two signals", d.done)
	if s := d.ProcessState.Sys().(syscall.WaitStatus); !s.Signaled() || s.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v", d.ProcessState)
	}
}

// TestEndsBesideManyStreams: clients that follow the events do not keep the daemon from ending.
func TestEndsBesideManyStreams(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(teller)
	d := h.daemon()
	if _, err := h.client().Post(t.Context(), "", "tell me a story"); err != nil {
		t.Fatal(err)
	}
	var streams sync.WaitGroup
	open := make(chan struct{}, 1000)
	for range cap(open) {
		streams.Go(func() {
			first := true
			for _, err := range h.client().Events(t.Context(), 0) {
				if err == nil && first {
					first = false
					open <- struct{}{}
				}
			}
		})
	}
	last := 0
	testkit.Await(t, soon, "as many streams as are let in", func() bool {
		n := len(open)
		same := n > 0 && n == last
		last = n
		return same
	})
	t.Logf("%d streams", len(open))
	d.ends(syscall.SIGTERM)
	testkit.Finish(t, 5*testkit.Patience, "the end of the streams", streams.Wait)
	if code := d.ProcessState.ExitCode(); code != success {
		t.Errorf("it ended with %d:\n%s", code, d.out.String())
	}
}

// TestEndsWhileSpeaking: the voice falls silent at once, and what was heard is stored.
func TestEndsWhileSpeaking(t *testing.T) {
	t.Parallel()
	p := newParlour(t, "EARSHOT_EXECUTIVE_SPEECH_ANSWER_TYPED_ALOUD=true")
	p.scripted(talker)
	d := p.wakes()
	recording := p.records()
	defer recording.Stop()
	p.post("tell me about the tide")
	p.speaking(recording, 300)
	at := recording.Len()
	d.ends(syscall.SIGTERM)
	last := 0
	for i, sample := range recording.PCM(at) {
		if sample > 500 || sample < -500 {
			last = i
		}
	}
	t.Logf("the last sound came %d ms after the signal", last*1000/rate)
	if last > rate {
		t.Errorf("it went on for %d ms", last*1000/rate)
	}
	said := p.replied(1)
	if said[0].Outcome != earshot.Interrupted || said[0].Cut == nil || said[0].Cut.Signal != interrupt.Shutdown.String() {
		t.Errorf("the turn ended as %+v", said[0])
	}
	if n := len(said[0].Delivered()); n == 0 || n >= len(said[0].Offered) && n > 200 {
		t.Errorf("%d of %d bytes are called heard", n, len(said[0].Offered))
	}
}

// TestEndsInACall: when the daemon ends while it speaks in a call on Discord, it leaves the call
// and stores how far it was heard there. When it is back it does not repeat anything.
func TestEndsInACall(t *testing.T) {
	t.Parallel()
	c := newClub(t, talker, "    join: people\n", "EARSHOT_EXECUTIVE_SPEECH_ANSWER_TYPED_ALOUD=true",
		"PATH="+needVoice(t)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	d := c.comes()
	channel := c.Channel("voice").ID
	a := &speaker{User: c.ann}
	c.joins(channel, a)
	greeted := func() {
		t.Helper()
		record := filepath.Join(t.TempDir(), "record")
		a.Record(c.bot.ID, record)
		testkit.Await(t, soon, "that it says that it listens", func() bool {
			return slices.Contains(c.InCall(channel), c.bot.ID) && heardIn(t, record) > 500
		})
	}
	greeted()
	c.calls(c.ann, channel, "tell me about the tide")
	shown := c.saying(channel, 20)

	d.ends(syscall.SIGTERM)
	if code := d.ProcessState.ExitCode(); code != success {
		t.Errorf("it ended with %d:\n%s", code, d.out.String())
	}
	if _, still := c.Voices()[c.bot.ID]; still || slices.Contains(c.InCall(channel), c.bot.ID) {
		t.Error("it is still in the call")
	}
	said := c.replied(1)
	if len(said) != 1 || said[0].Outcome != earshot.Interrupted || said[0].Cut == nil || said[0].Cut.Signal != interrupt.Shutdown.String() {
		t.Fatalf("the turn ended as %+v", said)
	}
	for _, h := range said[0].Heard {
		if h.Outlet == "discord voice" && (h.Bytes < shown || h.Bytes > shown+len(tide[0])) {
			t.Errorf("%d of %d bytes are called heard; %d were just before", h.Bytes, len(said[0].Offered), shown)
		}
	}
	if said[0].Delivered() == "" || said[0].Remainder() == "" {
		t.Errorf("of %d bytes are heard %+v", len(said[0].Offered), said[0].Heard)
	}

	c.comes()
	greeted()
	c.calls(c.ann, channel, "what is the weather like today?")
	said = c.replied(2)
	if len(said) != 2 || said[1].Delivered() != "It is warm and dry today." {
		t.Errorf("when it was back it said %+v", said[1:])
	}
}

// saying waits until at least that many bytes of a reply were heard in the call of a channel, and
// returns how many were.
func (c *club) saying(channel uint64, least int) int {
	c.t.Helper()
	ctx, stop := context.WithTimeout(c.t.Context(), soon)
	defer stop()
	client := &client.Client{Socket: c.socket, Room: earshot.RoomID(roomOf(channel))}
	for is, err := range client.Live(ctx) {
		if err != nil {
			c.t.Fatal(err)
		}
		for _, r := range is.Replies {
			for _, d := range r.Heard {
				if d.Outlet == "discord voice" && d.Bytes >= least {
					return d.Bytes
				}
			}
		}
	}
	c.t.Fatal("it says nothing")
	return 0
}

// TestEndsBesideAFrozenSoundServer: a hanging sound server holds up only its helper, not the end.
func TestEndsBesideAFrozenSoundServer(t *testing.T) {
	t.Parallel()
	p := newParlour(t, "EARSHOT_EXECUTIVE_SPEECH_ANSWER_TYPED_ALOUD=true")
	p.scripted(talker)
	d := p.wakes()
	recording := p.records()
	p.post("tell me about the tide")
	p.speaking(recording, 200)
	recording.Stop()
	if err := p.card.Freeze(); err != nil {
		t.Fatal(err)
	}
	d.ends(syscall.SIGTERM)
	if err := p.card.Thaw(); err != nil {
		t.Fatal(err)
	}
	if code := d.ProcessState.ExitCode(); code != success {
		t.Errorf("it ended with %d", code)
	}
	if said := p.replied(1); said[0].Cut == nil {
		t.Errorf("the turn ended as %+v", said[0])
	}
}
