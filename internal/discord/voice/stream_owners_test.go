package voice

import (
	"slices"
	"testing"
	"time"
)

func held(ssrc uint32, seq int) packet {
	return packet{ssrc, uint16(seq), 0, []byte{byte(seq)}}
}

func seqs(packets []heldPacket) (out []int) {
	for _, p := range packets {
		out = append(out, int(p.seq))
		if len(p.payload) != 1 || p.payload[0] != byte(p.seq) {
			return []int{-1}
		}
	}
	return out
}

func upTo(from, to int) (out []int) {
	for n := from; n < to; n++ {
		out = append(out, n)
	}
	return out
}

func TestBinding(t *testing.T) {
	b := newBinding(99)
	b.arrived(3, 1, 2, 2, 99, 0)
	if got := b.candidates(); !slices.Equal(got, []uint64{1, 2, 3}) {
		t.Errorf("candidates %v", got)
	}
	if p := b.bind(10, owner{user: 1}); len(p) != 0 || b.owner(10).user != 1 {
		t.Errorf("early: %v, owner %d", p, b.owner(10).user)
	}
	if got := b.candidates(); !slices.Equal(got, []uint64{2, 3, 1}) {
		t.Errorf("who has a stream comes last: %v", got)
	}

	for n := range 30 {
		b.hold(noon.Add(time.Duration(n)*frame), held(20, n))
		b.hold(noon.Add(time.Duration(n)*frame), held(30, n))
	}
	if got := seqs(b.bind(20, owner{user: 2})); !slices.Equal(got, upTo(0, 30)) {
		t.Errorf("late: held %v", got)
	}
	b.expire(noon.Add(patience + 9*frame))
	if got := seqs(b.bind(30, owner{user: 3})); !slices.Equal(got, upTo(10, 30)) || b.lost != 10 {
		t.Errorf("later: held %v, %d lost", got, b.lost)
	}

	b.left(2)
	if b.owner(20).user != 0 || !slices.Equal(b.candidates(), []uint64{1, 3}) {
		t.Errorf("who left owns %d; candidates %v", b.owner(20).user, b.candidates())
	}

	for n := range 5 {
		b.hold(noon, held(40, n))
	}
	b.expire(noon.Add(time.Hour))
	if got := b.bind(40, owner{user: 1}); len(got) != 0 || b.lost != 15 {
		t.Errorf("never: held %v, %d lost", got, b.lost)
	}
}

func TestBindingIsBounded(t *testing.T) {
	b := newBinding(99)
	for n := range holds + 20 {
		b.hold(noon, held(1, n))
	}
	if got := seqs(b.bind(1, owner{user: 7})); !slices.Equal(got, upTo(20, holds+20)) || b.lost != 20 {
		t.Errorf("held %v, %d lost", got, b.lost)
	}
	for ssrc := range uint32(10_000) {
		b.hold(noon, held(100+ssrc, int(ssrc)))
	}
	if len(b.held) != unknowns || b.lost != 20+10_000-unknowns {
		t.Errorf("%d are held, %d lost", len(b.held), b.lost)
	}
	for u := range uint64(1000) {
		b.arrived(u)
	}
	if n := len(b.candidates()); n != strangers {
		t.Errorf("%d keys are tried", n)
	}
	for n := range uint64(3 * mostHere) {
		b.arrived(n + 1)
		b.bind(uint32(n), owner{user: n%50 + 1})
	}
	if len(b.here) > mostHere || len(b.owners) > mostOwned {
		t.Errorf("%d are here and own %d streams", len(b.here), len(b.owners))
	}
	if last := uint32(3*mostHere - 1); b.owner(last).user == 0 || b.bind(last, owner{user: 8}) != nil || b.owner(last).user != 8 {
		t.Error("the newest stream is nobody's")
	}
}
