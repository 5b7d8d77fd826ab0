package dave_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"earshot/internal/discord/discordtest"
)

// shortest is the least number of bytes in a key.
const shortest = 16

// keysOf adds all runs of bytes in v, however deep, that could be a key.
func keysOf(v reflect.Value, been map[uintptr]bool, keys map[string]bool) {
	add := func(b []byte) {
		if len(b) >= shortest {
			keys[string(b)] = true
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && !been[v.Pointer()] {
			been[v.Pointer()] = true
			keysOf(v.Elem(), been, keys)
		}
	case reflect.Interface:
		if !v.IsNil() {
			keysOf(v.Elem(), been, keys)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			keysOf(v.Field(i), been, keys)
		}
	case reflect.Map:
		for at := v.MapRange(); at.Next(); {
			keysOf(at.Key(), been, keys)
			keysOf(at.Value(), been, keys)
		}
	case reflect.Slice, reflect.Array:
		var b []byte
		for i := range v.Len() {
			switch e := v.Index(i); e.Kind() {
			case reflect.Uint8:
				b = append(b, byte(e.Uint()))
			case reflect.Uint: // a word of a big number, the lowest first
				b = slices.Concat(binary.BigEndian.AppendUint64(nil, e.Uint()), b)
			default:
				keysOf(e, been, keys)
			}
		}
		add(b)
	}
}

// TestKeysOf: keysOf finds what it is meant to find.
func TestKeysOf(t *testing.T) {
	type inner struct{ key [16]byte }
	deep := struct {
		any  any
		list []inner
		n    *big.Int
	}{&inner{[16]byte{1}}, []inner{{[16]byte{2}}}, new(big.Int).SetBytes(append(make([]byte, 0, 32), strings.Repeat("n", 32)...))}
	keys := make(map[string]bool)
	keysOf(reflect.ValueOf(deep), make(map[uintptr]bool), keys)
	want := []string{"\x01" + strings.Repeat("\x00", 15), "\x02" + strings.Repeat("\x00", 15), strings.Repeat("n", 32)}
	if got := slices.Sorted(maps.Keys(keys)); !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
}

// TestErrorsHoldNoKeys: whatever a gateway says to a member of a call, no error and no status
// reveals the keys that the member has then.
func TestErrorsHoldNoKeys(t *testing.T) {
	w := newWorld(t, 1)
	w.lenient = true
	var seen []said
	for _, id := range []uint64{100, 200, 300} {
		w.join(id, false)
		for range 50 {
			for _, p := range w.others(0) {
				for len(p.in) > 0 {
					if p.in[0].call == nil {
						seen = append(seen, p.in[0])
					}
					w.deliver(p)
				}
				for len(p.out) > 0 {
					w.answer(p)
				}
			}
		}
	}
	w.together()
	keys, texts := make(map[string]bool), make(map[string]bool)
	tell := func(v any) { texts[fmt.Sprintf("%v %+v %#v", v, v, v)] = true }
	refused := 0
	for _, p := range w.others(200) { // one who saw the call begin, and one who came last
		frame, err := p.s.Seal(nil, opus)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range seen {
			for _, body := range damaged(m.body) {
				keysOf(reflect.ValueOf(p.s), make(map[uintptr]bool), keys)
				if _, err := p.s.Binary(m.op, body, w.now); err != nil {
					refused++
					tell(err)
				}
				tell(p.s.State())
			}
		}
		for _, f := range damaged(frame) {
			_, err := p.s.Open(nil, 200, f, w.now)
			tell(err)
		}
		_, err = p.s.Fingerprint(7)
		tell(err)
	}
	all := strings.Join(slices.Collect(maps.Keys(texts)), "\n")
	for key := range keys {
		for _, s := range discordtest.Printed("a key", []byte(key)) {
			if i := strings.Index(all, s.Text); i >= 0 && strings.Trim(key, "\x00") != "" {
				t.Errorf("%s is in %q", s.What, all[max(0, i-200):min(len(all), i+100)])
			}
		}
	}
	t.Logf("%d messages were refused with %d texts; %d keys were looked for", refused, len(texts), len(keys))
	if refused < 100 || len(keys) < 30 {
		t.Error("too little was refused for this test to prove anything")
	}
}

// damaged returns a message, and versions of it that were damaged on the way.
func damaged(body []byte) [][]byte {
	all := [][]byte{body, body[:len(body)/2], body[:min(len(body), 3)], append(slices.Clone(body), 0)}
	for _, at := range []int{0, 2, len(body) / 3, len(body) / 2, len(body) - 1} {
		if at < len(body) {
			b := slices.Clone(body)
			b[at] ^= 0x55
			all = append(all, b)
		}
	}
	return all
}
