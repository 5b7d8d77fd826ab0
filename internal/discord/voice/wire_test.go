package voice

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"earshot/internal/discord/dave"
)

var key32 = strings.TrimSuffix(strings.Repeat("7,", 32), ",")

func TestReadText(t *testing.T) {
	for _, tt := range []struct {
		text string
		want message
	}{
		{`{"op":8,"d":{"v":8,"heartbeat_interval":13750.5}}`, message{op: opHello, seq: -1, beat: 13750500 * time.Microsecond}},
		{`{"op":2,"d":{"ssrc":12871,"ip":"203.0.113.9","port":1234,"modes":["x","aead_aes256_gcm_rtpsize"],"experiments":[]}}`,
			message{op: opReady, seq: -1, ssrc: 12871, ip: "203.0.113.9", port: 1234, modes: []string{"x", "aead_aes256_gcm_rtpsize"}}},
		{`{"op":4,"seq":3,"d":{"mode":"m","secret_key":[` + key32 + `],"dave_protocol_version":1}}`,
			message{op: opDescription, seq: 3, mode: "m", key: bytes.Repeat([]byte{7}, 32), version: 1}},
		{`{"op":5,"seq":70000,"d":{"user_id":"80351110224678912","ssrc":9,"speaking":3}}`,
			message{op: opSpeaking, seq: 70000, users: []uint64{80351110224678912}, ssrc: 9, speaking: true}},
		{`{"op":5,"d":{"user_id":"1","ssrc":9,"speaking":0}}`, message{op: opSpeaking, seq: -1, users: []uint64{1}, ssrc: 9}},
		{`{"op":6,"d":{"t":1501184119561}}`, message{op: opAck, seq: -1, acks: 1501184119561}},
		{`{"op":6,"d":1501184119561}`, message{op: opAck, seq: -1, acks: 1501184119561}},
		{`{"op":9,"d":null}`, message{op: opResumed, seq: -1}},
		{`{"op":11,"d":{"user_ids":["1","18446744073709551615"]}}`, message{op: dave.OpConnect, seq: -1, users: []uint64{1, 1<<64 - 1}}},
		{`{"op":13,"d":{"user_id":"5"}}`, message{op: dave.OpDisconnect, seq: -1, users: []uint64{5}}},
		{`{"op":21,"d":{"transition_id":10,"protocol_version":1}}`, message{op: dave.OpPrepare, seq: -1, transition: 10, version: 1}},
		{`{"op":22,"d":{"transition_id":10}}`, message{op: dave.OpExecute, seq: -1, transition: 10}},
		{`{"op":24,"d":{"protocol_version":1,"epoch":1}}`, message{op: dave.OpEpoch, seq: -1, version: 1, epoch: 1}},
		{`{"op":18,"d":{"flags":0}}`, message{op: 18, seq: -1}},
		{`{"op":4711}`, message{op: opUnknown, seq: -1}},
		{`{"op":-1,"d":{}}`, message{op: opUnknown, seq: -1}},
	} {
		got, err := readText([]byte(tt.text))
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s\n got %+v, %v\nwant %+v", tt.text, got, err, tt.want)
		}
	}
}

func TestReadTextRefuses(t *testing.T) {
	for _, text := range []string{
		``, `{`, `[]`, `{}`, `{"op":"8"}`,
		`{"op":8,"d":{}}`, `{"op":8,"d":{"heartbeat_interval":-1}}`, `{"op":8,"d":{"heartbeat_interval":1e99}}`,
		`{"op":2,"d":{"ssrc":-1}}`, `{"op":2,"d":{"port":70000}}`, `{"op":2}`,
		`{"op":4,"d":{"secret_key":[1,2]}}`, `{"op":4,"d":{"secret_key":[` + strings.Replace(key32, "7", "256", 1) + `]}}`,
		`{"op":4,"d":{"secret_key":"AAAA"}}`,
		`{"op":5,"d":{"user_id":"ann"}}`, `{"op":11,"d":{"user_ids":["-4"]}}`, `{"op":13,"d":{"user_id":""}}`,
		`{"op":22,"d":{"transition_id":65536}}`,
	} {
		if m, err := readText([]byte(text)); err == nil {
			t.Errorf("%s was read as %+v", text, m)
		} else if strings.Contains(err.Error(), "AAAA") {
			t.Errorf("the error quotes a key: %v", err)
		}
	}
}

func TestReadBinary(t *testing.T) {
	got, err := readBinary([]byte{0x12, 0x34, 29, 0, 7, 1, 2})
	if want := (message{op: dave.OpAnnounceCommit, seq: 0x1234, body: []byte{0, 7, 1, 2}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := readBinary([]byte{1, 2}); err == nil {
		t.Error("two bytes are a message")
	}
	if got := writeBinary(26, []byte{1, 2}); !bytes.Equal(got, []byte{26, 1, 2}) {
		t.Errorf("wrote %x", got)
	}
}

func TestWriteText(t *testing.T) {
	for _, tt := range []struct {
		op   byte
		d    any
		want string
	}{
		{opIdentify, identify{1, 18446744073709551615, "s", "t", 1},
			`{"op":0,"d":{"server_id":"1","user_id":"18446744073709551615","session_id":"s","token":"t","max_dave_protocol_version":1}}`},
		{opSelect, choose{"udp", chosenSocket{"192.0.2.1", 5, modeGCM}},
			`{"op":1,"d":{"protocol":"udp","data":{"address":"192.0.2.1","port":5,"mode":"aead_aes256_gcm_rtpsize"}}}`},
		{opHeartbeat, heartbeat{1501184119561, -1}, `{"op":3,"d":{"t":1501184119561,"seq_ack":-1}}`},
		{opSpeaking, speaking{1, 0, 9}, `{"op":5,"d":{"speaking":1,"delay":0,"ssrc":9}}`},
		{opResume, resume{1, "s", "t", 4}, `{"op":7,"d":{"server_id":"1","session_id":"s","token":"t","seq_ack":4}}`},
		{dave.OpReadyFor, transition{3}, `{"op":23,"d":{"transition_id":3}}`},
	} {
		if got := string(writeText(tt.op, tt.d)); got != tt.want {
			t.Errorf("wrote %s\nwant  %s", got, tt.want)
		}
	}
}

func FuzzReadText(f *testing.F) {
	f.Add([]byte(`{"op":4,"seq":3,"d":{"mode":"m","secret_key":[` + key32 + `],"dave_protocol_version":1}}`))
	f.Add([]byte(`{"op":11,"d":{"user_ids":["1","18446744073709551615"]}}`))
	f.Add([]byte(`{"op":8,"d":{"heartbeat_interval":13750}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := readText(b)
		if err != nil {
			return
		}
		if !json.Valid(b) {
			t.Error("read what is not JSON")
		}
		if len(m.users) > len(b) || len(m.modes) > len(b) || len(m.key) > keyLen {
			t.Error("more than was said")
		}
	})
}

func FuzzReadBinary(f *testing.F) {
	f.Add([]byte{0, 1, 27, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := readBinary(b); err == nil && len(m.body) != len(b)-3 {
			t.Errorf("a body of %d bytes of %d", len(m.body), len(b))
		}
	})
}
