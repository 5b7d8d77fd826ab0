package main

import (
	"strings"
	"syscall"
	"testing"

	"earshot"
	"earshot/internal/testkit"
	"earshot/llm/ollama/ollamatest"
)

// TestAloudQuestion: a question asked aloud is understood, answered aloud and recorded.
func TestAloudQuestion(t *testing.T) {
	talks(t)
	p := newParlour(t)
	p.scripted(talker)
	p.wakes()
	recording := p.records()
	p.says(bob, "earshot, what is the weather like today")
	reply := p.replied(1)[0]
	if reply.Outcome != earshot.Completed || reply.Delivered() != "It is warm and dry today." {
		t.Errorf("the reply was %s, and %q was heard of it", reply.Outcome, string(reply.Delivered()))
	}
	rendered(t, "It is warm and dry today.").truthful(t, reply, p.recorded(recording))
	shown := p.earshot(nil, "history").out
	if lines := strings.Split(strings.TrimSpace(shown), "\n"); len(lines) != 3 || !strings.Contains(lines[0], "voice 1    [has joined]") ||
		wrong(lines[1], "voice 1 Earshot what is the weather like today") > 3 || !strings.Contains(lines[2], "Earshot    It is warm and dry today.") {
		t.Errorf("history shows\n%s", shown)
	}
}

// TestAloudLate: a question that was asked while other programs had the processor, from its first
// word to its last, is understood and answered once they let go of it.
func TestAloudLate(t *testing.T) {
	talks(t)
	p := newParlour(t)
	p.scripted(talker)
	d := p.wakes()
	p.sounds(hush(1000)) // lets the microphone settle
	d.Process.Signal(syscall.SIGSTOP)
	p.says(bob, "earshot, what is the weather like today")
	d.Process.Signal(syscall.SIGCONT)
	if reply := p.replied(1)[0]; reply.Outcome != earshot.Completed || reply.Delivered() != "It is warm and dry today." {
		t.Errorf("the reply was %s, and %q was heard of it", reply.Outcome, string(reply.Delivered()))
	}
	if said := string(p.heard(1)[0].Text); wrong(said, "earshot what is the weather like today") > 3 {
		t.Errorf("understood was %q", said)
	}
	if log := p.log(); strings.Contains(log, "lost") {
		t.Errorf("somebody was blamed:\n%s", log)
	}
}

// TestAloudFiller: somebody who waits for a slow model hears a sign that the answer is coming,
// which is not recorded anywhere.
func TestAloudFiller(t *testing.T) {
	talks(t)
	p := newParlour(t, "EARSHOT_EXECUTIVE_SPEECH_FILLER_AFTER_SECONDS=1.5")
	p.scripted("every_seconds: 12\nreply: Warm.\n")
	p.wakes()
	recording := p.records()
	p.asks(bob, "earshot, what is the weather like today", recording)
	if replies := testkit.Bodies[earshot.Reply](p.journal()); len(replies) > 0 {
		t.Errorf("what sounds is the reply: %+v", replies)
	}
	reply := p.replied(1)[0]
	if reply.Outcome != earshot.Completed || reply.Offered != "Warm." || reply.Delivered() != reply.Offered {
		t.Errorf("the reply was %s, %q, and %q was heard of it", reply.Outcome, string(reply.Offered), string(reply.Delivered()))
	}
	if shown := p.earshot(nil, "history").out; strings.Contains(strings.ToLower(shown), "moment") || strings.Contains(shown, "Let me") {
		t.Errorf("history shows\n%s", shown)
	}
}

// TestAloudOllama asks a model on a real server aloud, and cuts its reply off.
func TestAloudOllama(t *testing.T) {
	talks(t)
	needVoice(t)
	s := ollamatest.Start(t, ollamatest.Options{})
	if err := s.Make(t.Context(), "speaker", ollamatest.Model{Tools: true, Says: tale}); err != nil {
		t.Fatal(err)
	}
	p := newParlour(t, "EARSHOT_EXECUTIVE_LLM_HOST="+s.Host(), "EARSHOT_EXECUTIVE_LLM_MODEL=speaker",
		"EARSHOT_EXECUTIVE_CONVERSATIONAL_SYSTEM_PROMPT=Talk.", "EARSHOT_EXECUTIVE_CONVERSATIONAL_MAX_TOKENS=2000")
	p.wakes()
	recording := p.records()
	p.asks(bob, "earshot, tell me a story", recording)
	p.speaking(recording, 2000)
	p.says(bob, "stop talking")
	reply := p.replied(1)[0]
	if reply.Outcome != earshot.Interrupted || !strings.HasPrefix(tale, string(reply.Delivered())) {
		t.Errorf("the reply was %s, and %q was heard of it", reply.Outcome, string(reply.Delivered()))
	}
	rendered(t, strings.SplitAfter(tale, ", ")[:4]...).truthful(t, reply, p.recorded(recording))
}

// TestAloudToOthers: what people say to each other is recorded and gets no answer. It does not cut
// off what the agent is saying to somebody else, and it is understood meanwhile.
func TestAloudToOthers(t *testing.T) {
	talks(t)
	p := newParlour(t, "EARSHOT_EXECUTIVE_SPEECH_ANSWER_TYPED_ALOUD=true")
	p.scripted(talker)
	p.wakes()
	recording := p.records()
	p.says(bob, "shall we have lunch together")
	p.says(eve, "I would like a cup of coffee")
	p.heard(2)
	if n := loud(recording.PCM(0)); n != 0 {
		t.Errorf("nobody spoke to it, and %d samples came out", n)
	}
	p.post("tell me about the tide")
	p.speaking(recording, 1000) // long enough to learn that there is no echo
	p.says(bob, "shall we have lunch together")
	reply := p.replied(1)[0]
	if reply.Outcome != earshot.Completed {
		t.Errorf("the reply was %s", reply.Outcome)
	}
	rendered(t, tide...).truthful(t, reply, p.recorded(recording))
	p.heard(3)
	slips := 0
	for i, want := range []string{"shall we have lunch together", "i would like a cup of coffee", "shall we have lunch together"} {
		e := utterances(p.journal())[i]
		u := e.Body.(earshot.Utterance)
		if slips += wrong(string(u.Text), want); len(e.To) != 0 || slips > 5 { // of seventeen words in all
			t.Errorf("%q was written down as %q, to %v; %d words were misunderstood", want, string(u.Text), e.To, slips)
		}
	}
	if n := len(p.replied(1)); n != 1 {
		t.Errorf("%d replies to one question", n)
	}
}

// utterances returns the events that are utterances.
func utterances(events []earshot.Event) (list []earshot.Event) {
	for _, e := range events {
		if _, ok := e.Body.(earshot.Utterance); ok {
			list = append(list, e)
		}
	}
	return list
}

// wrong returns the number of words by which got and want differ: those of want that are missing,
// in order, or those of got that are not in want, whichever is more. Recognisers slip.
func wrong(got, want string) int {
	g, w := strings.Fields(strings.ToLower(got)), strings.Fields(strings.ToLower(want))
	row := make([]int, len(w)+1) // lengths of the longest common subsequence, for each number of words of want
	for _, x := range g {
		diagonal := 0
		for i, y := range w {
			best := max(row[i], row[i+1])
			if x == y {
				best = max(best, diagonal+1)
			}
			diagonal, row[i+1] = row[i+1], best
		}
	}
	return max(len(g), len(w)) - row[len(w)]
}
