package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"
)

// A redactor hides what the address of a camera tells that is nobody's business: who logs
// in there and by which password, and what is asked, where many cameras want both. The
// zero veil hides nothing.
type redactor struct{ hide *strings.Replacer }

// least is how long a part of an address is that is hidden wherever it stands, in
// bytes: shorter ones are parts of other words, too.
const least = 4

// veilOf returns what hides the secrets of sources.
func veilOf(sources ...string) redactor {
	var pairs [][2]string
	for _, source := range sources {
		if plain := unveiled(source); plain != source {
			pairs = append(pairs, [2]string{source, plain})
		}
		for _, secret := range secretsOf(source) {
			if len(secret) >= least {
				pairs = append(pairs, [2]string{secret, "…"})
			}
		}
	}
	// The longest first: one may be a part of another.
	slices.SortStableFunc(pairs, func(a, b [2]string) int { return cmp.Compare(len(b[0]), len(a[0])) })
	var flat []string
	for _, p := range pairs {
		flat = append(flat, p[0], p[1])
	}
	return redactor{strings.NewReplacer(flat...)}
}

// unveiled returns a source as anybody may see it.
func unveiled(source string) string {
	way, rest, ok := parted(source)
	if !ok {
		return source
	}
	if login := strings.LastIndexByte(rest, '@'); login >= 0 { // the last, since passwords have some
		if asked(rest[:login]) >= 0 { // or the last of what is asked; nobody knows
			return way + "…"
		}
		way, rest = way+"…", rest[login:]
	}
	if at := asked(rest); at >= 0 {
		rest = rest[:at+1] + "…"
	}
	return way + rest
}

// parted returns the part of an address that says by which way, such as rtsp://, and the
// rest. An address in which a slash was forgotten is one, too: its secrets are as secret.
func parted(source string) (way, rest string, ok bool) {
	scheme, rest, ok := strings.Cut(source, ":/")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "/@?#") {
		return "", "", false
	}
	rest = strings.TrimLeft(rest, "/")
	return source[:len(source)-len(rest)], rest, true
}

// asked returns where in the rest of an address begins what is asked, or -1. Some
// recorders have it in the path: rtsp://HOST/user=USER&password=PASSWORD.
func asked(rest string) int {
	at, path := strings.IndexAny(rest, "?#"), strings.IndexByte(rest, '/')
	if path < 0 {
		return at
	}
	if is := strings.IndexByte(rest[path:], '='); is >= 0 && (at < 0 || path+is < at) {
		return path + is
	}
	return at
}

// secretsOf returns the parts of a source that are nobody's business, as they stand in
// it and as they are meant.
func secretsOf(source string) (all []string) {
	_, rest, ok := parted(source)
	if !ok {
		return nil
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		_, password, _ := strings.Cut(rest[:at], ":")
		all = append(all, rest[:at], password)
	}
	if at := asked(rest); at >= 0 {
		all = append(all, rest[at+1:])
		for _, part := range strings.FieldsFunc(rest[at+1:], func(r rune) bool { return strings.ContainsRune("?&#;", r) }) {
			name, value, has := strings.Cut(part, "=")
			if !has {
				value = name
			}
			all = append(all, value)
		}
	}
	for _, s := range all {
		if meant, err := url.PathUnescape(s); err == nil && meant != s {
			all = append(all, meant)
		}
	}
	return all
}

// text returns s without the secrets.
func (v redactor) text(s string) string {
	if v.hide == nil {
		return s
	}
	return v.hide.Replace(s)
}

// error returns err without the secrets in what it says. What it is, and what mends
// it, stays.
func (v redactor) error(err error) error {
	if err == nil || v.hide == nil {
		return err
	}
	return &veiledError{err, v}
}

// A veiledError is an error that does not say everything.
type veiledError struct {
	error
	veil redactor
}

func (e *veiledError) Error() string { return e.veil.text(e.error.Error()) }
func (e *veiledError) Unwrap() error { return e.error }

// Cure implements [curable]; it is empty where nothing is known that mends it.
func (e *veiledError) Cure() string { return e.veil.text(cureOf(e.error)) }

// log returns a log of which nothing gets to log that is a secret.
func (v redactor) log(log *slog.Logger) *slog.Logger { return slog.New(veiled{log.Handler(), v}) }

// A veiled handler hides secrets in texts and errors before the next one writes them.
type veiled struct {
	slog.Handler
	veil redactor
}

// Handle implements [slog.Handler].
func (h veiled) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, h.veil.text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, out)
}

// WithAttrs implements [slog.Handler].
func (h veiled) WithAttrs(as []slog.Attr) slog.Handler {
	all := make([]slog.Attr, len(as))
	for i, a := range as {
		all[i] = h.attr(a)
	}
	return veiled{h.Handler.WithAttrs(all), h.veil}
}

// WithGroup implements [slog.Handler].
func (h veiled) WithGroup(name string) slog.Handler { return veiled{h.Handler.WithGroup(name), h.veil} }

func (h veiled) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, h.veil.text(v.String()))
	case slog.KindGroup:
		var all []any
		for _, in := range v.Group() {
			all = append(all, h.attr(in))
		}
		return slog.Group(a.Key, all...)
	case slog.KindAny:
		if err, ok := v.Any().(error); ok {
			return slog.String(a.Key, h.veil.text(err.Error()))
		}
	}
	return slog.Attr{Key: a.Key, Value: v}
}

// cureOf returns what mends err, or nothing.
func cureOf(err error) string {
	if c, ok := errors.AsType[curable](err); ok {
		return c.Cure()
	}
	return ""
}
