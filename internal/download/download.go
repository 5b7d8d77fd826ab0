// Package download brings files here: a download continues where it was cut off, also by the end of
// the program, tries the next mirror if one fails, and is believed only if its checksum is right.
//
// What happens when a reader is slow: the disk is the only one, and the server waits for it.
package download

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"earshot/internal/english"
)

const (
	// Largest is the longest file that is brought, in bytes.
	Largest = 8 << 30

	// tries is how often a mirror is asked, if it fails in a way that may pass.
	tries = 4

	// pause is how long the second try waits; each one after it waits twice as long.
	pause = time.Second

	// stall is how long a server may take for the next leastStep bytes: less is as good as nothing,
	// and another mirror may be faster.
	stall     = 30 * time.Second
	leastStep = 16 << 10

	// spare is the part of a file, as one in so many, that must remain free on the disk.
	spare = 5

	maxRedirects = 5
)

// A File is what is wanted.
type File struct {
	SHA256 string   // in hexadecimal letters; "" if nobody has published it: then whatever comes is believed, and continued only if the server says that it has not changed
	Bytes  int64    // 0 if that is unknown
	URLs   []string // of the same file, the best first
}

// Check reports whether sum is another checksum than that of the file.
func (f File) Check(sum string) error {
	if f.SHA256 == "" || f.SHA256 == sum {
		return nil
	}
	return badFile(fmt.Sprintf("it sent another file: its SHA-256 is %.12s…, not %.12s…", sum, f.SHA256))
}

// A badFile says how what came is not the file that was wanted. It is never continued.
type badFile string

const (
	errWebPage badFile = "it sent a web page instead of the file: the address is wrong, or needs a login"
	errPointer badFile = "it sent a pointer of git-lfs instead of the file: the address must be that of the file itself"
	errLonger  badFile = "it sent more than the file has"
	errLength  badFile = "it has a file of another length"
	errChanged badFile = "it continued another version of the file"
	errEncoded badFile = "it sent the file in an encoding that was not asked for"
)

// Error says what is wrong.
func (e badFile) Error() string { return string(e) }

// A lastingError is that of a server that does no better if it is asked again.
type lastingError string

// Error says what is wrong.
func (e lastingError) Error() string { return string(e) }

// A SpaceError says that the disk is too full.
type SpaceError struct {
	Dir        string
	Need, Free int64 // bytes; Free is -1 if the disk became full meanwhile
}

// Error says what is wrong.
func (e *SpaceError) Error() string {
	if e.Free < 0 {
		return fmt.Sprintf("the disk of %s is full", e.Dir)
	}
	return fmt.Sprintf("the disk of %s has %s free, and %s are needed", e.Dir, english.Size(e.Free), english.Size(e.Need))
}

// Cure says what to do.
func (e *SpaceError) Cure() string { return "free some space; what was downloaded is kept" }

// A Downloader downloads into one folder. Several programs may do so at a time.
type Downloader struct {
	// Parts is the folder for what is not complete. It must be on the same disk as the files.
	Parts string

	// Progress receives how many bytes are here, out of how many; 0 is unknown. It may be nil.
	Progress func(have, all int64)

	// Of tests; zero is what the program does.
	transport http.RoundTripper
	sleep     func(context.Context, time.Duration) error
	stall     time.Duration
}

// Get puts f at path, read-only, and returns its checksum. What is at path already is kept if it is
// that file, and is replaced otherwise; nobody ever finds an incomplete file there. If another
// program is downloading the same, Get waits for it.
//
// An error names each server and what is wrong with it. What was brought until then is kept, and is
// used next time.
func (d *Downloader) Get(ctx context.Context, f File, path string) (sum string, err error) {
	if sum, err := Sum(path); err == nil && sum == f.SHA256 {
		return sum, nil
	}
	if err := os.MkdirAll(d.Parts, 0o700); err != nil {
		return "", err
	}
	part, err := d.open(ctx, f)
	if err != nil {
		return "", err
	}
	defer part.Close()
	if sum, err := Sum(path); err == nil && sum == f.SHA256 { // another program has just brought it
		return sum, os.Remove(part.Name())
	}
	if sum, err = d.fill(ctx, f, part); err != nil {
		if about, bad := part.Stat(); bad == nil && about.Size() == 0 {
			err = errors.Join(err, os.Remove(part.Name()))
		}
		return "", err
	}
	if err := errors.Join(os.RemoveAll(version(part)), part.Chmod(0o444), part.Sync()); err != nil {
		return "", err
	}
	if err := os.Rename(part.Name(), path); err != nil {
		return "", err
	}
	return sum, SyncFolder(filepath.Dir(path))
}

// Sum returns the checksum of a file.
func Sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// SyncFolder sees to it that the names in a folder are on the disk.
func SyncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// open returns the incomplete file, once no other program has it.
func (d *Downloader) open(ctx context.Context, f File) (*os.File, error) {
	name := f.SHA256
	if name == "" {
		of := sha256.Sum256([]byte(strings.Join(f.URLs, "\n")))
		name = "unpublished-" + hex.EncodeToString(of[:])
	}
	return d.lock(ctx, filepath.Join(d.Parts, name))
}

// Lock opens a file, which it makes if there is none, once no other program has it. It ends with ctx.
// Whoever closes the file lets the next one have it.
func Lock(ctx context.Context, path string) (*os.File, error) { return new(Downloader).lock(ctx, path) }

func (d *Downloader) lock(ctx context.Context, path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil && current(f) {
			return f, nil
		}
		f.Close()
		if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if err := d.rest(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// current reports whether an open file still has its name: the program that held its lock may have
// moved it to where it belongs.
func current(f *os.File) bool {
	is, err := f.Stat()
	named, bad := os.Stat(f.Name())
	return err == nil && bad == nil && os.SameFile(is, named)
}

// rest waits.
func (d *Downloader) rest(ctx context.Context, long time.Duration) error {
	if d.sleep != nil {
		return d.sleep(ctx, long)
	}
	t := time.NewTimer(long)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fill completes part from one mirror after another, and returns its checksum.
func (d *Downloader) fill(ctx context.Context, f File, part *os.File) (string, error) {
	var all []error
	for _, from := range f.URLs {
		sum, err := d.from(ctx, from, f, part)
		if err == nil || ctx.Err() != nil {
			return sum, err
		}
		if full, ok := errors.AsType[*SpaceError](err); ok {
			return "", full
		}
		all = append(all, fmt.Errorf("%s: %w", Host(from), err))
	}
	if len(all) == 0 {
		return "", errors.New("it has no address")
	}
	return "", errors.Join(all...)
}

// Host returns what people know of an address.
func Host(from string) string {
	u, err := url.Parse(from)
	if err != nil || u.Host == "" {
		return "an invalid address"
	}
	return u.Host
}

// from completes part from one mirror.
func (d *Downloader) from(ctx context.Context, from string, f File, part *os.File) (sum string, err error) {
	wait := pause
	for try := 1; ; try++ {
		var resumed bool
		sum, resumed, err = d.once(ctx, from, f, part)
		if err == nil || ctx.Err() != nil {
			return sum, err
		}
		switch {
		case errors.As(err, new(*SpaceError)), errors.As(err, new(lastingError)):
			return "", err
		case errors.As(err, new(badFile)):
			if err := empty(part); err != nil {
				return "", err
			}
			if !resumed {
				return "", err
			}
			continue // the beginning may have been another version of it
		}
		if try >= tries {
			return "", err
		}
		if err := d.rest(ctx, wait); err != nil {
			return "", err
		}
		wait *= 2
	}
}

// once asks a mirror once for what is missing of part. It reports whether part had a beginning.
func (d *Downloader) once(ctx context.Context, from string, f File, part *os.File) (sum string, resumed bool, err error) {
	of := sha256.New()
	if _, err := part.Seek(0, io.SeekStart); err != nil {
		return "", false, err
	}
	have, err := io.Copy(of, part)
	if err != nil {
		return "", false, err
	}
	unchanged := tagOf(part, from)
	if have > 0 && (f.SHA256 == "" && unchanged == "" || f.Bytes > 0 && have > f.Bytes) {
		if err := empty(part); err != nil {
			return "", false, err
		}
		have = 0
		of.Reset()
	}
	resumed = have > 0
	if f.Bytes == 0 || have < f.Bytes {
		if err := Room(d.Parts, f.Bytes-have); err != nil {
			return "", resumed, err
		}
		if err := d.fetch(ctx, from, f, part, of, have, unchanged); err != nil {
			return "", resumed, Full(d.Parts, err)
		}
	}
	sum = hex.EncodeToString(of.Sum(nil))
	return sum, resumed, f.Check(sum)
}

// empty makes a file that is open empty.
func empty(f *os.File) error {
	_, err := f.Seek(0, io.SeekStart)
	return errors.Join(f.Truncate(0), err)
}

// version is where it is kept which version of a file part is the beginning of, if only its server
// knows: the address, and behind it the server's name for the version.
func version(part *os.File) string { return part.Name() + ".version" }

// tagOf returns the server's name for the version that part is the beginning of, or "" if part did
// not come from there.
func tagOf(part *os.File, from string) string {
	text, _ := os.ReadFile(version(part)) // what cannot be read names none
	tag, found := strings.CutPrefix(string(text), from+"\n")
	if !found {
		return ""
	}
	return tag
}

// Room reports with a [SpaceError] whether so many bytes, and some more, do not fit on the disk of a
// folder.
func Room(dir string, missing int64) error {
	need, free := missing+missing/spare, Free(dir)
	if missing > 0 && free >= 0 && free < need {
		return &SpaceError{dir, need, free}
	}
	return nil
}

// Free returns how many bytes are free on the disk of a folder, which may still have to be made; -1 if
// that is unknown.
func Free(dir string) int64 {
	var disk syscall.Statfs_t
	err := syscall.Statfs(dir, &disk)
	for errors.Is(err, syscall.ENOENT) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		err = syscall.Statfs(dir, &disk)
	}
	if err != nil {
		return -1
	}
	return int64(disk.Bavail) * int64(disk.Bsize)
}

// Full returns a [SpaceError] if err is that of a disk that has become full, and err otherwise.
func Full(dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &SpaceError{dir, 0, -1}
	}
	return err
}

// fetch appends to part what is behind its first have bytes, and adds it to of. If unchanged is not
// empty, it does so only to that version.
func (d *Downloader) fetch(ctx context.Context, from string, f File, part *os.File, of hash.Hash, have int64, unchanged string) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	patience := cmp.Or(d.stall, stall)
	silent := time.AfterFunc(patience, func() { stop(fmt.Errorf("it sent hardly anything for %v", patience)) })
	defer silent.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return errors.New("the address is invalid")
	}
	req.Header.Set("User-Agent", "earshot")
	req.Header.Set("Accept-Encoding", "identity") // or lengths mean nothing
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		if unchanged != "" {
			req.Header.Set("If-Range", unchanged)
		}
	}
	client := http.Client{CheckRedirect: redirect, Transport: cmp.Or(d.transport, newTransport())}
	resp, err := client.Do(req)
	if err != nil {
		return explain(ctx, err)
	}
	defer resp.Body.Close()
	tag := resp.Header.Get("ETag")
	switch {
	case resp.Header.Get("Content-Encoding") != "" && resp.Header.Get("Content-Encoding") != "identity":
		return errEncoded
	case resp.StatusCode == http.StatusPartialContent && unchanged != "" && tag != unchanged:
		return errChanged
	case resp.StatusCode == http.StatusPartialContent && strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)):
	case resp.StatusCode == http.StatusOK: // from its beginning, whatever it was asked for
		have = 0
		of.Reset()
		if err := empty(part); err != nil {
			return err
		}
		if err := keepTag(part, f, from, tag); err != nil {
			return err
		}
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && f.SHA256 != "":
		return nil // nothing is missing, unless the checksum says otherwise
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return errLength
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusRequestTimeout || resp.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("it answers %s", resp.Status) // and may answer otherwise a little later
	default:
		return lastingError("it answers " + resp.Status)
	}
	all, n := f.Bytes, resp.ContentLength
	if all == 0 && n >= 0 {
		all = have + n
	}
	if all > Largest {
		return errLonger
	}
	w := &writer{to: io.MultiWriter(part, of), have: have, want: f.Bytes, all: all, other: n >= 0 && have+n != all, progress: d.Progress, alive: func() { silent.Reset(patience) }}
	_, err = io.Copy(w, resp.Body)
	if err == nil && w.have < all {
		err = io.ErrUnexpectedEOF
	}
	if errors.Is(err, io.ErrUnexpectedEOF) && ctx.Err() == nil {
		return fmt.Errorf("it ended the connection after %d of %d bytes", w.have, all)
	}
	return explain(ctx, err)
}

// keepTag notes which version of a file part begins with from now on, if that matters. A weak name
// promises too little.
func keepTag(part *os.File, f File, from, tag string) error {
	if f.SHA256 != "" || tag == "" || strings.HasPrefix(tag, "W/") {
		return os.RemoveAll(version(part))
	}
	return os.WriteFile(version(part), []byte(from+"\n"+tag), 0o600)
}

// explain returns why ctx ended, if it did, and no address: that may hold a secret.
func explain(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// A writer writes a file, and watches it.
type writer struct {
	to              io.Writer
	have, want, all int64
	other           bool // the server has a file of another length
	progress        func(have, all int64)
	alive           func() // called when enough came to wait for more
	step            int64  // bytes since then
}

// Write implements [io.Writer].
func (w *writer) Write(b []byte) (int, error) {
	if w.step += int64(len(b)); w.step >= leastStep {
		w.alive()
		w.step = 0
	}
	if w.have == 0 {
		if err := wrongKind(b); err != nil {
			return 0, err
		}
	}
	if w.other {
		return 0, errLength
	}
	if n := w.have + int64(len(b)); n > Largest || w.want > 0 && n > w.want {
		return 0, errLonger
	}
	n, err := w.to.Write(b)
	w.have += int64(n)
	if w.progress != nil {
		w.progress(w.have, w.all)
	}
	return n, err
}

// wrongKind recognises by its first bytes what servers send instead of a file.
func wrongKind(b []byte) error {
	switch start := bytes.ToLower(b[:min(len(b), 64)]); {
	case bytes.HasPrefix(start, []byte("<!doctype")), bytes.HasPrefix(start, []byte("<html")):
		return errWebPage
	case bytes.HasPrefix(start, []byte("version https://git-lfs")):
		return errPointer
	}
	return nil
}

// newTransport returns one that is bounded.
func newTransport() http.RoundTripper {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  stall,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true,
		DisableKeepAlives:      true, // one request for each file, so nothing is left open
		ForceAttemptHTTP2:      true,
	}
}

// redirect refuses to be led from https to anything else, or in a circle.
func redirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errors.New("it redirects too often")
	}
	if via[len(via)-1].URL.Scheme == "https" && r.URL.Scheme != "https" {
		return lastingError("it redirects to an address without https")
	}
	return nil
}
