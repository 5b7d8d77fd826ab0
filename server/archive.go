package server

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"earshot"
	"earshot/api"
	"earshot/internal/search"
	"earshot/server/wire"
)

// The default and the largest number of events in one answer.
const (
	usualPage = 50
	mostPage  = 200
)

// pageBytes is how many bytes of events one answer holds, unless a single event is longer: a
// client reads no more than [wire.MaxDown].
const pageBytes = wire.MaxDown / 2

// mostWords is the longest query of a search in bytes.
const mostWords = 1 << 10

// A page is the part of the past that a client asks for.
type page struct {
	before int64
	limit  int
}

// pageOf reads the parameters before and limit.
func pageOf(q url.Values) (p page, err error) {
	p.limit = usualPage
	if text := q.Get("before"); text != "" {
		if p.before, err = strconv.ParseInt(text, 10, 64); err != nil || p.before < 1 {
			return p, bad("the parameter before must be a sequence: a number from 1")
		}
	}
	if text := q.Get("limit"); text != "" {
		if p.limit, err = strconv.Atoi(text); err != nil || p.limit < 1 || p.limit > mostPage {
			return p, bad("the parameter limit must be a number from 1 to %d", mostPage)
		}
	}
	return p, nil
}

// history returns past events, page by page backwards.
func (s *Server) history(r *http.Request, who guest) (told api.HistoryPage, err error) {
	q := r.URL.Query()
	p, err := pageOf(q)
	if err != nil {
		return told, err
	}
	kinds, err := kindsOf(q["kind"])
	if err != nil {
		return told, err
	}
	events, err := s.Journal.Past(r.Context(), who.Audience, kinds, p.before, p.limit)
	if err != nil {
		return told, err
	}
	told = s.past(events, p.limit)
	slices.Reverse(told.Events)
	return told, nil
}

// search returns what was said that matches a query, the newest first.
func (s *Server) search(r *http.Request, who guest) (found api.HistoryPage, err error) {
	q := r.URL.Query()
	p, err := pageOf(q)
	if err != nil {
		return found, err
	}
	words := q.Get("q")
	if strings.TrimSpace(words) == "" || len(words) > mostWords {
		return found, bad("the parameter q must hold the words to look for, in at most %d bytes", mostWords)
	}
	events, err := s.Journal.Search(r.Context(), who.Audience, words, p.before, p.limit)
	if err != nil {
		return found, err
	}
	found = s.past(events, p.limit)
	if q, err := search.Parse(words, time.Now()); err == nil {
		for _, e := range found.Events {
			found.Passages = append(found.Passages, q.Passage(string(search.TextOf(e))))
		}
	}
	return found, nil
}

// decisions returns why agents spoke, or kept silent.
func (s *Server) decisions(r *http.Request, who guest) (d api.DecisionPage, err error) {
	q := r.URL.Query()
	p, err := pageOf(q)
	if err != nil {
		return d, err
	}
	agent := q.Get("agent")
	if len(agent) > claimBytes {
		return d, bad("the parameter agent has %d bytes; at most %d are possible", len(agent), claimBytes)
	}
	all, err := s.Journal.Decisions(r.Context(), who.Audience, agent, p.before, p.limit)
	if err != nil {
		return d, err
	}
	d.Decisions = slices.Concat([]api.ExplainedDecision{}, all)
	if len(all) == p.limit {
		d.Before = all[0].Sequence
	}
	return d, nil
}

// past returns a page of events: the newest that fit into one answer. There are more if some did
// not fit, or if as many came as were asked for.
func (s *Server) past(events []earshot.Event, most int) api.HistoryPage {
	p := api.HistoryPage{Events: []earshot.Event{}, Names: make(wire.Names)}
	more, bytes := len(events) == most, 0
	newest := slices.Clone(events)
	slices.SortStableFunc(newest, func(a, b earshot.Event) int { return cmp.Compare(b.Sequence, a.Sequence) })
	for i, e := range newest {
		line, err := json.Marshal(e)
		if err != nil {
			continue // it has no body to send
		}
		if bytes += len(line); i > 0 && bytes > pageBytes {
			more = true
			break
		}
		p.Events, p.Before = append(p.Events, e), e.Sequence
		maps.Copy(p.Names, wire.NamesIn(e, s.Journal.Name))
	}
	if !more {
		p.Before = 0
	}
	return p
}

// kindsOf reads the parameter kind, which may appear several times.
func kindsOf(texts []string) (kinds []earshot.Kind, err error) {
	for _, text := range texts {
		if _, err := earshot.DecodeBody(earshot.Kind(text), []byte("{}")); err != nil || !earshot.Kind(text).Durable() {
			return nil, bad("the parameter kind must be a kind of event that is kept, such as message or reply")
		}
		kinds = append(kinds, earshot.Kind(text))
	}
	return kinds, nil
}
