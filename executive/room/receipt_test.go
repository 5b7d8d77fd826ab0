package room_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	lost "earshot/executive/record"
	"earshot/executive/tool"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
)

// A keeper is a terminal that outlives the daemon. It keeps its receipts.
type keeper struct {
	*testkit.Voice
	mu       sync.Mutex
	receipts [][]byte // one for each position
}

// KeepReceipt implements [earshot.ReceiptHolder].
func (k *keeper) KeepReceipt(r []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.receipts = append(k.receipts, r)
}

// TakeReceipt implements [earshot.ReceiptHolder].
func (k *keeper) TakeReceipt() []byte { return nil }

// all returns the receipts so far.
func (k *keeper) all() [][]byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.receipts)
}

// A bearer comes with a receipt.
type bearer struct {
	*testkit.Voice
	receipt []byte
}

func (bearer) KeepReceipt([]byte)    {}
func (b bearer) TakeReceipt() []byte { return b.receipt }

var roomKey = []byte("a key that daemons share")

// lostHouse returns a room that has another one's past, which ended in the middle of an answer, and the
// receipts that a terminal had then.
func lostHouse(t *testing.T, told string) (*house, [][]byte) {
	t.Helper()
	h := newHouse()
	h.model.Rules = []llmtest.Rule{{When: "count", Reply: "five six seven eight nine ten", Every: 10 * time.Millisecond}}
	h.sealer = lost.NewSealer(roomKey, 3)
	h.away = true
	h.open(t.Context())
	terminal := &keeper{Voice: &testkit.Voice{Called: "console", Every: time.Millisecond, Flow: true}}
	h.Enter(terminal, earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}})
	h.say(t, told)
	time.Sleep(35 * time.Millisecond)
	receipts, past := terminal.all(), h.journal.Events() // what is written from now on is lost
	h.stop()
	again := newHouse()
	again.model.Rules, again.sealer, again.away = h.model.Rules, lost.NewSealer(roomKey, 4), true
	again.past, again.ids, again.lost = past, h.ids, past[0].At.Add(-time.Second)
	if _, err := again.journal.Append(t.Context(), past...); err != nil {
		t.Fatal(err)
	}
	return again, receipts
}

// comesWith has somebody read at a terminal that comes with a receipt.
func (h *house) comesWith(called string, receipt []byte) {
	h.Enter(bearer{&testkit.Voice{Called: called, Every: time.Millisecond, Flow: true}, receipt}, earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}})
}

// receiptSays returns what was heard according to a receipt.
func receiptSays(t *testing.T, h *house, receipt []byte) string {
	t.Helper()
	end, _, err := h.sealer.Open(receipt)
	if err != nil {
		t.Fatal(err)
	}
	heard := end.Body.(earshot.Reply).Delivered()
	if !strings.HasPrefix("five six seven eight", string(heard)) || heard == "" {
		t.Fatalf("it says that %q was heard", string(heard))
	}
	return string(heard)
}

// TestLostReplyIsSettled: when a room comes from a daemon that was lost, what outlets show to be heard of its
// reply is on record, once, before anything is said. What they cannot show is not, and counts.
func TestLostReplyIsSettled(t *testing.T) {
	const answered = "completed:five six seven eight nine ten"
	for _, tt := range []struct {
		name    string
		come    func(t *testing.T, h *house, receipts [][]byte)
		heard   string // which receipt counts
		dropped int
	}{
		{"one terminal", func(_ *testing.T, h *house, receipts [][]byte) {
			h.comesWith("terminal-1", receipts[len(receipts)-1])
		}, "last", 0},
		{"several", func(_ *testing.T, h *house, receipts [][]byte) {
			h.comesWith("terminal-1", receipts[2])
			time.Sleep(300 * time.Millisecond)
			h.comesWith("terminal-2", receipts[len(receipts)-1])
			h.comesWith("terminal-3", receipts[0])
		}, "last", 0},
		{"a repeated one", func(_ *testing.T, h *house, receipts [][]byte) {
			h.comesWith("terminal-1", receipts[2])
			time.Sleep(20 * time.Second) // the question was answered again after 15
			h.comesWith("terminal-2", receipts[len(receipts)-1])
		}, "third", 1},
		{"one that comes after a while", func(_ *testing.T, h *house, receipts [][]byte) {
			time.Sleep(5 * time.Second)
			h.comesWith("terminal-1", receipts[len(receipts)-1])
		}, "last", 0},
		{"a forged one", func(_ *testing.T, h *house, receipts [][]byte) {
			forged := slices.Clone(receipts[len(receipts)-1])
			forged[len(forged)-9] ^= 1
			h.comesWith("terminal-1", forged)
		}, "", 1},
		{"one by whoever knows only what a receipt is", func(t *testing.T, h *house, receipts [][]byte) {
			end, _, err := h.sealer.Open(receipts[len(receipts)-1])
			if err != nil {
				t.Fatal(err)
			}
			h.comesWith("terminal-1", lost.NewSealer([]byte("another key"), 3).Seal(end))
		}, "", 1},
		{"a fence that is yet to come", func(t *testing.T, h *house, receipts [][]byte) {
			end, _, err := h.sealer.Open(receipts[len(receipts)-1])
			if err != nil {
				t.Fatal(err)
			}
			h.comesWith("terminal-1", lost.NewSealer(roomKey, 5).Seal(end))
		}, "", 1},
		{"none", func(_ *testing.T, h *house, _ [][]byte) { h.comesWith("terminal-1", nil) }, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, receipts := lostHouse(t, "count")
				var dropped int
				h.dropped = func(queue string, n int) {
					if queue == "receipts" {
						dropped += n
					}
				}
				lostReply := map[string]string{"": "failed:", "third": "interrupted:" + receiptSays(t, h, receipts[2]), "last": "interrupted:" + receiptSays(t, h, receipts[len(receipts)-1])}[tt.heard]
				h.open(t.Context())
				tt.come(t, h, receipts)
				time.Sleep(time.Minute)
				h.stop()
				if got, want := h.answers(), lostReply+" | "+answered; got != want || dropped != tt.dropped {
					t.Errorf("on record is %q, want %q; %d were dropped, want %d", got, want, dropped, tt.dropped)
				}
				if strings.Contains(h.logged.String(), "seven") {
					t.Error("what was said is in the log")
				}
			})
		})
	}
}

// TestLostReplyIsSettledWithoutAQuestion: what was heard of a lost reply is on record even if nobody asks
// anything, and what it was about is not answered again: it was a reminder, or was taken back.
func TestLostReplyIsSettledWithoutAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, receipts := lostHouse(t, "count")
		h.past = slices.DeleteFunc(h.past, func(e earshot.Event) bool { return e.Body.Kind() == earshot.KindMessage })
		want := "interrupted:" + receiptSays(t, h, receipts[2])
		h.open(t.Context())
		h.comesWith("terminal-1", receipts[2])
		time.Sleep(time.Minute)
		if got := h.answers(); got != want {
			t.Errorf("on record is %q, want %q", got, want)
		}
		h.stop()
	})
}

// TestModelKnowsWhatWasHeard: the model that is asked again reads what was heard of its lost reply, and after it
// the question, though somebody came meanwhile.
func TestModelKnowsWhatWasHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, receipts := lostHouse(t, "count")
		h.open(t.Context())
		h.comesWith("terminal-1", receipts[len(receipts)-1])
		must(t, h.Admit(t.Context(), earshot.Event{From: ann, Body: earshot.Presence{Session: "1", Here: true}}))
		time.Sleep(time.Minute)
		h.stop()
		var said []string
		for _, req := range h.model.Seen() {
			for _, m := range req.Messages[1 : len(req.Messages)-1] {
				said = append(said, fmt.Sprintf("%s: %s", m.Role, m.Text))
			}
		}
		all := strings.Join(said, "\n")
		heard, off, question := strings.Index(all, receiptSays(t, h, receipts[len(receipts)-1])), strings.Index(all, "You were switched off there."), strings.LastIndex(all, "count")
		if len(h.model.Seen()) != 1 || heard < 0 || off < heard || question < off {
			t.Errorf("%d requests, of which the model reads\n%s", len(h.model.Seen()), all)
		}
	})
}

// TestReceiptsEnd: nobody keeps a receipt of a reply that is on record.
func TestReceiptsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.sealer, h.away = lost.NewSealer(roomKey, 3), true
		h.open(t.Context())
		terminal := &keeper{Voice: &testkit.Voice{Called: "console", Every: time.Millisecond, Flow: true}}
		h.Enter(terminal, earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}})
		h.say(t, "count")
		time.Sleep(time.Minute)
		h.stop()
		all := terminal.all()
		if len(all) < 2 || all[len(all)-1] != nil || all[len(all)-2] == nil {
			t.Errorf("%d receipts, the last of %d bytes", len(all), len(all[len(all)-1]))
		}
	})
}

// TestReceiptOfWhatAToolFound: a receipt of words that rest on what a tool has found, in the middle of the turn, is
// for those who may see that, and is erased with what it rests on.
func TestReceiptOfWhatAToolFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		found := earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{participants.Owner}}
		h := newHouse()
		h.tools = (&shelf{holds: tool.Answer{Text: "milk", Visibility: found, Sources: []earshot.EventID{"secret"}}}).table()
		h.model.Rules = []llmtest.Rule{{When: "list", Reply: "Wait.", Calls: []llm.Call{{Tool: "read_file"}}}, after("", "", "You have milk.")}
		h.sealer, h.away = lost.NewSealer(roomKey, 3), true
		h.open(t.Context())
		terminal := &keeper{Voice: &testkit.Voice{Called: "console", Every: time.Millisecond, Flow: true}}
		h.Enter(terminal, earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}})
		h.say(t, "what is on my list?")
		time.Sleep(time.Minute)
		h.stop()
		var seen []string
		for _, r := range terminal.all() {
			if r == nil {
				continue
			}
			end, _, err := h.sealer.Open(r)
			if err != nil {
				t.Fatal(err)
			}
			milk := strings.Contains(string(end.Body.(earshot.Reply).Offered), "milk")
			if private := reflect.DeepEqual(end.Visibility, found); milk && (!private || !slices.Contains(end.Sources, "secret")) {
				t.Errorf("what was found is for %+v, from %v", end.Visibility, end.Sources)
			}
			seen = append(seen, string(end.Body.(earshot.Reply).Offered))
		}
		if len(seen) == 0 || !strings.HasSuffix(seen[len(seen)-1], "milk.") {
			t.Errorf("receipts are of %q", seen)
		}
	})
}
