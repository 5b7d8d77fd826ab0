package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"earshot/api"
)

// alive says that the process answers, to anybody, and nothing else.
func (s *Server) alive(w http.ResponseWriter, _ *http.Request, _ guest) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "alive\n")
	return nil
}

// ready says whether the house can do its work, and what keeps it from that.
func (s *Server) ready(w http.ResponseWriter, r *http.Request, _ guest) error {
	is := s.Admin.Ready(r.Context())
	status := http.StatusOK
	if !is.Ready {
		status = http.StatusServiceUnavailable
	}
	answer(w, status, is)
	return nil
}

// metrics serves what is counted.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request, _ guest) error {
	s.Metrics.ServeHTTP(w, r)
	return nil
}

// diagnostics serves what a report of a fault needs.
func (s *Server) diagnostics(w http.ResponseWriter, r *http.Request, _ guest) error {
	var e api.DiagnosisRequest
	switch r.URL.Query().Get("goroutines") {
	case "":
	case "1":
		e.Goroutines = true
	default:
		return bad("the parameter goroutines must be 1")
	}
	v, err := s.Admin.Diagnose(r.Context(), e)
	if err != nil {
		return &fault{http.StatusServiceUnavailable, err}
	}
	answer(w, http.StatusOK, v)
	return nil
}

// Ready returns whether the house can do its work.
func (c *Client) Ready(ctx context.Context) (is api.Readiness, err error) {
	resp, err := c.request(ctx, "GET", "/readyz", nil)
	if err != nil {
		return is, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusServiceUnavailable {
		return is, refused(resp)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, lineBytes))
	if err != nil {
		return is, err
	}
	if !bytes.Contains(text, []byte(`"ready"`)) { // it is refused for another reason
		return is, errors.New("earshot answered " + resp.Status)
	}
	return is, json.Unmarshal(text, &is)
}

// Get asks for a path, and returns the answer as it is, which the caller closes: what the
// routes for other programs say, such as /metrics.
func (c *Client) Get(ctx context.Context, path string) (*http.Response, error) {
	return c.request(ctx, "GET", path, nil)
}

// Diagnostics returns what a report of a fault needs.
func (c *Client) Diagnostics(ctx context.Context, e api.DiagnosisRequest) (all api.Diagnosis, err error) {
	path := "/v1/diagnostics"
	if e.Goroutines {
		path += "?goroutines=1"
	}
	err = c.ask(ctx, "GET", path, nil, &all)
	return all, err
}
