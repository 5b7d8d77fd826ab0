package cluster_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"earshot/bus"
	"earshot/cluster"
)

// TestView: who was heard of within three seconds is here, and what comes late or twice is ignored.
func TestView(t *testing.T) {
	var v cluster.View
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	for _, tt := range []struct {
		at      int
		id      string
		number  uint64
		changed bool
		present string
	}{
		{0, "a.1", 1, true, "a1"},
		{500, "b.1", 7, true, "a1 b7"},
		{1000, "a.1", 2, false, "a2 b7"},
		{1100, "a.1", 2, false, "a2 b7"}, // twice
		{1200, "a.1", 1, false, "a2 b7"}, // late
		{3499, "", 0, false, "a2 b7"},
		{3500, "", 0, true, "a2"},
		{3600, "a.2", 1, true, "a2 a1"}, // it was started again
		{3999, "b.1", 3, true, "a2 a1 b3"},
		{4000, "", 0, true, "a1 b3"},
		{9000, "", 0, true, ""},
	} {
		var beat *cluster.Heartbeat
		if tt.id != "" {
			beat = &cluster.Heartbeat{ID: tt.id, Number: tt.number}
		}
		changed := v.Step(at(tt.at), beat)
		var present []string
		for _, b := range v.Present() {
			present = append(present, fmt.Sprint(b.Name(), b.Number))
		}
		if got := strings.Join(present, " "); changed != tt.changed || got != tt.present {
			t.Errorf("at %d ms: %s, changed: %v; want %s, %v", tt.at, got, changed, tt.present, tt.changed)
		}
	}
	for i := range 100 {
		v.Step(at(9000), &cluster.Heartbeat{ID: fmt.Sprintf("m%d.1", i), Number: 1})
	}
	if n := len(v.Present()); n != 64 {
		t.Errorf("%d members are known, want at most 64", n)
	}
}

// TestParseBeat: a beat is read as it was said, and nothing else is taken for one.
func TestParseBeat(t *testing.T) {
	want := cluster.Heartbeat{ID: cluster.NewID("attic"), Number: 3, Build: "v1", Load: 0.5, Drains: true, Senses: map[string]int{"parlour": 2},
		Rooms: map[string]cluster.Tenure{"hall": {Fence: 4, Seconds: 5}}}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := cluster.ParseHeartbeat(cluster.HeartbeatSubject("attic"), data); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read: %v, %v", got, err)
	}
	for _, tt := range []struct{ data, want string }{
		{"{", "no JSON"},
		{`{"id":"attic"}`, "no ID"},
		{`{"id":"At.1"}`, "no ID"},
		{`{"id":"cellar.1"}`, "somebody else"},
		{`{"id":"attic.1","load":1.5}`, "load"},
		{`{"id":"attic.1","build":"` + strings.Repeat("x", 300) + `"}`, "too long"},
		{`{"id":"attic.1","senses":{"":1}}`, "cannot be"},
		{`{"id":"attic.1","senses":{"hall":-1}}`, "cannot be"},
		{`{"id":"attic.1","rooms":{"hall":{"fence":0}}}`, "cannot be"},
		{`{"id":"attic.1","rooms":{"` + strings.Repeat("x", 300) + `":{"fence":1}}}`, "cannot be"},
		{strings.Repeat(" ", bus.MaxData) + "{}", "too long"},
	} {
		if _, err := cluster.ParseHeartbeat(cluster.HeartbeatSubject("attic"), []byte(tt.data)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s: %v, want %q", tt.data, err, tt.want)
		}
	}
}

// FuzzParseBeat: nothing that is received has a member end, and what is taken can be placed.
func FuzzParseBeat(f *testing.F) {
	f.Add("earshot.cluster.attic.member", []byte(`{"id":"attic.1","number":1,"load":0.5,"senses":{"a":1},"rooms":{"b":{"fence":1,"seconds":2}}}`))
	f.Fuzz(func(t *testing.T, subject string, data []byte) {
		b, err := cluster.ParseHeartbeat(subject, data)
		if err != nil {
			return
		}
		if err := cluster.CheckID(b.ID); err != nil || subject != cluster.HeartbeatSubject(b.Name()) {
			t.Errorf("a beat of %q is taken from %q: %v", b.ID, subject, err)
		}
		if moves := cluster.Place([]cluster.Heartbeat{b, {ID: "other.1"}}, []string{"a", "b", "c"}); len(moves) > 3 {
			t.Errorf("moves: %v", moves)
		}
	})
}
