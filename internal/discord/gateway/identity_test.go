package gateway_test

import (
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/discord/gateway"
)

// TestEventOf fixes what the journals of users depend on: names of events never change.
func TestEventOf(t *testing.T) {
	const channel, message = 927310423890473011, 1130650140672000000
	if got := gateway.EventOf(channel, message); got != "01H5K4QW0000001893QQM64Q16" {
		t.Errorf("the event is %s", got)
	}
	if got, want := gateway.Made(message), time.UnixMilli(message>>22+1420070400000); !got.Equal(want) {
		t.Errorf("made at %v, want %v", got, want)
	}
}

func TestEventOfIsTheirsAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Uint64Range(1, 1<<63)
		channel, message := number.Draw(t, "channel"), number.Draw(t, "message")
		id := gateway.EventOf(channel, message)
		made, err := ulid.ParseStrict(string(id))
		if err != nil {
			t.Fatal(err)
		}
		if !ulid.Time(made.Time()).Equal(gateway.Made(message)) {
			t.Errorf("it sorts at %v, and was made at %v", ulid.Time(made.Time()), gateway.Made(message))
		}
		edited := gateway.Made(message).Add(time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "after")))
		for _, other := range []any{
			gateway.EventOf(channel+1, message), gateway.EventOf(channel, message+1), gateway.EventOf(message, channel+1),
			gateway.RevisionOf(channel, message, edited),
		} {
			if other == any(id) {
				t.Errorf("two have the name %s", id)
			}
		}
		if gateway.EventOf(channel, message) != id {
			t.Error("another name the second time")
		}
	})
}

// TestMessageOf: the event of a message tells which message it is, in its own channel and in no
// other.
func TestMessageOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		channel, message := rapid.Uint64().Draw(t, "channel"), rapid.Uint64().Draw(t, "message")
		id := gateway.EventOf(channel, message)
		if got, ok := gateway.MessageOf(channel, id); got != message || !ok {
			t.Errorf("%s is message %d (%v), want %d", id, got, ok, message)
		}
		if got, ok := gateway.MessageOf(channel+1, id); ok {
			t.Errorf("%s is message %d of another channel", id, got)
		}
		if got, ok := gateway.MessageOf(channel, gateway.RevisionOf(channel, message, time.UnixMicro(rapid.Int64Range(1, 1<<50).Draw(t, "at")))); ok {
			t.Errorf("an edit is message %d", got)
		}
		if _, ok := gateway.MessageOf(channel, earshot.EventID(rapid.String().Draw(t, "nonsense"))); ok {
			t.Error("nonsense is a message")
		}
	})
}

// TestNumber: a text that is not a number becomes 0, and an empty allowlist allows everything.
func TestNumber(t *testing.T) {
	for text, want := range map[string]uint64{"927310423890473011": 927310423890473011, "": 0, "0": 0, "-1": 0, "x": 0, "99999999999999999999": 0} {
		if got := gateway.Number(text); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
	if got := gateway.HandleOf(7); got != (earshot.Handle{Provider: "discord", ID: "7"}) {
		t.Errorf("the handle is %v", got)
	}
	if all, one := gateway.NewAllowlist(nil), gateway.NewAllowlist([]string{"7"}); !all.Allows(8) || !one.Allows(7) || one.Allows(8) {
		t.Error("a list does not allow what it names")
	}
}
