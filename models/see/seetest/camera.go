// Package seetest holds test cameras: a server on this machine, like many real cameras, and
// pictures for it to show.
package seetest

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// A Camera sends its pictures as multipart/x-mixed-replace over HTTP, again and again, and can
// misbehave. It may be used from many goroutines; any number of clients may watch it.
type Camera struct {
	server *httptest.Server
	every  time.Duration
	over   chan struct{} // closed when it is
	once   sync.Once

	mu      sync.Mutex
	film    [][]byte // JPEG; starts over at the end
	fault   Fault
	changed chan struct{} // closed when film or fault changes
	sent    int
	viewers int
}

// A Fault is how a camera misbehaves from then on.
type Fault string

// The faults.
const (
	Well     Fault = ""
	Silent   Fault = "silent"   // takes connections and says nothing, or stops between two pictures
	Halfway  Fault = "halfway"  // stops within a picture
	Breaks   Fault = "breaks"   // hangs up within a picture
	Ends     Fault = "ends"     // hangs up between two pictures
	Junk     Fault = "junk"     // sends data without a picture, without end
	Bomb     Fault = "bomb"     // claims that a picture is very large
	Endless  Fault = "endless"  // sends a picture that does not end
	Nowhere  Fault = "nowhere"  // has no such page
	Barred   Fault = "barred"   // demands a user and a password
	WebPage  Fault = "web page" // sends a page for people
	Snapshot Fault = "snapshot" // sends one picture and nothing else
	Sideways Fault = "sideways" // redirects the client to a local file
)

// NewCamera returns a camera that sends rate pictures a second. The caller closes it.
func NewCamera(rate float64) *Camera {
	c := &Camera{every: time.Duration(float64(time.Second) / rate), over: make(chan struct{}), changed: make(chan struct{}), film: [][]byte{JPEG(Room())}}
	c.server = httptest.NewServer(http.HandlerFunc(c.serve))
	return c
}

// URL is where it can be seen.
func (c *Camera) URL() string { return c.server.URL + "/stream.mjpg" }

// Close ends it, and all who look at it.
func (c *Camera) Close() {
	c.once.Do(func() { close(c.over) })
	c.server.CloseClientConnections()
	c.server.Close()
}

// Show makes it send another picture from now on, at once the first time.
func (c *Camera) Show(m image.Image) { c.ShowJPEG(JPEG(m)) }

// ShowJPEG is the same for one that is encoded already. It belongs to the camera
// from then on.
func (c *Camera) ShowJPEG(b []byte) { c.Play([][]byte{b}) }

// Play makes it send some encoded pictures, one after another, in a loop. There must be at least
// one.
func (c *Camera) Play(film [][]byte) { c.change(func() { c.film = film }) }

// Misbehave sets its fault from now on; [Well] ends it.
func (c *Camera) Misbehave(f Fault) { c.change(func() { c.fault = f }) }

func (c *Camera) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
	close(c.changed)
	c.changed = make(chan struct{})
}

// Sent returns how many pictures were sent, and to how many it sends now.
func (c *Camera) Sent() (pictures, viewers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent, c.viewers
}

func (c *Camera) now() ([]byte, Fault, chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.film[c.sent%len(c.film)], c.fault, c.changed
}

func (c *Camera) view(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.viewers += n
}

const boundary = "picture"

func (c *Camera) serve(w http.ResponseWriter, r *http.Request) {
	c.view(1)
	defer c.view(-1)
	switch _, fault, _ := c.now(); fault {
	case Nowhere:
		http.NotFound(w, r)
		return
	case Barred:
		w.Header().Set("WWW-Authenticate", `Basic realm="camera"`)
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	case WebPage:
		fmt.Fprint(w, "<html><body>This camera has no pictures for machines.</body></html>")
		return
	case Snapshot:
		jpeg, _, _ := c.now()
		w.Header().Set("Content-Type", "image/jpeg")
		w.Write(jpeg)
		return
	case Sideways:
		http.Redirect(w, r, "file:///etc/hostname", http.StatusFound)
		return
	case Silent:
		c.wait(r, nil)
		return
	}
	w.Header().Set("Content-Type", "multipart/x-mixed-replace; boundary="+boundary)
	out := http.NewResponseController(w)
	for c.send(w, r) && out.Flush() == nil && c.pace(r) {
	}
}

// send sends one picture, or misbehaves, and reports whether to go on.
func (c *Camera) send(w http.ResponseWriter, r *http.Request) bool {
	jpeg, fault, changed := c.now()
	part := fmt.Appendf(nil, "--%s\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n", boundary, len(jpeg))
	switch fault {
	case Silent:
		return c.wait(r, changed)
	case Ends:
		return false
	case Halfway, Breaks:
		w.Write(append(part, jpeg[:len(jpeg)/2]...))
		http.NewResponseController(w).Flush()
		return fault == Halfway && c.wait(r, changed)
	case Junk:
		part = bytes.Repeat([]byte("no picture at all\r\n"), 50_000)
		jpeg = nil
	case Bomb:
		jpeg = []byte("\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01\xff\xda\x00\x0c\x03\x01\x00\x02\x11\x03\x11\x00\x3f\x00\xff\xd9")
	case Endless:
		jpeg = append(jpeg[:len(jpeg)-2:len(jpeg)-2], make([]byte, 1<<20)...)
		for r.Context().Err() == nil {
			if _, err := w.Write(jpeg); err != nil {
				return false
			}
			jpeg = make([]byte, 1<<20)
		}
		return false
	}
	if _, err := w.Write(append(append(part, jpeg...), '\r', '\n')); err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	return true
}

// pace waits until the next picture is due.
func (c *Camera) pace(r *http.Request) bool {
	t := time.NewTimer(c.every)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
	case <-c.over:
	}
	return false
}

// wait waits for a change, and reports whether to go on.
func (c *Camera) wait(r *http.Request, changed chan struct{}) bool {
	select {
	case <-changed:
		return true
	case <-r.Context().Done():
	case <-c.over:
	}
	return false
}

// JPEG returns a picture as cameras send it.
func JPEG(m image.Image) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 85}); err != nil {
		panic("seetest: a picture that is none: " + err.Error())
	}
	return b.Bytes()
}
