// Package sdnotify tells a service manager how the program stands, by the protocol of
// sd_notify(3): a datagram of lines NAME=VALUE to the unix socket that is named in
// NOTIFY_SOCKET. Where nobody asked for it there is no socket, and all methods do
// nothing.
//
// A manager that does not read loses what it is told: nothing here waits for longer
// than [patience], and no error of it is worth ending for. What is said is of the
// program alone, never of what people say.
package sdnotify

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// patience is how long a manager may take for one datagram. One that is well takes
// it at once.
const patience = time.Second

// A Notifier tells one manager. The zero value tells nobody. Its methods may be called
// from many goroutines.
type Notifier struct {
	socket   string
	watchdog time.Duration
}

// FromEnvironment returns who is to be told, as getenv says, such as [os.Getenv].
func FromEnvironment(getenv func(string) string) Notifier {
	n := Notifier{socket: getenv("NOTIFY_SOCKET")}
	if !strings.HasPrefix(n.socket, "/") && !strings.HasPrefix(n.socket, "@") {
		return Notifier{} // of a kind that is not spoken here, such as vsock
	}
	if pid := getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return n // meant for another process, from which this one has the variable
	}
	if usec, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64); err == nil && usec > 0 && usec < int64(24*time.Hour/time.Microsecond) {
		n.watchdog = time.Duration(usec) * time.Microsecond
	}
	return n
}

// Asked reports whether there is somebody to tell.
func (n Notifier) Asked() bool { return n.socket != "" }

// Watchdog is within which time the manager wants to hear [Notifier.Beat] again, before
// it ends the program and starts another; 0 if it does not look.
func (n Notifier) Watchdog() time.Duration { return n.watchdog }

// Ready says that the program has come up, or has done with a reload.
func (n Notifier) Ready() error { return n.tell("READY=1") }

// Reloading says that the configuration is being read anew. [Notifier.Ready] ends it.
func (n Notifier) Reloading() error {
	return n.tell("RELOADING=1", fmt.Sprintf("MONOTONIC_USEC=%d", monotonic()/time.Microsecond))
}

// Stopping says that the program is ending.
func (n Notifier) Stopping() error { return n.tell("STOPPING=1") }

// Beat says that the program is well.
func (n Notifier) Beat() error { return n.tell("WATCHDOG=1") }

// Status says in one line how it stands, for people. What would begin another line is
// left out.
func (n Notifier) Status(text string) error {
	return n.tell("STATUS=" + strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, text))
}

// tell sends lines in one datagram.
func (n Notifier) tell(lines ...string) error {
	if n.socket == "" {
		return nil
	}
	// An address that begins with @ is abstract, for Go as for systemd.
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("telling the service manager: %w", err)
	}
	defer conn.Close()
	_ = conn.SetWriteDeadline(time.Now().Add(patience))
	if _, err := conn.Write([]byte(strings.Join(lines, "\n") + "\n")); err != nil {
		return fmt.Errorf("telling the service manager: %w", err)
	}
	return nil
}
