package redact

import (
	"cmp"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"
)

// A SourceRedactor hides the private parts of the address of a camera: the user, the password,
// and the query, where many cameras want both. The zero value hides nothing.
type SourceRedactor struct{ hide *strings.Replacer }

// leastSecret is how long a part of an address is that is hidden wherever it stands, in
// bytes: shorter ones are parts of other words, too.
const leastSecret = 4

// ForSources returns what hides the secrets of sources.
func ForSources(sources ...string) SourceRedactor {
	var pairs [][2]string
	for _, source := range sources {
		if plain := Source(source); plain != source {
			pairs = append(pairs, [2]string{source, plain})
		}
		for _, secret := range secretsIn(source) {
			if len(secret) >= leastSecret {
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
	return SourceRedactor{strings.NewReplacer(flat...)}
}

// Source returns a source as anybody may see it.
func Source(source string) string {
	way, rest, ok := splitScheme(source)
	if !ok {
		return source
	}
	if login := strings.LastIndexByte(rest, '@'); login >= 0 { // the last, since passwords have some
		if queryStart(rest[:login]) >= 0 { // or the last of the query; nobody knows
			return way + "…"
		}
		way, rest = way+"…", rest[login:]
	}
	if at := queryStart(rest); at >= 0 {
		rest = rest[:at+1] + "…"
	}
	return way + rest
}

// splitScheme returns the scheme of an address, such as rtsp://, and the rest. An address in
// which a slash was forgotten is one, too: its secrets are as secret.
func splitScheme(source string) (way, rest string, ok bool) {
	scheme, rest, ok := strings.Cut(source, ":/")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "/@?#") {
		return "", "", false
	}
	rest = strings.TrimLeft(rest, "/")
	return source[:len(source)-len(rest)], rest, true
}

// queryStart returns where in the rest of an address the query begins, or -1. Some
// recorders have it in the path: rtsp://HOST/user=USER&password=PASSWORD.
func queryStart(rest string) int {
	at, path := strings.IndexAny(rest, "?#"), strings.IndexByte(rest, '/')
	if path < 0 {
		return at
	}
	if is := strings.IndexByte(rest[path:], '='); is >= 0 && (at < 0 || path+is < at) {
		return path + is
	}
	return at
}

// secretsIn returns the parts of a source that are nobody's business, as they stand in
// it and as they are meant.
func secretsIn(source string) (all []string) {
	_, rest, ok := splitScheme(source)
	if !ok {
		return nil
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		_, password, _ := strings.Cut(rest[:at], ":")
		all = append(all, rest[:at], password)
	}
	if at := queryStart(rest); at >= 0 {
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

// Text returns s without the secrets.
func (v SourceRedactor) Text(s string) string {
	if v.hide == nil {
		return s
	}
	return v.hide.Replace(s)
}

// Error returns err without the secrets in its text. Its kind and its cure stay the same.
func (v SourceRedactor) Error(err error) error {
	if err == nil || v.hide == nil {
		return err
	}
	return &sourceError{err, v}
}

// A sourceError is an error without the secrets in what it says.
type sourceError struct {
	error
	hides SourceRedactor
}

func (e *sourceError) Error() string { return e.hides.Text(e.error.Error()) }
func (e *sourceError) Unwrap() error { return e.error }

// Cure returns what mends it; it is empty where nothing is known that does.
func (e *sourceError) Cure() string {
	var known interface{ Cure() string }
	if !errors.As(e.error, &known) {
		return ""
	}
	return e.hides.Text(known.Cure())
}

// Log returns a log that keeps the secrets out of log.
func (v SourceRedactor) Log(log *slog.Logger) *slog.Logger {
	return slog.New(Handler{log.Handler(), v})
}
