package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/llm/ollama"
)

// closed measures B3, from an interruption to the server of the model that
// sees its request closed. The bare thing is a plain client of the same server
// whose context is cancelled.
func closed(ctx context.Context, b bench) (rows []Row, err error) {
	server := serve()
	defer server.Close()
	e, err := ollama.New(ollama.Config{Host: server.URL, Model: "tide"})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	s, err := b.openStore(ctx, "closed")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	h := open(ctx, furniture{model: ladder(e), journal: s, outlet: sink{}, settings: executive.DefaultConfig()})
	defer h.leave()
	h.after.Store(2)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()

	ours, bare, err := b.compare(
		func() ([]float64, error) {
			return cutTwice(ctx, h, func(time.Time, earshot.Reply) (time.Time, error) {
				return await("the server saw the connection closed", server.gone)
			})
		},
		func() ([]float64, error) { return server.bare(ctx, client) })
	if err != nil {
		return nil, err
	}
	return []Row{row("B3 cut → server sees it closed", "µs", ours, bare, "").goal("p99", ours.P99, 5000)}, nil
}

// A modelServer streams as Ollama does, one piece a millisecond without end,
// which is as fast as a small model on a good graphics card.
type modelServer struct {
	*httptest.Server
	gone chan time.Time // when a request was seen to be closed
}

const (
	chatLine = `{"model":"tide","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":" tide"},"done":false}` + "\n"
	showBody = `{"template":"{{ .Prompt }}","capabilities":["completion","tools"]}`
)

// serve returns a server on this machine.
func serve() *modelServer {
	s := &modelServer{gone: make(chan time.Time, 4)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, showBody) })
	mux.HandleFunc("POST /api/chat", s.chat)
	s.Server = httptest.NewServer(mux)
	return s
}

func (s *modelServer) chat(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body) // only then the server watches the connection
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/x-ndjson")
	next := time.NewTicker(time.Millisecond)
	defer next.Stop()
	for {
		select {
		case <-r.Context().Done():
			s.gone <- time.Now()
			return
		case <-next.C:
			io.WriteString(w, chatLine)
			out.Flush()
		}
	}
}

// bare reads some lines of a reply and leaves, and returns how long it took
// until the server saw that.
func (s *modelServer) bare(ctx context.Context, client *http.Client) ([]float64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/api/chat", bytes.NewReader([]byte("{}")))
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for range 10 {
		lines.Scan()
	}
	at := time.Now()
	cancel()
	when, err := await("the server saw the connection closed", s.gone)
	return []float64{micros(when.Sub(at))}, err
}
