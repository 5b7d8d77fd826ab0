package store_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/store"
)

// childVariable makes the test binary the process that is killed, and names its directory.
const childVariable = "STORE_TEST_CHILD"

// forgetsVariable makes the child forget events again and again.
const forgetsVariable = "STORE_TEST_FORGETS"

// forgets appends two events and forgets the second, for ever. It prints each round after the
// traces were removed.
func forgets(s *store.Store) {
	for n := 0; ; n++ {
		id := earshot.EventID(fmt.Sprintf("gone-%d-%d", os.Getpid(), n))
		kept, err := s.Append(context.Background(), said("stays"), by(id, "ann", earshot.Message{Text: "xylophone"}))
		if err == nil {
			_, err = s.Forget(context.Background(), store.Selection{Events: []earshot.EventID{id}}, nil)
		}
		if err == nil {
			err = s.Clean(context.Background())
		}
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("kept", 0, n, kept[0].ID, kept[0].Sequence)
	}
}

// TestKilledWhileCleaned kills a process again and again while it replaces the file. No event that
// stays is lost, and the next start removes the traces that the killed process could not.
func TestKilledWhileCleaned(t *testing.T) {
	t.Setenv(forgetsVariable, "1")
	directory := filepath.Join(t.TempDir(), "state")
	var all []acknowledgement
	for round := 0; round < 15 || len(all) < 5 && round < 150; round++ { // more often if a busy machine forgets little in between
		all = append(all, killed(t, directory, false, rand.N(300*time.Millisecond))...)
		heard := new(listener)
		s, err := store.Open(t.Context(), store.Config{Directory: directory, Report: heard.report})
		must(t, err)
		at := map[int64]earshot.Event{}
		for e, err := range s.Export(t.Context()) {
			must(t, err)
			at[e.Sequence] = e
		}
		for _, a := range all {
			if at[a.sequence].ID != a.id || at[a.sequence].Body.Kind() != earshot.KindMessage || at[a.sequence+1].Body.Kind() != earshot.KindErased {
				t.Fatalf("acknowledged as %+v, kept as %+v, and %+v was forgotten", a, at[a.sequence], at[a.sequence+1])
			}
		}
		if last := at[int64(len(at))]; strings.HasPrefix(string(last.ID), "gone") && last.Body.Kind() == earshot.KindMessage { // it was killed before it forgot this one
			_, err := s.Forget(t.Context(), store.Selection{Events: []earshot.EventID{last.ID}}, nil)
			must(t, err)
		}
		must(t, s.Clean(t.Context()))
		if found := traces(t, directory, []string{"xylophone"}); len(found) > 0 {
			t.Fatalf("there are traces: %s", found)
		}
		must(t, s.Close())
		if said := heard.heard(); said != "" {
			t.Errorf("reported %s", said)
		}
	}
	t.Logf("%d were forgotten", len(all))
	if len(all) < 5 {
		t.Errorf("it was killed too early to prove anything: %d were forgotten", len(all))
	}
}

// writers is how many goroutines of the child write.
const writers = 6

// child appends events for ever, and prints each one after it was acknowledged: its writer, its
// number, its ID and its sequence.
func child(directory string) {
	s, err := store.Open(context.Background(), store.Config{Directory: directory})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("ready")
	if os.Getenv(forgetsVariable) != "" {
		forgets(s)
	}
	var out sync.Mutex
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := 0; ; n++ {
				e := said(earshot.Text(fmt.Sprintf("writer%d message%d %s", w, n, strings.Repeat("padding ", n%100))))
				e.From.ID, e.Via = strconv.Itoa(os.Getpid()), fmt.Sprintf("%d %d", w, n)
				kept, err := s.Append(context.Background(), e)
				if err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				out.Lock()
				fmt.Println("kept", w, n, kept[0].ID, kept[0].Sequence)
				out.Unlock()
			}
		})
	}
	all.Wait()
}

// An acknowledgement is one line of the child's output.
type acknowledgement struct {
	writer, n int
	id        earshot.EventID
	sequence  int64
}

// TestKilledUnderLoad kills the writing process at random moments, again and again on the same
// file. Nothing that it acknowledged is lost, nothing is doubled, and the events of each writer are
// in the order in which it wrote them, without a gap.
func TestKilledUnderLoad(t *testing.T) {
	rounds := 20
	if os.Getenv("EARSHOT_PROOF") != "" {
		rounds = 1000
	}
	directory := filepath.Join(t.TempDir(), "state")
	total := 0
	for round := 0; round < rounds || total < rounds && round < 10*rounds; round++ { // more often if a busy machine keeps little in between
		if round%50 == 0 { // a new file, since checking takes longer the more the file grows
			directory = filepath.Join(t.TempDir(), "state")
		}
		early := round%5 == 4 // perhaps while it opens the file
		acknowledged := killed(t, directory, early, rand.N(120*time.Millisecond))
		total += len(acknowledged)
		inspect(t, directory, acknowledged)
	}
	if total < rounds {
		t.Errorf("only %d events were acknowledged in %d rounds: the test killed too early to prove anything", total, rounds)
	}
	t.Logf("%d events were acknowledged in %d rounds", total, rounds)
}

// killed runs a child and kills it some time after it is ready, or after its start if early. It
// returns what the child had acknowledged.
func killed(t *testing.T, directory string, early bool, after time.Duration) (all []acknowledgement) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+directory)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	kill := func() { cmd.Process.Signal(syscall.SIGKILL) }
	defer time.AfterFunc(testkit.Patience, kill).Stop() // if it hangs, its missing output shows it
	if early {
		defer time.AfterFunc(after, kill).Stop()
	}
	line, err := lines.ReadString('\n')
	if line != "ready\n" && err != io.EOF {
		t.Fatalf("the child said %s", line)
	}
	if !early {
		defer time.AfterFunc(after, kill).Stop()
	}
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF { // half a line is no acknowledgement
			break
		}
		var a acknowledgement
		if _, err := fmt.Sscanf(line, "kept %d %d %s %d", &a.writer, &a.n, &a.id, &a.sequence); err != nil {
			t.Fatalf("the child said %s", line)
		}
		all = append(all, a)
	}
	testkit.Finish(t, testkit.Patience, "the end of the child", func() { err = cmd.Wait() })
	if err == nil || err.Error() != "signal: killed" {
		t.Fatalf("the child ended with %v", err)
	}
	return all
}

// inspect opens what a killed child left, and compares it with what was acknowledged.
func inspect(t *testing.T, directory string, acknowledged []acknowledgement) {
	t.Helper()
	heard := new(listener)
	s, err := store.Open(t.Context(), store.Config{Directory: directory, Report: heard.report})
	must(t, err)
	defer func() {
		must(t, s.Close())
		if said := heard.heard(); said != "" {
			t.Errorf("reported %s", said)
		}
	}()
	at := map[earshot.EventID]earshot.Event{}
	next := map[string]int{}
	for i, e := range everything(t, s) {
		if e.Sequence != int64(i+1) {
			t.Fatalf("event %d has the sequence %d", i+1, e.Sequence)
		}
		if _, twice := at[e.ID]; twice {
			t.Fatalf("event %s is there twice", e.ID)
		}
		at[e.ID] = e
		writer, n, _ := strings.Cut(e.Via, " ")
		writer = e.From.ID + " " + writer
		if n != strconv.Itoa(next[writer]) {
			t.Fatalf("writer %s has message %s where %d was due", writer, n, next[writer])
		}
		next[writer]++
	}
	for _, a := range acknowledged {
		e, there := at[a.id]
		if !there || e.Sequence != a.sequence || e.Via != fmt.Sprintf("%d %d", a.writer, a.n) {
			t.Fatalf("acknowledged as %+v, kept as %d %q (%v)", a, e.Sequence, e.Via, there)
		}
	}
	if got, err := s.For(everybody).Search(t.Context(), "message0", 1000); err != nil || len(acknowledged) > 0 && len(got) == 0 {
		t.Fatalf("the search finds %d, %v", len(got), err)
	}
}
