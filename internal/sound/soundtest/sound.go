package soundtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"

	"earshot/internal/audio"
)

// format is the format of pacat and parec: raw sound, as in package audio.
var format = []string{"--raw", "--rate=16000", "--channels=1", "--format=s16le"}

// whole is how much sound the server takes at once, in milliseconds: everything that is said in
// most tests. So nothing stutters, however late the player or the server is; the sound still comes
// in its own time. The player waits at most half a minute until the server has played everything.
const whole = "20000"

// Play plays pcm into the virtual microphone, and returns when it was played or ctx has ended. It
// arrives in one piece, unless the machine stands still for longer than others wait.
func (s *Server) Play(ctx context.Context, pcm []int16) error {
	file, err := s.keep(pcm)
	if err != nil {
		return err
	}
	defer os.Remove(file)
	cmd := exec.CommandContext(ctx, "pacat", append(format, "--playback", "--latency-msec="+whole, "--device="+Microphone, file)...)
	cmd.Env = append(os.Environ(), s.Env()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("playing into the microphone: %w: %s", err, out)
	}
	return nil
}

// keep writes pcm to a file: from a pipe that has ended, the player reads without end, and takes
// most of a core.
func (s *Server) keep(pcm []int16) (string, error) {
	f, err := os.CreateTemp(s.dir, "said")
	if err != nil {
		return "", err
	}
	_, err = f.Write(audio.AppendPCM(nil, pcm))
	return f.Name(), errors.Join(err, f.Close())
}

// A Recording is what comes out of the virtual loudspeaker, from its beginning on.
type Recording struct {
	cmd  *exec.Cmd
	done sync.WaitGroup

	mu  sync.Mutex
	pcm []int16
}

// Record begins a recording; the caller stops it. It returns when the first samples, perhaps of
// silence, have arrived, or ctx has ended.
func (s *Server) Record(ctx context.Context) (*Recording, error) {
	cmd := exec.Command("parec", append(format, "--latency-msec=10", "--device="+Echo)...)
	cmd.Env = append(os.Environ(), s.Env()...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	r := &Recording{cmd: cmd}
	first := make(chan struct{})
	r.done.Go(func() { r.read(out, sync.OnceFunc(func() { close(first) })) })
	select {
	case <-first:
		return r, nil
	case <-ctx.Done():
		r.Stop()
		return nil, ctx.Err()
	}
}

// read keeps what arrives, and calls some at the first samples, or at the end.
func (r *Recording) read(out io.Reader, some func()) {
	defer some()
	buf := make([]byte, 640)
	pcm := make([]int16, len(buf)/2)
	for {
		n, err := io.ReadFull(out, buf)
		n = audio.DecodePCM(pcm, buf[:n])
		r.mu.Lock()
		r.pcm = append(r.pcm, pcm[:n]...)
		r.mu.Unlock()
		if err != nil {
			return
		}
		some()
	}
}

// Pid returns the ID of the recording process.
func (r *Recording) Pid() int { return r.cmd.Process.Pid }

// Len returns how many samples there are.
func (r *Recording) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.pcm)
}

// PCM returns the samples from number from on. They must not be changed.
func (r *Recording) PCM(from int) []int16 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pcm[min(from, len(r.pcm)):len(r.pcm):len(r.pcm)]
}

// Stop ends the recording and returns it.
func (r *Recording) Stop() []int16 {
	r.cmd.Process.Kill()
	r.done.Wait()
	r.cmd.Wait()
	return r.PCM(0)
}
