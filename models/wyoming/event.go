package wyoming

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The limits of what is read from a server, in bytes.
const (
	maxHeader  = 64 << 10
	maxData    = 1 << 20 // the voices of a Piper are 78 kB
	maxPayload = 1 << 20 // half a minute of sound
)

// ErrProtocol says that a server sent what is not the protocol: it is broken, or not a Wyoming
// server.
var ErrProtocol = errors.New("it does not speak the Wyoming protocol")

// An event is one message: a line of JSON, then more JSON, then sound.
type event struct {
	Type    string
	Payload []byte

	// Data is what the message says. Some programs write it within the first line, some behind it,
	// and some both; what stands behind the line overwrites what stands in it.
	Data [2]json.RawMessage
}

// A header is the first line of a message.
type header struct {
	Type          string          `json:"type"`
	Version       string          `json:"version,omitempty"`
	Data          json.RawMessage `json:"data,omitempty"`
	DataLength    int             `json:"data_length,omitempty"`
	PayloadLength int             `json:"payload_length,omitempty"`
}

// version is that of the protocol that is spoken here.
const version = "1.8.0"

// appendEvent appends a message to b. Its data stands behind the first line, as Home Assistant's
// own package writes it.
func appendEvent(b []byte, kind string, data any, payload []byte) []byte {
	h := header{Type: kind, Version: version, PayloadLength: len(payload)}
	var body []byte
	if data != nil {
		body = mustMarshal(data)
		h.DataLength = len(body)
	}
	b = append(append(b, mustMarshal(h)...), '\n')
	return append(append(b, body...), payload...)
}

// mustMarshal encodes one of our own messages, which cannot fail.
func mustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("wyoming: " + err.Error())
	}
	return b
}

// readEvent reads the next message. R has a buffer of maxHeader. The error quotes nothing of the
// message, which may hold what somebody said.
func readEvent(r *bufio.Reader) (e event, err error) {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return e, fmt.Errorf("%w: a first line of over %d bytes", ErrProtocol, maxHeader)
	case errors.Is(err, io.EOF) && len(line) > 0:
		return e, io.ErrUnexpectedEOF
	case err != nil:
		return e, err
	}
	var h header
	if json.Unmarshal(line, &h) != nil || h.Type == "" {
		return e, fmt.Errorf("%w: its first line is not a message", ErrProtocol)
	}
	if h.DataLength < 0 || h.DataLength > maxData || h.PayloadLength < 0 || h.PayloadLength > maxPayload {
		return e, fmt.Errorf("%w: a message of %d and %d bytes", ErrProtocol, h.DataLength, h.PayloadLength)
	}
	e = event{Type: h.Type, Data: [2]json.RawMessage{h.Data, nil}}
	rest := make([]byte, h.DataLength+h.PayloadLength)
	if _, err := io.ReadFull(r, rest); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return event{}, err
	}
	e.Data[1], e.Payload = rest[:h.DataLength], rest[h.DataLength:]
	return e, nil
}

// decode decodes the data into v; what it does not say leaves v as it is.
func (e event) decode(v any) error {
	for _, part := range e.Data {
		if len(part) > 0 && json.Unmarshal(part, v) != nil {
			return fmt.Errorf("%w: the data of %.40q", ErrProtocol, e.Type)
		}
	}
	return nil
}
