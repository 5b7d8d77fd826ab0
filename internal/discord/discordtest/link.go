package discordtest

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/coder/websocket"
)

// A link is one websocket, and its unsent messages. The server's mutex guards all of it except
// reading and writing.
type link struct {
	ws      *websocket.Conn
	out     chan outgoing
	closing websocket.StatusCode // by us; 0 if not
	cut     context.CancelFunc
}

type outgoing struct {
	kind   websocket.MessageType
	data   []byte
	code   websocket.StatusCode // to close with; 0 is a message
	reason string
}

const (
	backlog   = 4096     // messages to a client that does not read
	largest   = 64 << 10 // bytes of a message that a client may send
	dropped   = -1       // closing without a close frame
	policyBad = websocket.StatusPolicyViolation
)

// A listener handles the events of a link.
type listener interface {
	opened(l *link)
	message(l *link, kind websocket.MessageType, data []byte)
	ended(l *link, code websocket.StatusCode) // the client's code; -1 if it sent none
}

// accept upgrades a request to a link, and serves it until it is closed. The gateway is called
// with the mutex held.
func (s *Server) accept(w http.ResponseWriter, r *http.Request, gateway listener) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	s.wg.Add(1)
	s.mu.Unlock()
	defer s.wg.Done()

	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	ws.SetReadLimit(largest)
	ctx, cut := context.WithCancel(s.ctx)
	l := &link{ws: ws, out: make(chan outgoing, backlog), cut: cut}
	written := make(chan struct{})
	go func() {
		defer close(written)
		l.write(ctx)
	}()

	s.mu.Lock()
	gateway.opened(l)
	s.mu.Unlock()
	for {
		kind, data, err := ws.Read(ctx)
		s.mu.Lock()
		if err != nil {
			gateway.ended(l, websocket.CloseStatus(err))
			s.mu.Unlock()
			break
		}
		if l.closing == 0 {
			gateway.message(l, kind, data)
		}
		s.mu.Unlock()
	}
	cut()
	<-written
	_ = ws.CloseNow()
}

// write writes the queued messages, in order, until the link is closed.
func (l *link) write(ctx context.Context) {
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
			if err := l.ws.Write(ctx, m.kind, m.data); err != nil {
				l.cut()
				return
			}
		}
	}
}

func (l *link) queue(m outgoing) {
	if l.closing != 0 {
		return
	}
	select {
	case l.out <- m:
		l.closing = m.code
	default:
		l.closing = policyBad
		l.cut()
	}
}

// text sends JSON. close closes with a code, and drop without a close frame. Nothing is sent after
// them.
func (l *link) text(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // ours
	}
	l.queue(outgoing{kind: websocket.MessageText, data: data})
}

func (l *link) close(code int, reason string) {
	l.queue(outgoing{code: websocket.StatusCode(code), reason: reason})
}

func (l *link) drop() { l.queue(outgoing{code: dropped}) }
