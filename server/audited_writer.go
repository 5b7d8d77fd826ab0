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

// An auditedWriter is for a request of which it will be written down what became of it, if it
// changes something or is refused. It is the writer of its answer.
type auditedWriter struct {
	http.ResponseWriter
	tell   func(audit.Entry)
	from   string
	method string
	who    earshot.ParticipantID // once it is known
	to     route                 // once it is known
	status int
	shut   bool // it is refused
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

// Unwrap is for [http.ResponseController].
func (w *auditedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// unwatched returns the writer of net/http, which knows what to do about a body that is
// too long.
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

// Hijack implements [http.Hijacker]. What became of the request is known now: what comes
// later may last for days.
func (w *auditedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.status = http.StatusSwitchingProtocols
		w.ended()
	}
	return conn, buffered, err
}

// ended tells what became of the request. What somebody made up themselves, such as a path
// where nothing is, is not told.
func (w *auditedWriter) ended() {
	w.once.Do(func() {
		about := described[w.to.method+" "+w.to.path]
		if w.tell == nil || !w.shut && about.changes == "" {
			return
		}
		e := audit.Entry{At: time.Now(), Who: w.who, From: w.from, Method: w.method, Route: w.to.path, Status: w.status}
		if !w.shut {
			e.Changed = about.changes
		}
		w.tell(e)
	})
}
