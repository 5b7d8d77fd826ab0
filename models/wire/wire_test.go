package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/helper"
	"earshot/models/wire"
)

func TestDecodeHypothesis(t *testing.T) {
	for _, tt := range []struct {
		body string
		ok   bool
	}{
		{`{"stream":3,"text":"what time is it","confidence":0.8,"means":[41,-5]}`, true},
		{`{"stream":3,"text":""}`, true},
		{`{"stream":3,"text":"what","heard":1600}`, true},
		{`{"stream":3,"text":"what","heard":-1}`, false},
		{`{"stream":-1}`, false},
		{`{"confidence":1.1}`, false},
		{`{"confidence":-0.1}`, false},
		{`{"means":[` + strings.Repeat(`0,`, wire.MaxMeans) + `0]}`, false},
		{`{"means":[1e30]}`, false},
		{`{"text":"` + strings.Repeat("a", earshot.MaxText+1) + `"}`, false},
		{`[]`, false},
		{``, false},
	} {
		_, err := wire.DecodeHypothesis(helper.Control{Name: wire.FinalName, Body: json.RawMessage(tt.body)})
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, helper.ErrProtocol) {
			t.Errorf("%.80s: %v", tt.body, err)
		}
	}
}

func TestDecodeReadyHear(t *testing.T) {
	for _, tt := range []struct {
		body string
		is   wire.ReadyHear
		ok   bool
	}{
		{``, wire.ReadyHear{}, true}, // from an earshot-speech of before
		{`null`, wire.ReadyHear{}, true},
		{`{"chunk":2560,"tail":2880,"concurrent":true}`, wire.ReadyHear{Chunk: 2560, Tail: 2880, Concurrent: true}, true},
		{`{"whole":true}`, wire.ReadyHear{Whole: true}, true},
		{`{"chunk":-1}`, wire.ReadyHear{}, false},
		{`{"tail":1000000}`, wire.ReadyHear{}, false},
		{`[]`, wire.ReadyHear{}, false},
	} {
		is, err := wire.DecodeReadyHear(helper.Control{Name: wire.ReadyName, Body: json.RawMessage(tt.body)})
		if is != tt.is || (err == nil) != tt.ok || err != nil && !errors.Is(err, helper.ErrProtocol) {
			t.Errorf("%s: %+v, %v", tt.body, is, err)
		}
	}
}

func TestDecodePhrase(t *testing.T) {
	for _, tt := range []struct {
		phrase wire.Phrase
		ok     bool
	}{
		{wire.Phrase{Stream: 1 | wire.Spot, Text: "stop", Sample: 320}, true},
		{wire.Phrase{Stream: 1, Text: "stop"}, false},
		{wire.Phrase{Stream: 1 | wire.Spot}, false},
		{wire.Phrase{Stream: 1 | wire.Spot, Text: "stop", Sample: -1}, false},
	} {
		body, err := json.Marshal(tt.phrase)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := wire.DecodePhrase(helper.Control{Body: body}); (err == nil) != tt.ok {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestMarks: encoded marks are decoded to the same.
func TestMarks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []wire.Mark
		var b []byte
		at := wire.Mark{}
		for range rapid.IntRange(0, 20).Draw(t, "marks") {
			m := wire.Mark{Byte: at.Byte + uint32(rapid.IntRange(0, 9).Draw(t, "byte")), Sample: at.Sample + uint32(rapid.IntRange(0, 9999).Draw(t, "sample"))}
			want, b, at = append(want, m), wire.AppendMarks(b, m), wire.Mark{Byte: m.Byte + 1, Sample: m.Sample}
		}
		got, err := wire.DecodeMarks(nil, b, int(at.Byte))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("read %v, %v; want %v", got, err, want)
		}
	})
}

// TestNothingIsPrinted: of what somebody said only the length is printed, wherever it stands.
func TestNothingIsPrinted(t *testing.T) {
	h := wire.Hypothesis{Text: "secret"}
	if s := fmt.Sprintf("%v %+v %v", h, h, wire.Phrase{Text: "secret"}); strings.Contains(s, "secret") {
		t.Errorf("printed %s", s)
	}
}

func FuzzHypothesis(f *testing.F) {
	f.Add([]byte(`{"stream":3,"text":"what","confidence":0.8,"means":[41]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := wire.DecodeHypothesis(helper.Control{Body: b})
		if err == nil && (len(h.Means) > wire.MaxMeans || !(h.Confidence <= 1)) {
			t.Errorf("believed %+v", h)
		}
	})
}

func FuzzReadyHear(f *testing.F) {
	f.Add([]byte(`{"chunk":2560,"tail":2880,"concurrent":true}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := wire.DecodeReadyHear(helper.Control{Body: b})
		if err == nil && (r.Chunk < 0 || r.Tail < 0) {
			t.Errorf("believed %+v", r)
		}
	})
}

func FuzzMarks(f *testing.F) {
	f.Add(wire.AppendMarks(wire.AppendMarks(nil, wire.Mark{}), wire.Mark{Byte: 6, Sample: 9000}), 11)
	f.Fuzz(func(t *testing.T, b []byte, text int) {
		marks, err := wire.DecodeMarks(nil, b, text)
		for i, m := range marks {
			if err == nil && (int64(m.Byte) >= int64(text) || i > 0 && m.Byte <= marks[i-1].Byte) {
				t.Errorf("believed %v for a text of %d", marks, text)
			}
		}
	})
}
