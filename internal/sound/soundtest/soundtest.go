// Package soundtest is a sound card for tests: a private PulseAudio server with
// a virtual microphone and a virtual loudspeaker, reached by environment
// variables only, so that nothing of the machine's own sound is touched. It
// needs the programs pulseaudio, pactl, pacat and parec.
//
// What happens when a reader is slow: a recording keeps every sample from its beginning to its
// end, as a test needs it; two minutes are four megabytes.
package soundtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The names of the devices. What is played into Microphone is captured from
// its monitor, which is the default source.
const (
	Microphone = "virtmic"
	Speaker    = "virtspk"
	Source     = Microphone + ".monitor"
	Echo       = Speaker + ".monitor" // what an assistant must never listen to
)

// module is how a virtual device is loaded: at the rate of package audio, so that nothing is
// resampled and sound can be compared sample by sample. Without norewinds the first two seconds
// are missing.
const module = "module-null-sink sink_name=%s norewinds=1 rate=16000 channels=1 sink_properties=device.description=%s"

// A Server is a private PulseAudio server. Its methods may be called from many goroutines.
type Server struct {
	dir string

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{} // closed when cmd has
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// New starts a server and waits until it answers, or ctx ends. The caller closes it.
func New(ctx context.Context) (*Server, error) {
	dir, err := os.MkdirTemp("", "pulse") // short: the path of a socket has 108 bytes at most
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	if err = s.write(); err == nil {
		err = s.Restart(ctx)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("starting a private pulseaudio: %w", err)
	}
	return s, nil
}

// write writes the configuration of the server and its clients. Clients must not use shared
// memory: those that do hang for ever when the server dies.
func (s *Server) write() error {
	script := "load-module module-native-protocol-unix auth-anonymous=1 socket=" + s.socket() + "\n"
	for _, name := range []string{Microphone, Speaker} {
		script += "load-module " + fmt.Sprintf(module, name, name) + "\n"
	}
	// A desktop's server suspends unused devices; after five seconds there, here sooner.
	script += "load-module module-suspend-on-idle timeout=1\n"
	script += "set-default-source " + Source + "\nset-default-sink " + Speaker + "\n"
	const pcm = "pcm.%[1]s {\n type pulse\n hint {\n show on\n description \"PulseAudio\"\n }\n}\nctl.%[1]s {\n type pulse\n}\n"
	return errors.Join(
		s.put("server.pa", script),
		s.put("client.conf", "autospawn = no\nenable-shm = no\nenable-memfd = no\n"),
		s.put("alsa.conf", fmt.Sprintf(pcm, "!default")+fmt.Sprintf(pcm, "pulse")),
	)
}

// Unplug makes ALSA lead programs that are started from now on to a card that is not the server's,
// as on systems without its plug-in.
func (s *Server) Unplug() error {
	return s.put("alsa.conf", "pcm.!default {\n type null\n hint {\n show on\n description \"other card\"\n }\n}\n")
}

func (s *Server) put(name, text string) error {
	return os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600)
}

func (s *Server) socket() string { return filepath.Join(s.dir, "native") }

// Env returns the environment that a program needs to use this server, and no other sound.
func (s *Server) Env() []string {
	return []string{
		"PULSE_SERVER=unix:" + s.socket(),
		"PULSE_RUNTIME_PATH=" + s.dir,
		"PULSE_STATE_PATH=" + s.dir,
		"PULSE_CONFIG_PATH=" + s.dir,
		"PULSE_COOKIE=" + filepath.Join(s.dir, "cookie"),
		"PULSE_CLIENTCONFIG=" + filepath.Join(s.dir, "client.conf"),
		"ALSA_CONFIG_PATH=" + filepath.Join(s.dir, "alsa.conf"),
		"HOME=" + s.dir,
		"XDG_RUNTIME_DIR=" + s.dir,
		"DBUS_SESSION_BUS_ADDRESS=disabled:",
	}
}

// Restart starts the server again with its first devices, and waits until it
// answers, or ctx ends.
func (s *Server) Restart(ctx context.Context) error {
	s.Kill()
	// An orphan of a killed test ends by itself.
	cmd := exec.Command("pulseaudio", "-n", "-F", filepath.Join(s.dir, "server.pa"),
		"--daemonize=no", "--exit-idle-time=300", "--use-pid-file=no", "--realtime=no", "--high-priority=no",
		"--log-target=file:"+filepath.Join(s.dir, "server.log"))
	cmd.Env = append(os.Environ(), s.Env()...)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }() // Kill waits for it
	s.mu.Lock()
	s.cmd, s.ended = cmd, ended
	s.mu.Unlock()
	return s.await(ctx, ended)
}

// await waits until the server answers.
func (s *Server) await(ctx context.Context, ended <-chan struct{}) error {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		if _, err := s.pactl("info"); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
			log, _ := os.ReadFile(filepath.Join(s.dir, "server.log"))
			return fmt.Errorf("it ended: %s", log)
		case <-look.C:
		}
	}
}

// Kill kills the server, frozen or not, and waits until it is gone.
func (s *Server) Kill() {
	s.mu.Lock()
	cmd, ended := s.cmd, s.ended
	s.cmd = nil
	s.mu.Unlock()
	if cmd == nil {
		return
	}
	cmd.Process.Kill()
	<-ended
}

// Close ends the server and removes what it left.
func (s *Server) Close() {
	s.Kill()
	os.RemoveAll(s.dir)
}

// Freeze makes the server hang; Thaw ends that.
func (s *Server) Freeze() error { return s.signal(syscall.SIGSTOP) }

// Thaw lets a frozen server go on.
func (s *Server) Thaw() error { return s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return os.ErrProcessDone
	}
	return s.cmd.Process.Signal(sig)
}

// Load adds the virtual device name, a sink with its monitor.
func (s *Server) Load(name string) error {
	_, err := s.pactl(append([]string{"load-module"}, strings.Fields(fmt.Sprintf(module, name, name))...)...)
	return err
}

// AddSource adds a silent microphone, which is not the monitor of a loudspeaker.
func (s *Server) AddSource(name string) error {
	_, err := s.pactl("load-module", "module-null-source", "source_name="+name, "rate=16000", "channels=1")
	return err
}

// Unload removes the virtual device name, like pulling its plug. The server moves the streams on
// it, or ends those that it cannot move.
func (s *Server) Unload(name string) error {
	modules, err := s.pactl("list", "short", "modules")
	if err != nil {
		return err
	}
	for line := range strings.Lines(modules) {
		if f := strings.Fields(line); strings.Contains(line, "_name="+name+" ") {
			_, err := s.pactl("unload-module", f[0])
			return err
		}
	}
	return fmt.Errorf("no device %s", name)
}

// Default makes Microphone and Speaker the defaults again, which they do not become by themselves
// after they were gone.
func (s *Server) Default() error {
	_, err := s.pactl("set-default-source", Source)
	_, err2 := s.pactl("set-default-sink", Speaker)
	return errors.Join(err, err2)
}

// Leak lets the microphone hear the loudspeaker, as in a room, at a percentage of PulseAudio's
// volume: 60 is 13 dB softer. It replaces the loudspeaker by one whose sound goes the same way as
// the microphone's own: a loopback becomes ever later when the machine is busy, as no echo does.
func (s *Server) Leak(percent int) error {
	err := s.Unload(Speaker)
	if err != nil {
		return err
	}
	if _, err = s.pactl("load-module", "module-remap-sink", "sink_name="+Speaker, "master="+Microphone, "rate=16000", "channels=1", "sink_properties=device.description="+Speaker); err != nil {
		return err
	}
	return errors.Join(s.soften("module-remap-sink", percent), s.Default())
}

// LeakCancelled does the same, and has the server itself remove the echo again, as many desktops
// do. Users of the default devices get that. It uses a loopback, since a canceller between a
// loudspeaker and a microphone of one thread gives nothing; and it leaves the microphone's volume
// alone, for which a virtual one has no knob: it would turn it down by 27 dB for the first twenty
// seconds.
func (s *Server) LeakCancelled(percent int) error {
	const cancelled = ".echo-cancel"
	_, err := s.pactl("load-module", "module-loopback", "source="+Echo, "sink="+Microphone, "rate=16000", "channels=1", "latency_msec=20")
	if err != nil {
		return err
	}
	if err := s.soften("module-loopback", percent); err != nil {
		return err
	}
	_, err = s.pactl("load-module", "module-echo-cancel", "aec_method=webrtc", "aec_args=analog_gain_control=0", "rate=16000", "channels=1",
		"source_name="+Source+cancelled, "source_master="+Source, "sink_name="+Speaker+cancelled, "sink_master="+Speaker)
	if err != nil {
		return err
	}
	_, err = s.pactl("set-default-source", Source+cancelled)
	_, err2 := s.pactl("set-default-sink", Speaker+cancelled)
	return errors.Join(err, err2)
}

// soften sets the volume of a module, in percent.
func (s *Server) soften(module string, percent int) error {
	all, err := s.pactl("list", "short", "sink-inputs")
	for line := range strings.Lines(all) {
		if f := strings.Fields(line); strings.Contains(line, module) {
			_, e := s.pactl("set-sink-input-volume", f[0], fmt.Sprintf("%d%%", percent))
			err = errors.Join(err, e)
		}
	}
	return err
}

// Suspend suspends a source, or ends that.
func (s *Server) Suspend(source string, on bool) error {
	_, err := s.pactl("suspend-source", source, map[bool]string{true: "1", false: "0"}[on])
	return err
}

// MoveSources moves all captures to a source, as a person does in the mixer, or a server by
// itself.
func (s *Server) MoveSources(source string) error {
	all, err := s.pactl("list", "short", "source-outputs")
	for line := range strings.Lines(all) {
		_, e := s.pactl("move-source-output", strings.Fields(line)[0], source)
		err = errors.Join(err, e)
	}
	return err
}

// Streams returns how many streams are open: captures, and playbacks.
func (s *Server) Streams() (in, out int, err error) {
	ins, err := s.pactl("list", "short", "source-outputs")
	outs, err2 := s.pactl("list", "short", "sink-inputs")
	return strings.Count(ins, "\n"), strings.Count(outs, "\n"), errors.Join(err, err2)
}

// Playing returns how many playbacks run: paused ones do not count.
func (s *Server) Playing() (int, error) {
	all, err := s.pactl("list", "sink-inputs")
	return strings.Count(all, "Corked: no"), err
}

// Sleeping reports whether a sink is suspended.
func (s *Server) Sleeping(sink string) (bool, error) {
	all, err := s.pactl("list", "short", "sinks")
	for line := range strings.Lines(all) {
		if f := strings.Fields(line); len(f) > 1 && f[1] == sink {
			return f[len(f)-1] == "SUSPENDED", nil
		}
	}
	return false, errors.Join(err, fmt.Errorf("no sink %s", sink))
}

// pactl sends a request to the server, for at most two seconds: it may be frozen.
func (s *Server) pactl(args ...string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, "pactl", args...)
	cmd.Env = append(append(os.Environ(), s.Env()...), "LC_ALL=C")
	var said, fault strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &fault
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("pactl %s: %w: %s", args[0], err, strings.TrimSpace(fault.String()))
	}
	return said.String(), nil
}
