package voice

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"earshot/internal/discord/dave"
)

// The opcodes of the voice gateway that do not concern encryption; package dave has
// the others. All of these are JSON.
const (
	opIdentify    = 0 // ours
	opSelect      = 1 // ours
	opReady       = 2
	opHeartbeat   = 3 // ours
	opDescription = dave.OpReady
	opSpeaking    = 5 // both directions
	opAck         = 6
	opResume      = 7 // ours
	opHello       = 8
	opResumed     = 9
)

// opUnknown stands for an invalid opcode. Like every unknown opcode, it is ignored.
const opUnknown = 255

// most is the longest message that is read: a welcome to a large call is some 100 kB.
const most = 1 << 20

// A message is a gateway message: its opcode says which fields are set.
type message struct {
	op  byte
	seq int // for a resume; -1 if it has none

	beat time.Duration // opHello
	acks int64         // opAck: the number of the heartbeat

	ssrc  uint32   // opReady, opSpeaking
	ip    string   // opReady
	port  uint16   // opReady
	modes []string // opReady

	mode string // opDescription
	key  []byte // opDescription: 32 bytes

	users    []uint64 // OpConnect; one user in opSpeaking and OpDisconnect
	speaking bool     // opSpeaking

	transition uint16
	version    uint16 // OpPrepare, OpEpoch, opDescription
	epoch      uint64

	body []byte // of a binary message, a part of the buffer read
}

// A snowflake is a number of Discord's, in decimal within a string.
type snowflake uint64

func (s *snowflake) UnmarshalJSON(b []byte) error {
	if len(b) >= 2 && b[0] == '"' && b[len(b)-1] == '"' {
		b = b[1 : len(b)-1]
	}
	n, err := strconv.ParseUint(string(b), 10, 64)
	*s = snowflake(n)
	return err
}

func (s snowflake) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatUint(uint64(s), 10)), nil
}

// readText parses a message in JSON.
func readText(b []byte) (m message, err error) {
	var frame struct {
		Op  *int            `json:"op"`
		Seq *int            `json:"seq"`
		D   json.RawMessage `json:"d"`
	}
	if err := json.Unmarshal(b, &frame); err != nil {
		return m, fmt.Errorf("voice gateway: not JSON: %w", err)
	}
	if frame.Op == nil {
		return m, errors.New("voice gateway: a message without an opcode")
	}
	m.op, m.seq = opUnknown, -1
	if *frame.Op >= 0 && *frame.Op < opUnknown {
		m.op = byte(*frame.Op)
	}
	if frame.Seq != nil && *frame.Seq >= 0 {
		m.seq = *frame.Seq
	}
	read, ok := readers[m.op]
	if !ok {
		return m, nil
	}
	if err := read(&m, frame.D); err != nil {
		return m, fmt.Errorf("voice gateway: opcode %d: %w", m.op, err)
	}
	return m, nil
}

// readers has a reader for the data of each opcode with data.
var readers = map[byte]func(m *message, data []byte) error{
	opHello: func(m *message, data []byte) error {
		var d struct {
			Interval float64 `json:"heartbeat_interval"` // in milliseconds
		}
		err := json.Unmarshal(data, &d)
		if err == nil && !(d.Interval >= 100 && d.Interval <= 10*60*1000) {
			err = fmt.Errorf("a heartbeat every %g ms", d.Interval)
		}
		m.beat = time.Duration(d.Interval * float64(time.Millisecond))
		return err
	},
	opReady: func(m *message, data []byte) error {
		var d struct {
			SSRC  uint32   `json:"ssrc"`
			IP    string   `json:"ip"`
			Port  uint16   `json:"port"`
			Modes []string `json:"modes"`
		}
		err := json.Unmarshal(data, &d)
		m.ssrc, m.ip, m.port, m.modes = d.SSRC, d.IP, d.Port, d.Modes
		return err
	},
	opDescription: func(m *message, data []byte) error {
		var d struct {
			Mode    string   `json:"mode"`
			Key     []uint16 `json:"secret_key"` // as numbers: bytes would be read as base64
			Version uint16   `json:"dave_protocol_version"`
		}
		if err := json.Unmarshal(data, &d); err != nil {
			return errors.New("not readable") // the reason might quote the key
		}
		if len(d.Key) != keyLen {
			return fmt.Errorf("a key of %d bytes", len(d.Key))
		}
		m.mode, m.version, m.key = d.Mode, d.Version, make([]byte, keyLen)
		for i, b := range d.Key {
			if b > math.MaxUint8 {
				return errors.New("a key that is not of bytes")
			}
			m.key[i] = byte(b)
		}
		clear(d.Key)
		return nil
	},
	opSpeaking: func(m *message, data []byte) error {
		var d struct {
			User     snowflake `json:"user_id"`
			SSRC     uint32    `json:"ssrc"`
			Speaking int       `json:"speaking"`
		}
		err := json.Unmarshal(data, &d)
		m.users, m.ssrc, m.speaking = []uint64{uint64(d.User)}, d.SSRC, d.Speaking&1 != 0
		return err
	},
	opAck: func(m *message, data []byte) error {
		var d struct {
			T int64 `json:"t"`
		}
		err := json.Unmarshal(data, &d)
		if err != nil {
			err = json.Unmarshal(data, &d.T) // before version 8 it was only the number
		}
		m.acks = d.T
		return err
	},
	dave.OpConnect: func(m *message, data []byte) error {
		var d struct {
			Users []snowflake `json:"user_ids"`
		}
		err := json.Unmarshal(data, &d)
		for _, u := range d.Users {
			m.users = append(m.users, uint64(u))
		}
		return err
	},
	dave.OpDisconnect: func(m *message, data []byte) error {
		var d struct {
			User snowflake `json:"user_id"`
		}
		err := json.Unmarshal(data, &d)
		m.users = []uint64{uint64(d.User)}
		return err
	},
	dave.OpPrepare: readTransition,
	dave.OpExecute: readTransition,
	dave.OpEpoch:   readTransition,
}

func readTransition(m *message, data []byte) error {
	var d struct {
		Transition uint16 `json:"transition_id"`
		Version    uint16 `json:"protocol_version"`
		Epoch      uint64 `json:"epoch"`
	}
	err := json.Unmarshal(data, &d)
	m.transition, m.version, m.epoch = d.Transition, d.Version, d.Epoch
	return err
}

// readBinary parses a binary message: a sequence number of two bytes, an opcode of one, and a
// body. The body is part of b.
func readBinary(b []byte) (message, error) {
	if len(b) < 3 {
		return message{}, fmt.Errorf("voice gateway: a binary message of %d bytes", len(b))
	}
	return message{op: b[2], seq: int(binary.BigEndian.Uint16(b)), body: b[3:]}, nil
}

// writeBinary builds a binary message of ours, which has no sequence number.
func writeBinary(op byte, body []byte) []byte {
	return append(append(make([]byte, 0, 1+len(body)), op), body...)
}

// Our messages in JSON.
type (
	identify struct {
		Server  snowflake `json:"server_id"`
		User    snowflake `json:"user_id"`
		Session string    `json:"session_id"`
		Token   string    `json:"token"`
		Version int       `json:"max_dave_protocol_version"`
	}
	resume struct {
		Server  snowflake `json:"server_id"`
		Session string    `json:"session_id"`
		Token   string    `json:"token"`
		Seq     int       `json:"seq_ack"`
	}
	choose struct {
		Protocol string       `json:"protocol"`
		Data     chosenSocket `json:"data"`
	}
	chosenSocket struct {
		Address string `json:"address"`
		Port    uint16 `json:"port"`
		Mode    string `json:"mode"`
	}
	heartbeat struct {
		T   int64 `json:"t"`
		Seq int   `json:"seq_ack"`
	}
	speaking struct {
		Speaking int    `json:"speaking"`
		Delay    int    `json:"delay"`
		SSRC     uint32 `json:"ssrc"`
	}
	transition struct {
		ID uint16 `json:"transition_id"`
	}
)

// writeText builds a message in JSON.
func writeText(op byte, d any) []byte {
	b, err := json.Marshal(struct {
		Op byte `json:"op"`
		D  any  `json:"d"`
	}{op, d})
	if err != nil {
		panic("voice: a message that is not JSON: " + err.Error()) // all of them are above
	}
	return b
}
