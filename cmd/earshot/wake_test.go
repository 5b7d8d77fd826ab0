package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	"earshot/models/catalog"
	"earshot/models/modeltest"
	"earshot/models/wyoming/wyomingtest"
)

// TestWake: a model that is installed, or a server, notices the agent's name while it speaks, and
// doctor says so. If it goes away, what comes with earshot takes its place, which is said once.
func TestWake(t *testing.T) {
	t.Parallel()
	helpertest.Build(t, helper.NeuralProgram)
	for name, tt := range map[string]struct {
		prepare func(p *parlour) (says string, fails func())
		call    string // in tones
	}{
		"model": {func(p *parlour) (string, func()) {
			set := filepath.Join(p.dir, "data/earshot/models/sets/kws")
			if err := errors.Join(modeltest.WriteSpotter(set, "▁ear", "▁", "shot", "▁stop"), modeltest.Describe(set, catalog.Wake, catalog.LSTM)); err != nil {
				p.t.Fatal(err)
			}
			return "the name is also noticed by the model kws, the best that is installed for en", nil
		}, "one three"},
		"server": {func(p *parlour) (string, func()) {
			s := wyomingtest.StartWaker(p.t)
			p.env = append(p.env, "EARSHOT_SPEECH_WAKE_WYOMING_ADDRESS="+string(s.Address))
			return "the name is also noticed by the Wyoming server at " + string(s.Address), s.Stop
		}, "one"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newParlour(t, "EARSHOT_EXECUTIVE_SPEECH_ANSWER_TYPED_ALOUD=true")
			says, fails := tt.prepare(p)
			p.scripted("reply: " + strings.Repeat("This is a long story that goes on and on. ", 60) + "\n")
			testkit.Await(t, soon, "doctor to say "+says, func() bool { // what is busy may not answer it in time
				return strings.Contains(strings.Join(strings.Fields(p.earshot(nil, "doctor").out), " "), says)
			})
			d := p.wakes()
			recording := p.records()
			p.post("tell me a story")
			p.speaking(recording, 500)
			testkit.Await(t, soon, "the name to cut the story", func() bool {
				p.sounds(slices.Concat(modeltest.Tones(tt.call), hush(500)))
				return len(testkit.Bodies[earshot.Reply](p.journal())) > 0
			})
			if reply := p.replied(1)[0]; reply.Outcome != earshot.Interrupted {
				t.Errorf("the reply was %s", reply.Outcome)
			}
			if fails != nil {
				fails()
				testkit.Await(t, soon, "the notice that the server failed, once", func() bool {
					return strings.Contains(p.earshot(nil, "status").out+p.log(), "the embedded recogniser listens for the name until it is well")
				})
			}
			d.end(syscall.SIGINT)
		})
	}
}
