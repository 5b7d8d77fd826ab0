// Package wire is what a Discord on loopback sends through: websockets, each with a queue of its own,
// the encryption of voice packets between a client and the server, and the certificate of the voice
// gateway. It knows nothing of guilds, users and calls.
package wire

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/coder/websocket"
)

// A Link is one websocket, and its unsent messages. The mutex of its server guards all of it
// except reading and writing.
type Link struct {
	ws      *websocket.Conn
	out     chan Message
	Closing websocket.StatusCode // by us; 0 if not
	cut     context.CancelFunc
}

// A Message is one websocket message, or the end of the link.
type Message struct {
	Kind   websocket.MessageType
	Data   []byte
	code   websocket.StatusCode // to close with; 0 is a message
	reason string
}

// Backlog is how many messages to a client that does not read are queued.
const Backlog = 4096

const (
	largest   = 64 << 10 // bytes of a message that a client may send
	dropped   = -1       // closing without a close frame
	policyBad = websocket.StatusPolicyViolation
)

// A Listener handles the events of a link.
type Listener interface {
	Opened(l *Link)
	Message(l *Link, kind websocket.MessageType, data []byte)
	Ended(l *Link, code websocket.StatusCode) // the client's code; -1 if it sent none
}

// Serve serves a websocket until it is closed. The listener is called with the mutex held.
func Serve(ctx context.Context, mu sync.Locker, ws *websocket.Conn, gateway Listener) {
	ws.SetReadLimit(largest)
	ctx, cut := context.WithCancel(ctx)
	l := &Link{ws: ws, out: make(chan Message, Backlog), cut: cut}
	written := make(chan struct{})
	go func() {
		defer close(written)
		l.write(ctx)
	}()

	mu.Lock()
	gateway.Opened(l)
	mu.Unlock()
	for {
		kind, data, err := ws.Read(ctx)
		mu.Lock()
		if err != nil {
			gateway.Ended(l, websocket.CloseStatus(err))
			mu.Unlock()
			break
		}
		if l.Closing == 0 {
			gateway.Message(l, kind, data)
		}
		mu.Unlock()
	}
	cut()
	<-written
	_ = ws.CloseNow()
}

// write writes the queued messages, in order, until the link is closed.
func (l *Link) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-l.out:
			switch {
			case m.code == dropped:
				_ = l.ws.CloseNow()
				return
			case m.code != 0:
				_ = l.ws.Close(m.code, m.reason)
				return
			}
			if err := l.ws.Write(ctx, m.Kind, m.Data); err != nil {
				l.cut()
				return
			}
		}
	}
}

// Send queues a message. It cuts the link if too many are queued.
func (l *Link) Send(m Message) {
	if l.Closing != 0 {
		return
	}
	select {
	case l.out <- m:
		l.Closing = m.code
	default:
		l.Closing = policyBad
		l.cut()
	}
}

// SendJSON sends JSON. close closes with a code, and drop without a close frame. Nothing is sent after
// them.
func (l *Link) SendJSON(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // ours
	}
	l.Send(Message{Kind: websocket.MessageText, Data: data})
}

// Close closes with a code; nothing is sent afterwards.
func (l *Link) Close(code int, reason string) {
	l.Send(Message{code: websocket.StatusCode(code), reason: reason})
}

// Drop closes without a close frame; nothing is sent afterwards.
func (l *Link) Drop() { l.Send(Message{code: dropped}) }
