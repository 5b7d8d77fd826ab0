package server

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"time"

	"earshot"
	"earshot/server/audit"
)

// An auditedWriter is the response writer of a request. When the request ends, its outcome is
// recorded if it changes something or was refused.
type auditedWriter struct {
	http.ResponseWriter
	tell   func(audit.Entry)
	from   string
	method string
	who    earshot.ParticipantID // once it is known
	to     route                 // once it is known
	status int
	shut   bool // the request was refused
	once   sync.Once
}

// watch begins to watch a request.
func (o *opening) watch(w http.ResponseWriter, r *http.Request) *auditedWriter {
	seen := &auditedWriter{ResponseWriter: w, tell: o.Audit, method: verb(r.Method)}
	if v := visitorOf(r); v != nil {
		seen.from = v.from
	}
	return seen
}

// Unwrap implements what [http.ResponseController] looks for.
func (w *auditedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// unwatched returns the writer of net/http, which knows how to handle a body that is too long.
func unwatched(w http.ResponseWriter) http.ResponseWriter {
	if seen, ok := w.(*auditedWriter); ok {
		return seen.ResponseWriter
	}
	return w
}

// WriteHeader implements [http.ResponseWriter].
func (w *auditedWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *auditedWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Hijack implements [http.Hijacker]. The outcome of the request is recorded now: the connection
// may last for days.
func (w *auditedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.status = http.StatusSwitchingProtocols
		w.ended()
	}
	return conn, buffered, err
}

// ended reports the outcome of the request. What a client can make up, such as a path where
// nothing is, is not reported.
func (w *auditedWriter) ended() {
	w.once.Do(func() {
		if w.tell == nil || !w.shut && w.to.changes == "" {
			return
		}
		e := audit.Entry{At: time.Now(), Who: w.who, From: w.from, Method: w.method, Route: w.to.path, Status: w.status}
		if !w.shut {
			e.Changed = w.to.changes
		}
		w.tell(e)
	})
}
