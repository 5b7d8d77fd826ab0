//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/asticode/go-astiav"

	"earshot/internal/codec"
	"earshot/internal/helper"
)

// media turns one file or stream into frames, or is the codec of a call; see the messages of
// package codec. When the client is slow it waits, and so does its source. It stays until its
// input closes, so that what is still in the pipe is read.
func media(ctx context.Context, s *helper.Server, _ []string) error {
	astiav.SetLogLevel(astiav.LogLevelQuiet) // FFmpeg's log has titles and addresses in it
	ctx, stop := context.WithCancel(ctx)
	var working sync.WaitGroup
	var fault error // of a call
	asked := false
	err := s.Controls(func(c helper.Control) error {
		if asked {
			return fmt.Errorf("%w: %q at this point", helper.ErrProtocol, c.Name)
		}
		asked = true
		switch c.Name {
		case codec.MsgOpen:
			var r codec.Request
			if err := c.Decode(&r); err != nil {
				return err
			}
			working.Go(func() { performMedia(ctx, s, r) })
		case codec.MsgCall:
			working.Go(func() { fault = performCall(s) })
		default:
			return fmt.Errorf("%w: %q is not known", helper.ErrProtocol, c.Name)
		}
		return nil
	})
	stop()
	working.Wait()
	if fault != nil && errors.Is(err, io.EOF) { // the reason for the end of control
		return fault
	}
	return err
}

// performMedia plays a source and reports how it ended. Nobody waits for messages that cannot be
// sent.
func performMedia(ctx context.Context, s *helper.Server, r codec.Request) {
	out, err := newFramer(r.Longest, func(b []byte) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return s.SendSound(0, b)
	})
	var damaged int64
	if err == nil {
		damaged, err = playMedia(ctx, s, r, out)
	}
	if ctx.Err() != nil {
		return
	}
	end := codec.Ended{Damaged: damaged}
	if out != nil {
		end.Frames = out.sent
	}
	if t := (*sourceError)(nil); errors.As(err, &t) {
		end.Problem, end.Detail = t.problem, t.detail
	} else if err != nil {
		end.Problem, end.Detail = codec.Broken, err.Error()
	}
	s.Send(codec.MsgEnded, end)
}

// playMedia opens a source and passes all of its sound to out. It returns how many of its packets
// were damaged.
func playMedia(ctx context.Context, s *helper.Server, r codec.Request, out *framer) (int64, error) {
	done := s.Guard(3 * r.Patient) // a name server cannot be interrupted
	src, err := openMedia(ctx, r)
	done()
	if err != nil {
		return 0, err
	}
	defer src.close()
	if err := s.Send(codec.MsgOpened, src.info); err != nil {
		return 0, err
	}
	err = src.play(out)
	if err == nil {
		err = out.finish()
	}
	if err == nil && out.sent == 0 {
		err = src.nothing()
	}
	return src.damaged, err
}

// A sourceError says what is wrong with a source.
type sourceError struct {
	problem codec.Problem
	detail  string
}

func (t *sourceError) Error() string { return string(t.problem) + ": " + t.detail }

// checkMedia reports which of the usual codecs are present.
func checkMedia([]string) helper.RoleCheck {
	usual := []astiav.CodecID{
		astiav.CodecIDAac, astiav.CodecIDFlac, astiav.CodecIDMp3, astiav.CodecIDOpus,
		astiav.CodecIDPcmS16Le, astiav.CodecIDVorbis,
	}
	f := helper.RoleCheck{Works: true, Text: "FFmpeg reads"}
	for _, id := range usual {
		if astiav.FindDecoder(id) == nil {
			return helper.RoleCheck{Text: "this FFmpeg does not read " + id.Name(), Cure: "apt-get install libavcodec59"}
		}
		f.Text += " " + id.Name()
	}
	if newCall(nil) == nil {
		f.Text += "; it cannot code calls, since it has no libopus"
	}
	return f
}
