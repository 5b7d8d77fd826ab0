package wyoming

import (
	"context"
	"encoding/binary"
	"fmt"
)

// Rate is that of most voices of such servers, which are Piper's, in samples per second.
const Rate = 22050

// A Voice is a server that speaks.
type Voice struct {
	Server  Server
	Name    string // of the voice, such as "en_US-lessac-medium"; "" is the server's own choice
	Speaker string // of a voice that has several; may be empty
}

// Check reports why the server cannot speak, as far as it says so.
func (v Voice) Check(ctx context.Context) error {
	return v.Server.check(ctx, "voice", "wyoming-piper", func(d Description) []Program { return d.Voices })
}

// A synthesize asks a voice for a text.
type synthesize struct {
	Text  string      `json:"text,omitempty"`
	Voice *voiceNamed `json:"voice,omitempty"`
}

type voiceNamed struct {
	Name    string `json:"name,omitempty"`
	Speaker string `json:"speaker,omitempty"`
}

// Synthesize says a text; sound receives its samples, which are valid until it returns, at the
// voice's own rate. It implements [remote.Voice].
//
// It asks as for a text without pieces. A server that says each sentence by itself, with a start
// and a stop of its own, does so only for a text in pieces.
func (v Voice) Synthesize(ctx context.Context, text string, sound func(rate int, pcm []int16) error) error {
	c, err := v.Server.dial(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	ask := synthesize{Text: text}
	if n := (voiceNamed{v.Name, v.Speaker}); n != (voiceNamed{}) {
		ask.Voice = &n
	}
	if err := c.write(ctx, "synthesize", ask, nil); err != nil {
		return err
	}
	var mono []int16
	rate := 0
	for {
		e, err := c.read(ctx)
		if err != nil {
			return err
		}
		switch e.Type {
		case "audio-chunk":
			var f format
			if err := e.decode(&f); err != nil {
				return err
			}
			if rate == 0 {
				rate = f.Rate
			}
			if f.Rate != rate || rate < 8000 || rate > 48000 {
				return fmt.Errorf("%w: sound of %d samples a second, after %d; only one rate from 8000 to 48000 is understood", ErrProtocol, f.Rate, rate)
			}
			if mono, err = f.mono(mono[:0], e.Payload); err != nil {
				return err
			}
			if err := sound(f.Rate, mono); err != nil {
				return err
			}
		case "audio-stop":
			return nil
		}
	}
}

// mono appends the samples of b, with the channels of each instant averaged.
func (f format) mono(pcm []int16, b []byte) ([]int16, error) {
	if f.Width != 2 || f.Channels < 1 || f.Channels > 8 || len(b)%(2*f.Channels) != 0 {
		return nil, fmt.Errorf("%w: sound of %d bytes with %d channels of %d bytes; only 16 bits are understood", ErrProtocol, len(b), f.Channels, f.Width)
	}
	for ; len(b) > 0; b = b[2*f.Channels:] {
		sum := 0
		for ch := range f.Channels {
			sum += int(int16(binary.LittleEndian.Uint16(b[2*ch:])))
		}
		pcm = append(pcm, int16(sum/f.Channels))
	}
	return pcm, nil
}
