package server_test

import (
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/server/client"
)

// TestHistoryGoesBack: paging back reaches the beginning and returns every event once, in order. It
// can be limited to some kinds of events.
func TestHistoryGoesBack(t *testing.T) {
	h := newHouse()
	at, _ := serve(t, h)
	fill(t, h, 25)
	_ = h.Admit(t.Context(), earshot.Event{Author: "bob", Body: earshot.Memo{Text: "x"}})
	_ = h.Admit(t.Context(), earshot.Event{Room: "elsewhere", Body: earshot.Message{Text: "y"}})
	c := &client.Client{Socket: at}
	for limit, pages := range map[int]int{1: 27, 10: 3, 13: 3, 26: 2, 27: 1, 200: 1} {
		var met []int64
		before, asked := int64(0), 0
		for asked == 0 || before != 0 {
			p, err := c.History(t.Context(), nil, before, limit)
			if err != nil {
				t.Fatal(err)
			}
			var here []int64
			for _, e := range p.Events {
				here = append(here, e.Sequence)
			}
			met, before, asked = append(here, met...), p.Before, asked+1
		}
		if len(met) != 26 || !slices.IsSorted(met) || met[0] != 1 || met[25] != 26 || asked != pages {
			t.Errorf("%d at a time: %v in %d pages, want %d", limit, met, asked, pages)
		}
	}
	p, err := c.History(t.Context(), []earshot.Kind{earshot.KindMemo, earshot.KindReply}, 0, 200)
	if err != nil || len(p.Events) != 1 || p.Names["bob"] != "bob" || p.Before != 0 {
		t.Errorf("of some kinds: %+v, %v", p, err)
	}
	if p, err = c.History(t.Context(), nil, 1, 200); err != nil || p.Events == nil || len(p.Events) != 0 || p.Before != 0 {
		t.Errorf("before the beginning: %+v, %v", p, err)
	}
}

// TestHistoryOfLongMessages: a page is never larger than a client reads, however long the messages
// are, and says where to go on.
func TestHistoryOfLongMessages(t *testing.T) {
	h := newHouse()
	at, _ := serve(t, h)
	long := earshot.Text(strings.Repeat("\x01", earshot.MaxText)) // six times that in JSON
	for range 5 {
		_ = h.Admit(t.Context(), earshot.Event{Body: earshot.Message{Text: long}})
	}
	c := &client.Client{Socket: at}
	met, before := 0, int64(0)
	for met == 0 || before != 0 {
		p, err := c.History(t.Context(), nil, before, 200)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Events {
			if met++; e.Sequence != int64(6-met) && len(p.Events) == 1 {
				t.Errorf("event %d came as number %d", e.Sequence, met)
			}
		}
		before = p.Before
	}
	if met != 5 {
		t.Errorf("met %d", met)
	}
}

func TestSearchAndDecisions(t *testing.T) {
	h := newHouse()
	at, _ := serve(t, h)
	fill(t, h, 30)
	c := &client.Client{Socket: at}
	var met []int64
	for before, first := int64(0), true; first || before != 0; first = false {
		p, err := c.Search(t.Context(), "2", before, 5)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Events {
			met = append(met, e.Sequence)
		}
		before = p.Before
	}
	if want := []int64{30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 13, 3}; !slices.Equal(met, want) {
		t.Errorf("found %v, want %v", met, want)
	}
	if _, err := c.Search(t.Context(), "!", 0, 5); err == nil || err.Error() != "nothing to search for" {
		t.Errorf("found with %v", err)
	}
	d, err := c.Decisions(t.Context(), "Kim", 0, 30)
	if err != nil || len(d.Decisions) != 30 || d.Before != 71 || d.Decisions[0].Agent != "Kim" {
		t.Errorf("decided %+v, %v", d, err)
	}
	if d, err = c.Decisions(t.Context(), "", 20, 30); err != nil || len(d.Decisions) != 19 || d.Before != 0 {
		t.Errorf("decided %+v, %v", d, err)
	}
	if _, err = c.Decisions(t.Context(), "nobody", 0, 30); err == nil || err.Error() != "there is no agent of that name" {
		t.Errorf("decided with %v", err)
	}
}

// TestSearchTellsPassages: each event that is found comes with the passage to show.
func TestSearchTellsPassages(t *testing.T) {
	h := newHouse()
	at, _ := serve(t, h)
	fill(t, h, 30)
	c := &client.Client{Socket: at}
	p, err := c.Search(t.Context(), "29", 0, 5)
	if err != nil || len(p.Events) == 0 || len(p.Passages) != len(p.Events) {
		t.Fatalf("found %+v, %v", p, err)
	}
	for i, e := range p.Events {
		text := string(e.Body.(earshot.Message).Text)
		if is := p.Passages[i]; is.Text != text || len(is.Hits) != 1 || text[is.Hits[0].Start:is.Hits[0].End] != "29" {
			t.Errorf("of %q is shown %+v", text, is)
		}
	}
	if p, err := c.History(t.Context(), nil, 0, 5); err != nil || p.Passages != nil {
		t.Errorf("a history has passages: %+v, %v", p.Passages, err)
	}
}

func TestPagesAreRefused(t *testing.T) {
	at, _ := serve(t, newHouse())
	for query, want := range map[string]string{
		"/v1/history?before=0":                            "before must be",
		"/v1/history?before=-1":                           "before must be",
		"/v1/history?before=x":                            "before must be",
		"/v1/history?limit=0":                             "limit must be a number from 1 to 200",
		"/v1/history?limit=201":                           "limit must be",
		"/v1/history?kind=typing":                         "kind must be",
		"/v1/history?kind=":                               "kind must be",
		"/v1/history?kind=magic":                          "kind must be",
		"/v1/search":                                      "q must hold",
		"/v1/search?q=+":                                  "q must hold",
		"/v1/search?q=" + strings.Repeat("x", 1025):       "q must hold",
		"/v1/decisions?agent=" + strings.Repeat("x", 257): "agent has 257 bytes",
		"/v1/decisions?limit=1e3":                         "limit must be",
	} {
		resp := get(t, "unix", at, "GET "+query+" HTTP/1.1\r\nHost: x\r\n\r\n")
		body := make([]byte, 1000)
		n, _ := resp.Body.Read(body)
		if resp.StatusCode != 400 || !strings.Contains(string(body[:n]), want) {
			t.Errorf("%.40s: %s %s", query, resp.Status, body[:n])
		}
	}
}
