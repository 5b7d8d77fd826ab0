package server

import (
	"io"
	"net/http"

	"earshot/api"
)

// alive tells anybody that the process answers, and nothing else.
func (s *Server) alive(w http.ResponseWriter, _ *http.Request, _ guest) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "alive\n")
	return nil
}

// ready says whether the daemon can do its work, and what prevents it.
func (s *Server) ready(w http.ResponseWriter, r *http.Request, _ guest) error {
	is := s.Admin.Ready(r.Context())
	status := http.StatusOK
	if !is.Ready {
		status = http.StatusServiceUnavailable
	}
	answer(w, status, is)
	return nil
}

// metrics serves the metrics.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request, _ guest) error {
	s.Metrics.ServeHTTP(w, r)
	return nil
}

// diagnostics serves what a bug report needs.
func (s *Server) diagnostics(r *http.Request, _ guest) (api.Diagnosis, error) {
	var e api.DiagnosisRequest
	switch r.URL.Query().Get("goroutines") {
	case "":
	case "1":
		e.Goroutines = true
	default:
		return api.Diagnosis{}, bad("the parameter goroutines must be 1")
	}
	return s.Admin.Diagnose(r.Context(), e)
}
