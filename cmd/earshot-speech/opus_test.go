//go:build cgo

package main

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
)

// answered is the sound with which a call answers messages.
func answered(t testing.TB, messages ...helper.Sound) (answers []helper.Sound, err error) {
	link := helpertest.New("media", func(ctx context.Context, s *helper.Server) error { return media(ctx, s, nil) })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var sending sync.WaitGroup
	sending.Go(func() {
		if link.Send(codec.MsgCall, nil) != nil {
			return
		}
		for _, m := range append(messages, helper.Sound{Stream: 1 << 31}) { // the end of an utterance is answered by one
			if link.SendSound(m.Stream, m.Data) != nil {
				return
			}
		}
	})
	err = link.Run(ctx, helper.Handler{Sound: func(m helper.Sound) error {
		if m.Stream == 1<<31 {
			stop()
			return nil
		}
		answers = append(answers, helper.Sound{Stream: m.Stream, Data: bytes.Clone(m.Data)})
		return nil
	}})
	testkit.Finish(t, 5*testkit.Patience, "the end of what is sent", sending.Wait)
	return answers, err
}

// heard is a message with one packet.
func heard(lost int, data ...byte) helper.Sound {
	p := codec.Packet{Speaker: 1, At: time.Unix(5, 0), Lost: lost, Data: data}
	return helper.Sound{Data: codec.AppendPacket(nil, &p)}
}

func TestCall(t *testing.T) {
	speech := helper.Sound{Stream: 1, Data: codec.AppendSpeech(nil, 8000, make([]int16, 320))} // 40 ms
	end := helper.Sound{Stream: 1}
	const size = 6 + audio.Size
	for _, tt := range []struct {
		name     string
		messages []helper.Sound
		want     []int // lengths of the answers on stream 0; how many on stream 1
		said     int
		wrong    bool
	}{
		{"nothing", nil, nil, 0, false},
		{"silence", []helper.Sound{heard(0, 0xf8, 0xff, 0xfe)}, []int{size}, 0, false},
		{"lost ones alone", []helper.Sound{heard(3)}, []int{3 * size}, 0, false},
		{"more than fit into a message", []helper.Sound{heard(100)}, []int{98 * size, 2 * size}, 0, false},
		{"given up, and again", []helper.Sound{heard(0), heard(1), heard(0), heard(1)}, []int{size, size}, 0, false},
		{"half a packet", []helper.Sound{{Data: []byte{1, 2, 3}}}, nil, 0, true},
		{"too many lost", []helper.Sound{heard(101)}, nil, 0, true},
		{"an utterance", []helper.Sound{speech, end}, nil, 4, false},
		{"one that is given up", []helper.Sound{speech, {Stream: 2}, speech, end}, nil, 1, false},
		{"an odd one", []helper.Sound{{Stream: 1, Data: []byte{0x40, 0x1f, 0, 0, 1}}}, nil, 0, true},
		{"a rate that is none", []helper.Sound{{Stream: 1, Data: codec.AppendSpeech(nil, 96000, nil)}}, nil, 0, true},
		{"another rate on the way", []helper.Sound{speech, {Stream: 1, Data: codec.AppendSpeech(nil, 48000, make([]int16, 1920))}, end}, nil, 6, false},
		{"no samples", []helper.Sound{{Stream: 1, Data: codec.AppendSpeech(nil, 48000, nil)}, end}, nil, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answers, err := answered(t, tt.messages...)
			if wrong := errors.Is(err, helper.ErrProtocol); wrong != tt.wrong || err != nil && !wrong {
				t.Errorf("ended with %v", err)
			}
			var lengths []int
			said := 0
			for _, a := range answers {
				if a.Stream == 0 {
					lengths = append(lengths, len(a.Data))
				} else if a.Stream == 1 {
					said++
				}
			}
			if len(lengths) != len(tt.want) || said != tt.said {
				t.Fatalf("answered with %v and %d, want %v and %d", lengths, said, tt.want, tt.said)
			}
			for i := range lengths {
				if lengths[i] != tt.want[i] {
					t.Errorf("answered with %v, want %v", lengths, tt.want)
				}
			}
		})
	}
}

// FuzzCall: whatever comes in a call, the helper lives, or says that the daemon has
// broken the protocol; and what it answers is frames, and Opus that is not too long.
func FuzzCall(f *testing.F) {
	f.Add(uint32(0), heard(2, 0xf8, 0xff, 0xfe).Data, uint32(0), heard(0, 0x4c, 7, 1, 2, 3).Data)
	f.Add(uint32(1), codec.AppendSpeech(nil, 11025, make([]int16, 200)), uint32(1), []byte{})
	f.Add(uint32(0), heard(0, 0xfb, 0x03, 1, 2, 3, 4, 5, 6).Data, uint32(0), heard(0).Data)
	f.Fuzz(func(t *testing.T, one uint32, first []byte, two uint32, second []byte) {
		if max(len(first), len(second)) > helper.MaxSound || max(one, two) >= 1<<31 {
			t.Skip()
		}
		answers, err := answered(t, helper.Sound{Stream: one, Data: first}, helper.Sound{Stream: two, Data: second})
		if err != nil && !errors.Is(err, helper.ErrProtocol) {
			t.Errorf("ended with %v", err)
		}
		for _, a := range answers {
			if a.Stream == 0 && len(a.Data)%(6+audio.Size) != 0 || a.Stream > 0 && len(a.Data) > codec.MaxOpus {
				t.Errorf("%d bytes on %d", len(a.Data), a.Stream)
			}
		}
	})
}

// FuzzOpusEar: whatever a packet holds, it is decoded or damaged, and the time goes
// on.
func FuzzOpusEar(f *testing.F) {
	f.Add([]byte{0xf8, 0xff, 0xfe})
	f.Add([]byte{0xfb, 0x03, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe})
	f.Add([]byte{0x4c, 0x87, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	c := newCall(nil)
	if c == nil {
		f.Skip("no libopus")
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || len(data) > codec.MaxOpus {
			t.Skip()
		}
		n, damaged := 0, 0
		ear, err := newOpusDecoder(c.decoder, func(d int, _ []byte) error { n++; damaged += d; return nil })
		if err != nil {
			t.Fatal(err)
		}
		defer ear.close()
		for range 3 {
			if err := ear.take(codec.Packet{At: ear.due(), Lost: 1, Data: data}); err != nil {
				t.Fatal(err)
			}
		}
		if n < 3 || n > 3*7 || damaged > 3 {
			t.Errorf("%d frames, %d damaged", n, damaged)
		}
	})
}
