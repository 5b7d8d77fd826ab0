// Package redact keeps conversations out of the log. A [Handler] stands before
// the handler that writes, and lets through only what is plain: strings,
// numbers, times, the texts of errors, and what a type says of itself by
// LogValue, as [earshot.Text] says its length. Of a struct, a map, a slice or a
// pointer it lets through the type and the length alone: they may hold a Text,
// and neither fmt nor encoding/json would look for its LogValue in there.
//
// What somebody has turned into a plain string with their own hands, no
// handler can tell from any other string.
package redact

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"

	"earshot"
)

// A Handler redacts attributes before Next writes them. It may be used from
// many goroutines if Next may.
type Handler struct {
	Next  slog.Handler
	hides SourceRedactor // removes its secrets from texts; see [SourceRedactor.Log]
}

// Enabled implements [slog.Handler].
func (h Handler) Enabled(ctx context.Context, l slog.Level) bool { return h.Next.Enabled(ctx, l) }

// Handle implements [slog.Handler].
func (h Handler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, h.hides.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.attr(a))
		return true
	})
	return h.Next.Handle(ctx, out)
}

// WithAttrs implements [slog.Handler].
func (h Handler) WithAttrs(as []slog.Attr) slog.Handler {
	return Handler{h.Next.WithAttrs(h.attrs(as)), h.hides}
}

// WithGroup implements [slog.Handler].
func (h Handler) WithGroup(name string) slog.Handler { return Handler{h.Next.WithGroup(name), h.hides} }

func (h Handler) attrs(as []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(as))
	for i, a := range as {
		out[i] = h.attr(a)
	}
	return out
}

func (h Handler) attr(a slog.Attr) slog.Attr {
	return slog.Attr{Key: a.Key, Value: h.value(a.Value)}
}

// value returns what may be written of v.
func (h Handler) value(v slog.Value) slog.Value {
	v = v.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		return slog.GroupValue(h.attrs(v.Group())...)
	case slog.KindString:
		return slog.StringValue(h.hides.Text(v.String()))
	case slog.KindAny:
		return slog.StringValue(h.hides.Text(text(v.Any())))
	}
	return v
}

// text returns what may be written of x.
func text(x any) string {
	v := reflect.ValueOf(x)
	switch x := x.(type) {
	case nil:
		return "<nil>"
	case earshot.Handle: // a struct, but a name
		return x.String()
	case error:
		if v.Kind() == reflect.Pointer && v.IsNil() {
			return fmt.Sprintf("[nil %T]", x)
		}
		return x.Error()
	}
	return shape(v)
}

// shape returns a plain value as itself and of any other its type, with its
// length if it has one.
func shape(v reflect.Value) string {
	switch kind := v.Kind(); {
	case kind == reflect.Bool, kind == reflect.String, v.CanInt(), v.CanUint(), v.CanFloat(), v.CanComplex():
		return fmt.Sprint(v.Interface())
	case slices.Contains([]reflect.Kind{reflect.Map, reflect.Slice, reflect.Array, reflect.Chan}, kind):
		return fmt.Sprintf("[%v, %d long]", v.Type(), v.Len())
	}
	return fmt.Sprintf("[%v]", v.Type())
}
