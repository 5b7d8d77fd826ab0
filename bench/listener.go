package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	ringing "earshot/internal/discord/calls"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/voice"
	"earshot/internal/field"
)

// A listener is this program as somebody in a call who only listens: its standard
// input asks for readings by lines, and its end is the end.
type listener struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	answers *json.Decoder
}

// listens is the variable that makes this program a listener.
const listens = "EARSHOT_BENCH_LISTENS"

// become makes this program a listener if it is asked to be one, and reports whether it was.
func become(ctx context.Context) bool {
	if os.Getenv(listens) == "" {
		return false
	}
	if err := listenIn(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return true
}

// A reading is what a listener knows of itself.
type reading struct {
	Packets int64   // that have been handed over in their order
	Mallocs int64   // allocations
	Delay   float64 // that the jitter buffer adds, in milliseconds
}

// An invitation is what a listener needs to know.
type invitation struct {
	Base, CAFile   string
	Token          string
	Guild, Channel uint64
}

func startListener(ctx context.Context, server *discordtest.Server) (*listener, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	l := &listener{command: exec.CommandContext(ctx, self)}
	l.command.Env = append(os.Environ(), listens+"=1")
	l.command.Stderr = os.Stderr
	if l.stdin, err = l.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := l.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	l.answers = json.NewDecoder(out)
	if err := l.command.Start(); err != nil {
		return nil, err
	}
	return l, json.NewEncoder(l.stdin).Encode(invitation{
		server.Base(), server.CAFile(), server.Bot("ours").Token, server.Guild().ID, server.Channel("voice").ID,
	})
}

func (l *listener) ask() (r reading, err error) {
	if _, err := fmt.Fprintln(l.stdin); err != nil {
		return r, err
	}
	return r, l.answers.Decode(&r)
}

func (l *listener) stop() error {
	l.stdin.Close()
	return l.command.Wait()
}

// listenIn is what a listener does.
func listenIn(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	if !lines.Scan() {
		return errors.New("a listener was not told where to listen")
	}
	var at invitation
	if err := json.Unmarshal(lines.Bytes(), &at); err != nil {
		return err
	}
	pem, err := os.ReadFile(at.CAFile)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	session := gateway.New(gateway.Config{
		Token: field.Secret(at.Token), Base: at.Base, Intents: discordgo.IntentsGuilds | discordgo.IntentsGuildVoiceStates,
		HTTP: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}},
	})
	var heard atomic.Int64
	var call atomic.Pointer[voice.Call]
	ctx, stop := beside(ctx, session.Run, func(ctx context.Context) error {
		return ringing.RunCall(ctx, session, voice.Config{
			Place: voice.Place{Guild: at.Guild, Channel: at.Channel},
			Heard: func(batch []voice.Packet) { heard.Add(int64(len(batch))) },
		}, call.Store)
	})
	for lines.Scan() && ctx.Err() == nil {
		r := reading{Packets: heard.Load()}
		if c := call.Load(); c != nil {
			r.Delay = float64(c.Status().Delay) / float64(time.Millisecond)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		r.Mallocs = int64(m.Mallocs)
		if err := json.NewEncoder(out).Encode(r); err != nil {
			break
		}
	}
	return stop()
}
