package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"earshot"
	"earshot/config"
	"earshot/internal/terminal"
	"earshot/participants"
	"earshot/participants/agents"
)

// A Job is a day that another process is to perform. It is sent as one line of JSON, and
// after it the events of the past and then those of the day, each a line.
type Job struct {
	Config      string         `json:"config"` // the file; see [config.Load]
	Account     earshot.Handle `json:"account"`
	AccountName string         `json:"account_name"`
	Past        int            `json:"past"`
	Events      int            `json:"events"`
}

// Send writes what [Serve] reads.
func (j Job) Send(w io.Writer, d *Day) error {
	b := bufio.NewWriter(w)
	out := json.NewEncoder(b)
	j.Past, j.Events = len(d.Past), len(d.Events)
	if err := out.Encode(j); err != nil {
		return err
	}
	for _, list := range [][]earshot.Event{d.Past, d.Events} {
		for _, e := range list {
			if err := out.Encode(e); err != nil {
				return err
			}
		}
	}
	return b.Flush()
}

// Serve performs the day that it reads from in, and writes the [Result] as JSON to out.
// Bubble calls what it is given on a clock that moves on when everything waits, and with
// what [Setup.Settle] is there.
func Serve(ctx context.Context, in io.Reader, out io.Writer, bubble func(func(settle func()))) error {
	var j Job
	from := json.NewDecoder(in)
	if err := from.Decode(&j); err != nil {
		return fmt.Errorf("reading what is to be performed: %w", err)
	}
	cfg, err := config.Load(j.Config)
	if err != nil {
		return err
	}
	d := new(Day)
	if d.Past, err = read(from, j.Past); err != nil {
		return err
	}
	if d.Events, err = read(from, j.Events); err != nil {
		return err
	}
	setup := Setup{
		Settings: cfg.Executive, Actors: cfg.ExternalActors, Agents: staffOf(cfg), Account: j.Account, AccountName: j.AccountName,
	}
	for _, id := range cfg.Providers.Discord.Operators {
		setup.Operators = append(setup.Operators, earshot.Handle{Provider: "discord", ID: id})
	}
	var res *Result
	bubble(func(settle func()) {
		setup.Settle = settle
		res, err = setup.Perform(ctx, d)
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(res)
}

func read(from *json.Decoder, n int) (all []earshot.Event, err error) {
	for i := range n {
		var e earshot.Event
		if err := from.Decode(&e); err != nil {
			return nil, fmt.Errorf("reading event %d of what is to be performed: %w", i+1, err)
		}
		all = append(all, e)
	}
	return all, nil
}

// staffOf returns the agents of a configuration.
func staffOf(cfg *config.Config) []agents.Record {
	all := []agents.Record{{
		ID: participants.Agent, User: participants.Owner, Kind: earshot.PathAgent, Role: earshot.RoleUser, Configured: true,
		Profile: earshot.Profile{
			Name: participants.OneLine(cfg.Executive.Name), Prompt: earshot.Text(cfg.Executive.Conversational.SystemPrompt), AutoReply: true,
		},
	}}
	for _, e := range cfg.Agents {
		r := e.Record()
		r.ID = earshot.ParticipantID("agent/" + e.Name)
		all = append(all, r)
	}
	return all
}

// Perform runs the program at path, which calls [Serve], to perform a day, and returns its result.
func (j Job) Perform(ctx context.Context, path string, d *Day) (*Result, error) {
	in, out := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := j.Send(out, d)
		out.CloseWithError(err)
		sent <- err
	}()
	var result, trouble bytes.Buffer
	c := exec.CommandContext(ctx, path)
	c.Stdin, c.Stdout, c.Stderr = in, &result, &trouble
	err := c.Run()
	in.Close()
	<-sent
	if err != nil {
		return nil, fmt.Errorf("that day could not be replayed: %s", wentWrong(trouble.String(), err))
	}
	res := new(Result)
	if err := json.Unmarshal(result.Bytes(), res); err != nil {
		return nil, fmt.Errorf("the result of the replay cannot be read; is %s of another version? %w", config.ShortPath(path), err)
	}
	return res, nil
}

// wentWrong returns the first line of what a program said before it ended.
func wentWrong(said string, err error) string {
	if line, _, _ := strings.Cut(strings.TrimSpace(said), "\n"); line != "" {
		return terminal.Safe(line)
	}
	return err.Error()
}
