package wyoming

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"earshot"
	"earshot/internal/audio"
	"earshot/models/remote"
)

// A format is that of sound in a message.
type format struct {
	Rate     int `json:"rate"`
	Width    int `json:"width"` // bytes per sample
	Channels int `json:"channels"`
}

// spoken is the format of what is sent to a recogniser.
var spoken = format{Rate: audio.Rate, Width: 2, Channels: 1}

// A Recogniser is a server that recognises speech.
type Recogniser struct {
	Server   Server
	Model    string // "" is what the server uses anyway
	Language string // such as "en"; "" is whatever the server hears
}

// Check reports why the server cannot recognise speech, as far as it says so.
func (r Recogniser) Check(ctx context.Context) error {
	return r.Server.check(ctx, "recogniser", "wyoming-faster-whisper", func(d Description) []Program { return d.Recognisers })
}

// A transcribe asks a recogniser for the words of what follows.
type transcribe struct {
	Name     string `json:"name,omitempty"` // of the model
	Language string `json:"language,omitempty"`
}

// Transcribe recognises the sound that pcm holds, little-endian samples at [audio.Rate], until its
// end. It implements [remote.Recogniser].
func (r Recogniser) Transcribe(ctx context.Context, pcm io.Reader, partial func(string)) (string, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c, err := r.Server.dial(ctx)
	if err != nil {
		return "", err
	}
	defer c.close()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		if err := r.send(ctx, c, pcm); err != nil {
			stop(err)
		}
	}()
	text, err := transcript(ctx, c, partial)
	if err != nil {
		stop(err) // ends the sending, if its sound does
		c.close()
		return "", remote.Explain(ctx, c.address, err)
	}
	select {
	case <-sent: // a server may know the words before it has heard the silence after them
		return text, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// send sends an utterance.
func (r Recogniser) send(ctx context.Context, c *conn, pcm io.Reader) error {
	if err := c.write(ctx, "transcribe", transcribe{r.Model, r.Language}, nil); err != nil {
		return err
	}
	if err := c.write(ctx, "audio-start", spoken, nil); err != nil {
		return err
	}
	buf := make([]byte, 2*audio.Rate/10)
	for {
		n, err := io.ReadAtLeast(pcm, buf, 1)
		if errors.Is(err, io.EOF) {
			return c.write(ctx, "audio-stop", nil, nil)
		}
		if err == nil {
			err = c.write(ctx, "audio-chunk", spoken, buf[:n])
		}
		if err != nil {
			return err
		}
	}
}

// transcript reads the words of an utterance. Some servers send them once, at the end; others also
// in pieces, while they recognise them.
func transcript(ctx context.Context, c *conn, partial func(string)) (string, error) {
	var pieces strings.Builder
	for {
		e, err := c.read(ctx)
		if err != nil {
			return "", err
		}
		var said struct{ Text string }
		if err := e.decode(&said); err != nil {
			return "", err
		}
		switch e.Type {
		case "transcript-start":
			pieces.Reset()
		case "transcript-chunk":
			if pieces.Len()+len(said.Text) > earshot.MaxText {
				return "", fmt.Errorf("%w: an utterance of over %d bytes", ErrProtocol, earshot.MaxText)
			}
			pieces.WriteString(said.Text)
			partial(strings.TrimSpace(pieces.String()))
		case "transcript":
			return strings.TrimSpace(said.Text), nil
		}
	}
}
