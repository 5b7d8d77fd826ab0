package gateway

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"
	"pgregory.net/rapid"
)

// draw puts one event for each letter into a queue with room for four, and returns what comes out:
// p for presence, m for a message, s for a state, and in brackets what was lost before it.
func draw(in string) (out string, stale bool) {
	q := newQueue()
	q.most = 4
	kinds := map[rune]kind{'p': minor, 'm': message, 's': state}
	for _, r := range in {
		stale = q.put(waiting{event: r, kind: kinds[r], size: 1}) || stale
	}
	for {
		event, ok := q.get()
		if !ok {
			return out, stale
		}
		if lost, some := event.(*Lost); some {
			out += fmt.Sprintf("(%dm %ds %dp)", lost.Messages, lost.States, lost.Minor)
			continue
		}
		out += string(event.(rune))
	}
}

func TestQueue(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
		stale          bool
	}{
		{"all fit", "mpsm", "mpsm", false},
		{"presence goes first, unsaid", "pmpsmm", "msmm", false},
		{"the new one is of the least worth", "msmsp", "msms", false},
		{"then the oldest, and it is said", "mmmmm", "(1m 0s 0p)mmmm", false},
		{"a state is asked for anew", "smmmm", "(0m 1s 0p)mmmm", true},
		{"all at once", "pmsmmsm", "(1m 1s 1p)mmsm", true},
		{"nothing", "", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, stale := draw(tt.in)
			if got != tt.want || stale != tt.stale {
				t.Errorf("%s becomes %s, stale %v; want %s, %v", tt.in, got, stale, tt.want, tt.stale)
			}
		})
	}
}

// TestQueueAccounts: the queue never exceeds its bounds, keeps the order, and accounts for every
// event.
func TestQueueAccounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newQueue()
		q.most, q.room = rapid.IntRange(1, 8).Draw(t, "most"), rapid.IntRange(1, 40).Draw(t, "room")
		in, out, last := 0, 0, -1
		var lost Lost
		take := func() bool {
			event, ok := q.get()
			if !ok {
				return false
			}
			if l, some := event.(*Lost); some {
				lost.Messages, lost.States, lost.Minor = lost.Messages+l.Messages, lost.States+l.States, lost.Minor+l.Minor
				return true
			}
			if n := event.(int); n <= last {
				t.Fatalf("%d comes after %d", n, last)
			} else {
				last = n
			}
			out++
			return true
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "get") == 0 {
				take()
				continue
			}
			q.put(waiting{in, kind(rapid.IntRange(0, 2).Draw(t, "kind")), rapid.IntRange(1, 30).Draw(t, "size")})
			in++
			if n := len(q.events); n > q.most || n > 1 && q.bytes > q.room {
				t.Fatalf("%d events of %d bytes wait", n, q.bytes)
			}
		}
		for take() {
		}
		lost.Minor += q.lost.Minor
		if got := out + lost.Messages + lost.States + lost.Minor; got != in {
			t.Fatalf("%d went in, %d were accounted for", in, got)
		}
		if q.bytes != 0 || q.kinds != [3]int{} {
			t.Fatalf("an empty queue holds %d bytes, %v", q.bytes, q.kinds)
		}
	})
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct{ kind, data, want string }{
		{"MESSAGE_CREATE", `{"id":"1","content":"x","author":{"id":"2"}}`, "*discordgo.MessageCreate"},
		{"MESSAGE_CREATE", `{"id":"1","content":"x","author":{"id":"2"},"components":[{"type":999}]}`, "*discordgo.MessageCreate"},
		{"MESSAGE_CREATE", `null`, "*discordgo.Event"},
		{"MESSAGE_CREATE", `{"id":"1","content":7}`, "*discordgo.Event"},
		{"GUILD_CREATE", `{"id":"1","members":[null]}`, "*discordgo.Event"},
		{"VOICE_STATE_UPDATE", `null`, "*discordgo.Event"},
		{"INTERACTION_CREATE", `null`, "*discordgo.Event"},
		{"SOMETHING_NEW", `{"a":1}`, "*discordgo.Event"},
		{"RESUMED", `null`, "*discordgo.Resumed"},
	} {
		if got := fmt.Sprintf("%T", Decode(tt.kind, []byte(tt.data))); got != tt.want {
			t.Errorf("%s %s is a %s, want %s", tt.kind, tt.data, got, tt.want)
		}
	}
	g := Decode("GUILD_CREATE", []byte(`{"id":"7","members":[{"user":{"id":"2"}}],"channels":[{"id":"3"}],"threads":[{"id":"4"}],"voice_states":[{"user_id":"2"}]}`)).(*discordgo.GuildCreate)
	if g.Members[0].GuildID != "7" || g.Channels[0].GuildID != "7" || g.Threads[0].GuildID != "7" || g.VoiceStates[0].GuildID != "7" {
		t.Error("what a guild holds does not say which guild that is")
	}
}

// FuzzDecode: no event makes this package or discordgo panic.
func FuzzDecode(f *testing.F) {
	for name := range structs {
		f.Add(name, `{"id":"1","user":{"id":"2"},"guild_id":"3","type":2,"data":{"type":1},"members":[{}],"components":[{"type":1,"components":[{"type":2}]}]}`)
		f.Add(name, `null`)
	}
	f.Add("INTERACTION_CREATE", `{"type":3,"data":{"component_type":2}}`)
	f.Add("INTERACTION_CREATE", `{"type":5,"data":{"components":[{"type":1}]}}`)
	f.Fuzz(func(t *testing.T, kind, data string) {
		event := Decode(strings.ToUpper(kind), []byte(data))
		kindOf(event)
	})
}
