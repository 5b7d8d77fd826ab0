package peers

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed participant.cjs
var participant string

//go:embed commit.cjs
var commits string

//go:embed package-lock.json
var lock []byte

// Folder returns the directory into which scripts/discord/build installs the clients.
func Folder() string {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache")
	}
	sum := sha256.Sum256(lock)
	return filepath.Join(cache, "earshot", fmt.Sprintf("discord-%x", sum[:6]))
}

// ErrMissing says that the clients are not installed.
var ErrMissing = errors.New("there are no Discord clients to test with: install them with scripts/discord/build, or set EARSHOT_WITHOUT=discord")

// Command returns a command that runs a script with the clients available.
func Command(ctx context.Context, script string, args ...string) (*exec.Cmd, error) {
	modules := filepath.Join(Folder(), "node_modules")
	node := filepath.Join(modules, "node", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		return nil, ErrMissing
	}
	c := exec.CommandContext(ctx, node, append([]string{"-e", script, "--"}, args...)...)
	c.Env = append(os.Environ(), "NODE_PATH="+modules)
	return c, nil
}

// Commits returns how many milliseconds davey takes to add a member to a group of a size, for a
// number of repetitions.
func Commits(ctx context.Context, members, rounds int) (times []float64, err error) {
	c, err := Command(ctx, commits, strconv.Itoa(members), strconv.Itoa(rounds))
	if err != nil {
		return nil, err
	}
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("measuring davey: %w", err)
	}
	return times, json.Unmarshal(out, &times)
}

// A Config configures a peer.
type Config struct {
	Base   string // the address of REST, with a slash at the end
	CAFile string // the authority that signed the voice gateway's certificate
	Token  string
	Guild  uint64

	// Reads says that it reads messages, for which its user must be privileged. What it then sees
	// is in [Peer.Seen] and [Peer.Typing].
	Reads bool
}

// A Peer is a logged-in client in a process of its own. Its methods may be called from any
// goroutine.
type Peer struct {
	User uint64

	command *exec.Cmd
	stdin   io.WriteCloser
	output  tail
	wg      sync.WaitGroup
	gone    chan struct{}

	mu      sync.Mutex
	number  int
	waiting map[int]chan Report
	ready   chan uint64
	spoken  chan struct{}
	errors  []string
	seen    []Message
	typing  map[Typist]int
}

// A Message is a message that a peer sees.
type Message struct {
	ID, Channel, Author uint64
	ReplyTo             uint64 // 0 if it is not a reply
	Text                string
}

// A Typist is a user who types, and where.
type Typist struct{ User, Channel uint64 }

// A Report is what a peer knows.
type Report struct {
	Number int
	Status string // of its connection: "ready" in a call, "none" or "destroyed" without one
	Code   string // the voice privacy code, without spaces
	Heard  map[string]Heard

	Message uint64 `json:",string"` // that was written, changed or deleted
	Channel uint64 `json:",string"` // that was opened

	What string // why there is no report
}

// Of returns what was heard of a user.
func (r Report) Of(user uint64) Heard { return r.Heard[strconv.FormatUint(user, 10)] }

// Run runs a peer until it is closed, or ctx ends.
func Run(ctx context.Context, cfg Config) (*Peer, error) {
	reads := "no"
	if cfg.Reads {
		reads = "reads"
	}
	c, err := Command(ctx, participant, cfg.Base, cfg.Token, strconv.FormatUint(cfg.Guild, 10), reads)
	if err != nil {
		return nil, err
	}
	c.Env = append(c.Env, "NODE_EXTRA_CA_CERTS="+cfg.CAFile)
	p := &Peer{command: c, gone: make(chan struct{}), waiting: make(map[int]chan Report), ready: make(chan uint64, 1), spoken: make(chan struct{}, 16), typing: make(map[Typist]int)}
	c.Stderr = &p.output
	if p.stdin, err = c.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("starting a peer: %w", err)
	}
	p.wg.Go(func() {
		defer close(p.gone)
		p.read(stdout)
		_ = c.Wait()
	})
	select {
	case p.User = <-p.ready:
		return p, nil
	case <-p.gone:
	case <-time.After(startWithin):
	}
	p.Close()
	return nil, fmt.Errorf("a peer could not log in: %s", p.output.String())
}

const (
	startWithin  = 30 * time.Second // a loaded machine reads some hundred files
	answerWithin = 10 * time.Second
	quitWithin   = 3 * time.Second
)

// read reads the output of the peer until it ends.
func (p *Peer) read(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintln(&p.output, lines.Text())
		var said struct {
			Event string
			User  uint64 `json:",string"`
			What  string

			ID, Channel, Author, To uint64 `json:",string"`

			Text string
		}
		if json.Unmarshal(lines.Bytes(), &said) != nil {
			continue
		}
		switch said.Event {
		case "ready":
			p.ready <- said.User
		case "spoken":
			select {
			case p.spoken <- struct{}{}:
			default:
			}
		case "report":
			p.report(lines.Bytes())
		case "error":
			p.with(func() { p.errors = append(p.errors, said.What) })
		case "message":
			p.with(func() { p.seen = append(p.seen, Message{said.ID, said.Channel, said.Author, said.To, said.Text}) })
		case "edited":
			p.with(func() {
				for i := range p.seen {
					if p.seen[i].ID == said.ID {
						p.seen[i].Text = said.Text
					}
				}
			})
		case "deleted":
			p.with(func() { p.seen = slices.DeleteFunc(p.seen, func(m Message) bool { return m.ID == said.ID }) })
		case "typing":
			p.with(func() { p.typing[Typist{said.Author, said.Channel}]++ })
		}
	}
	_, _ = io.Copy(io.Discard, r) // a line that is too long does not stop it
}

// with calls f with the mutex held.
func (p *Peer) with(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *Peer) report(line []byte) {
	var r Report
	if err := json.Unmarshal(line, &r); err != nil {
		r.What = err.Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if to := p.waiting[r.Number]; to != nil {
		delete(p.waiting, r.Number)
		to <- r
	}
}

func (p *Peer) tell(format string, args ...any) {
	_, _ = fmt.Fprintf(p.stdin, format+"\n", args...)
}

// Join enters a voice channel, or moves there; Leave leaves it.
func (p *Peer) Join(channel uint64) { p.tell("join %d", channel) }
func (p *Peer) Leave()              { p.tell("leave") }

// Play starts playing tagged frames; Stop ends it, with five frames of silence.
func (p *Peer) Play(tag byte) { p.tell("play %d", tag) }
func (p *Peer) Stop()         { p.tell("stop") }

// Speak plays packets of Opus, 20 ms each, from a file as [Packets] makes it. Spoken
// yields for each that was played to its end.
func (p *Peer) Speak(file string)       { p.tell("speak %s", file) }
func (p *Peer) Spoken() <-chan struct{} { return p.spoken }

// Record starts writing what is heard of a user to a file, which [ReadRecord] reads.
func (p *Peer) Record(user uint64, file string) { p.tell("record %d %s", user, file) }

// Forget resets the counters of what is heard.
func (p *Peer) Forget() { p.tell("forget") }

// Write writes a message in a channel, and returns its number.
func (p *Peer) Write(channel uint64, text string) (message uint64, err error) {
	return p.writes("write", channel, text)
}

// Reply answers a message that it wrote; Edit changes one, and Delete deletes it.
func (p *Peer) Reply(to uint64, text string) (message uint64, err error) {
	return p.writes("reply", to, text)
}

func (p *Peer) Edit(message uint64, text string) error {
	_, err := p.writes("edit", message, text)
	return err
}

func (p *Peer) Delete(message uint64) error {
	_, err := p.writes("delete", message, "")
	return err
}

// Direct opens direct messages with another user, and returns their channel.
func (p *Peer) Direct(user uint64) (channel uint64, err error) {
	r, err := p.ask("direct %d " + strconv.FormatUint(user, 10))
	return r.Channel, err
}

// Answer makes it answer everything that others write, with the same text each time; an empty text
// ends that.
func (p *Peer) Answer(text string) error {
	_, err := p.ask("answer %d " + quoted(text))
	return err
}

// Seen returns the messages that it has seen since it logged in, in order, in their current form
// and without the deleted ones. Typing returns how many typing events it received.
func (p *Peer) Seen() (all []Message) {
	p.with(func() { all = slices.Clone(p.seen) })
	return all
}

func (p *Peer) Typing(who Typist) (times int) {
	p.with(func() { times = p.typing[who] })
	return times
}

// Type shows that it types in a channel.
func (p *Peer) Type(channel uint64) error {
	_, err := p.writes("type", channel, "")
	return err
}

func (p *Peer) writes(what string, number uint64, text string) (message uint64, err error) {
	r, err := p.ask(what + " %d " + strconv.FormatUint(number, 10) + " " + quoted(text))
	return r.Message, err
}

// quoted returns a text as JSON, for a command of [Peer.ask].
func quoted(text string) string {
	b, _ := json.Marshal(text) // it cannot fail for text
	return strings.ReplaceAll(string(b), "%", "%%")
}

// Report asks what the peer knows.
func (p *Peer) Report() (Report, error) { return p.ask("report %d") }

func (p *Peer) ask(question string) (Report, error) {
	answer := make(chan Report, 1)
	p.mu.Lock()
	p.number++
	number := p.number
	p.waiting[number] = answer
	p.mu.Unlock()
	p.tell(question, number)
	select {
	case r := <-answer:
		if r.What != "" {
			return r, errors.New("a peer says: " + r.What)
		}
		return r, nil
	case <-p.gone:
		return Report{}, errors.New("a peer has ended")
	case <-time.After(answerWithin):
		return Report{}, errors.New("a peer does not answer")
	}
}

// Errors returns the errors that the peer has reported.
func (p *Peer) Errors() (all []string) {
	p.with(func() { all = slices.Clone(p.errors) })
	return all
}

// PID is the ID of the peer's process.
func (p *Peer) PID() int { return p.command.Process.Pid }

// Output returns the end of the peer's raw output.
func (p *Peer) Output() string { return p.output.String() }

// Close has the peer leave and end.
func (p *Peer) Close() {
	p.stdin.Close()
	select {
	case <-p.gone:
	case <-time.After(quitWithin):
		_ = p.command.Process.Kill()
	}
	p.wg.Wait()
}

// A tail keeps the end of what is written, for failed tests.
type tail struct {
	mu   sync.Mutex
	text strings.Builder
}

const tailSize = 1 << 16

func (w *tail) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.text.Len()+len(b) > tailSize {
		kept := w.text.String()[w.text.Len()/2:]
		w.text.Reset()
		w.text.WriteString(kept)
	}
	w.text.Write(b[:min(len(b), tailSize/2)])
	return len(b), nil
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
