package voice

import (
	"strings"
	"testing"
	"time"
)

// TestDoor: each field of says is something that the main gateway says, or that we do: s1x is the
// state CHANNEL SESSION, va/b the server TOKEN ENDPOINT, ? is asking, and _ is 2 s that pass. want
// shows the ticket after each field: channel, session, token and endpoint, with its number.
func TestDoor(t *testing.T) {
	for _, tt := range []struct{ name, says, want string }{
		{"the usual order", "? s1x va/e", "- - 1xae#1"},
		{"the other order", "? va/e s1x", "- - 1xae#1"},
		{"the same again", "? s1x va/e s1x va/e", "- - 1xae#1 1xae#1 1xae#1"},
		{"moved", "? s1x va/e _ s2x vb/e", "- - 1xae#1 1xae#1 - 2xbe#2"},
		{"moved, in the other order", "? s1x va/e _ vb/e s2x", "- - 1xae#1 1xae#1 1xbe#2 2xbe#3"},
		{"another region", "? s1x va/e _ v/ va/f", "- - 1xae#1 1xae#1 - 1xaf#2"},
		{"another session", "? s1x va/e _ s1y vb/e", "- - 1xae#1 1xae#1 - 1ybe#2"},
		{"asked again", "? s1x va/e _ ? vb/e", "- - 1xae#1 1xae#1 - 1xbe#2"},
		{"asked again with the same answer", "? s1x va/e _ ? va/e", "- - 1xae#1 1xae#1 - 1xae#2"},
		{"removed", "? s1x va/e s0", "- - 1xae#1 gone"},
		{"removed and in again", "? s1x va/e s0 s1x vb/e", "- - 1xae#1 gone - 1xbe#2"},
		{"that we were removed before is old news", "? s0 s1x va/e", "- - - 1xae#1"},
		{"no ticket for nowhere", "? va/e", "- -"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var d ticketBuilder
			now := noon
			var got []string
			for _, field := range strings.Fields(tt.says) {
				switch field[0] {
				case '?':
					d.ask()
				case '_':
					now = now.Add(2 * time.Second)
				case 's':
					d.state(now, uint64(field[1]-'0'), field[2:])
				case 'v':
					token, endpoint, _ := strings.Cut(field[1:], "/")
					d.server(now, token, endpoint)
				}
				k, ok := d.ticket()
				switch {
				case d.gone:
					got = append(got, "gone")
				case !ok:
					got = append(got, "-")
				default:
					got = append(got, string(rune('0'+k.channel))+k.session+k.token+k.endpoint+"#"+string(rune('0'+d.serial)))
				}
			}
			if out := strings.Join(got, " "); out != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.says, out, tt.want)
			}
		})
	}
}
