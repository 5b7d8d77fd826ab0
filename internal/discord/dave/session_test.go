package dave_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot/internal/discord/dave"
	"earshot/internal/discord/mls"
)

// TestAnyOrder lets people come and go, versions change and messages arrive in any order that the
// protocol allows, and checks after each step what must always be true.
func TestAnyOrder(t *testing.T) { anyOrder(t, false) }

// TestRecovery also damages commits of members and welcomes on their way: a member that cannot follow says so,
// and comes back.
func TestRecovery(t *testing.T) { anyOrder(t, true) }

func anyOrder(t *testing.T, damage bool) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, uint16(rapid.SampledFrom([]int{1, 1, 1, 0}).Draw(t, "version")))
		next := uint64(100)
		actions := map[string]func(*rapid.T){
			"join": func(t *rapid.T) {
				if len(w.peers) >= 6 {
					t.Skip()
				}
				id := next
				if len(w.gone) > 0 && rapid.Bool().Draw(t, "again") {
					id = w.gone[rapid.IntRange(0, len(w.gone)-1).Draw(t, "who")].id
				}
				if w.peers[id] != nil {
					t.Skip()
				}
				next = max(next, id+1)
				w.join(id, rapid.Bool().Draw(t, "early"))
			},
			"leave": func(t *rapid.T) { w.leave(somebody(t, w).id) },
			"arrive": func(t *rapid.T) {
				p := somebody(t, w)
				for n := rapid.IntRange(1, 6).Draw(t, "n"); n > 0 && len(p.in) > 0; n-- {
					w.deliver(p)
				}
			},
			"answer": func(t *rapid.T) {
				p := somebody(t, w)
				for n := rapid.IntRange(1, 6).Draw(t, "n"); n > 0 && len(p.out) > 0; n-- {
					w.answer(p)
				}
			},
			"batch":  func(t *rapid.T) { w.batch = !w.batch; w.flush() },
			"settle": func(t *rapid.T) { w.settle(); w.together() },
			"late":   func(t *rapid.T) { w.now = w.now.Add(2 * time.Second); w.execute(true) },
			"version": func(t *rapid.T) {
				w.settle() // somebody who comes at this moment has to be added twice, which another test does
				if w.version > 0 {
					w.downgrade()
				} else {
					w.upgrade()
				}
			},
			"": func(t *rapid.T) {
				w.now = w.now.Add(100 * time.Millisecond)
				w.check()
			},
		}
		if damage {
			w.lenient = true
			actions["damage"] = func(t *rapid.T) {
				p := somebody(t, w)
				for i, m := range p.in {
					if (m.op == dave.OpAnnounceCommit && !founding(m.body)) || m.op == dave.OpWelcome {
						at := rapid.IntRange(2, len(m.body)-1).Draw(t, "at")
						p.in[i].body = slices.Clone(m.body) // the same message goes to others
						p.in[i].body[at] ^= 1
					}
				}
			}
		}
		t.Repeat(actions)
		w.settle()
		w.together()
		w.now = w.now.Add(time.Minute)
		w.check()
	})
}

// founding reports whether a message announces the first commit of a group. Only its author follows
// that one, and has to recognise it by its bytes: a changed one is that of another founder, whose
// welcome would follow. Bytes do not change on a connection with TLS; what a member gets wrong does.
func founding(announced []byte) bool {
	h, _, err := mls.Inspect(announced[2:])
	return err == nil && h.Epoch == 0
}

func somebody(t *rapid.T, w *world) *peer {
	if len(w.peers) == 0 {
		t.Skip()
	}
	return rapid.SampledFrom(w.others(0)).Draw(t, "who")
}
