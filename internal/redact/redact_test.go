package redact_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/internal/redact"
)

// canary is the sentence that must not appear in any log.
const canary = "the canary sings in the mine"

// said is the canary in the type that holds everything people say.
const said = earshot.Text(canary)

// A box holds a text inside a struct, where slog does not look for a LogValue method.
type box struct {
	Text  earshot.Text
	Inner *box
}

// A valuer logs as the value that it was made with.
type valuer struct{ v slog.Value }

func (v valuer) LogValue() slog.Value { return v.v }

// A leaky error hides its text from Error, but gives it to every encoder.
type leaky struct{ Text earshot.Text }

func (leaky) Error() string                  { return "no luck" }
func (l leaky) MarshalJSON() ([]byte, error) { return []byte(`"` + string(l.Text) + `"`), nil }
func (l leaky) MarshalText() ([]byte, error) { return []byte(l.Text), nil }

// builder returns a value whose String method gives the canary away.
func builder() *strings.Builder {
	var b strings.Builder
	b.WriteString(canary)
	return &b
}

// secrets are all the ways to nest the canary that we could think of.
var secrets = map[string]any{
	"text":                said,
	"pointer to text":     new(said),
	"slice of texts":      []earshot.Text{said},
	"array of texts":      [1]earshot.Text{said},
	"map to a text":       map[string]earshot.Text{"a": said},
	"map from a text":     map[earshot.Text]int{said: 1},
	"struct":              box{Text: said},
	"pointer to a struct": &box{Text: said, Inner: &box{Text: said}},
	"message":             earshot.Message{Text: said},
	"event":               earshot.Event{Body: earshot.Message{Text: said}},
	"events":              []earshot.Event{{Body: earshot.Message{Text: said}}},
	"bytes":               []byte(canary),
	"plain strings":       []string{canary},
	"anything":            []any{said, canary, box{Text: said}},
	"stringer":            builder(),
	"buffer":              bytes.NewBufferString(canary),
	"leaky error":         leaky{said},
	"wrapped leaky error": fmt.Errorf("trying: %w", leaky{said}),
	"joined errors":       errors.Join(leaky{said}, io.EOF),
	"error with a text":   fmt.Errorf("about %v, %s, %q, %+v, %#v, %x", said, said, said, said, said, said),
	"error with a struct": fmt.Errorf("about %v", box{Text: said}),
	"function":            func() string { return canary },
	"channel":             make(chan earshot.Text, 1),
	"valuer":              valuer{slog.AnyValue(box{Text: said})},
	"valuer of a valuer":  valuer{slog.AnyValue(valuer{slog.AnyValue([]earshot.Text{said})})},
	"valuer of a group":   valuer{slog.GroupValue(slog.Any("a", box{Text: said}), slog.Group("b", "c", said))},
	"attributes":          []slog.Attr{slog.Any("a", box{Text: said})},
	"one attribute":       slog.Any("a", box{Text: said}),
	"value":               slog.AnyValue(box{Text: said}),
	"values in a slice":   []slog.Value{slog.StringValue(canary)},
	"pointer to an any":   new(any(said)),
	"generic":             struct{ any }{said},
}

// TestCanary: a secret does not reach the log, whichever secret it is, wherever in a record it is
// put and whichever of slog's handlers writes it.
func TestCanary(t *testing.T) {
	places := map[string]func(*slog.Logger, any){
		"argument":       func(l *slog.Logger, x any) { l.Info("m", "k", x) },
		"group":          func(l *slog.Logger, x any) { l.Info("m", slog.Group("g", "k", x)) },
		"group in group": func(l *slog.Logger, x any) { l.Info("m", slog.Group("g", slog.Group("h", "k", x))) },
		"with":           func(l *slog.Logger, x any) { l.With("k", x).Info("m") },
		"with group":     func(l *slog.Logger, x any) { l.WithGroup("g").With("k", x).Info("m", "k", x) },
		"attrs":          func(l *slog.Logger, x any) { l.LogAttrs(context.Background(), slog.LevelWarn, "m", slog.Any("k", x)) },
		"not a key":      func(l *slog.Logger, x any) { l.Info("m", x) },
	}
	handlers := map[string]func(io.Writer) slog.Handler{
		"text": func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
		"json": func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
	}
	for where, log := range places {
		for format, handler := range handlers {
			for what, secret := range secrets {
				var b bytes.Buffer
				log(slog.New(redact.Handler{Next: handler(&b)}), secret)
				if strings.Contains(b.String(), "canary") || strings.Contains(b.String(), fmt.Sprintf("%x", canary)) {
					t.Errorf("%s as %s in %s sings: %s", what, where, format, b.String())
				}
				if !strings.Contains(b.String(), "msg") {
					t.Errorf("%s as %s in %s is not logged at all: %q", what, where, format, b.String())
				}
			}
		}
	}
}

// TestCanarySingsWithoutUs: without the redacting handler the secrets above do reach the log.
func TestCanarySingsWithoutUs(t *testing.T) {
	for _, what := range []string{"struct", "plain strings", "stringer", "leaky error", "valuer", "event", "anything"} {
		var b bytes.Buffer
		slog.New(slog.NewJSONHandler(&b, nil)).Info("m", "k", secrets[what])
		slog.New(slog.NewTextHandler(&b, nil)).Info("m", "k", secrets[what])
		if !strings.Contains(b.String(), "canary") {
			t.Errorf("%s proves nothing: %s", what, b.String())
		}
	}
}

type name string

func TestPlain(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		in   any
		want string
	}{
		{"plain", "plain"},
		{name("ann"), "ann"},
		{earshot.TurnID("01J"), "01J"},
		{7, "7"},
		{uint8(7), "7"},
		{1.5, "1.5"},
		{true, "true"},
		{90 * time.Second, "1m30s"},
		{at, "2026-01-02T03:04:05.000Z"},
		{slog.LevelInfo, "INFO"},
		{io.EOF, "EOF"},
		{fmt.Errorf("reading: %w", io.EOF), `"reading: EOF"`},
		{(*leaky)(nil), `"[nil *redact_test.leaky]"`},
		{nil, "<nil>"},
		{earshot.Handle{Provider: "console", ID: "uid7"}, "console:uid7"},
		{earshot.Text("12345"), `"[5 bytes]"`},
		{[]int{1, 2}, `"[[]int, 2 long]"`},
		{map[string]int{"a": 1}, `"[map[string]int, 1 long]"`},
		{[3]byte{}, `"[[3]uint8, 3 long]"`},
		{box{}, "[redact_test.box]"},
		{&box{}, "[*redact_test.box]"},
		{valuer{slog.IntValue(3)}, "3"},
	} {
		var b bytes.Buffer
		slog.New(redact.Handler{Next: slog.NewTextHandler(&b, nil)}).Info("m", "k", tt.in)
		if _, got, _ := strings.Cut(strings.TrimSpace(b.String()), "k="); got != tt.want {
			t.Errorf("%T is logged as %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestEnabled(t *testing.T) {
	var b bytes.Buffer
	l := slog.New(redact.Handler{Next: slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelWarn})})
	l.Info("quiet")
	if b.Len() != 0 {
		t.Errorf("what is not enabled was written: %s", b.String())
	}
}
