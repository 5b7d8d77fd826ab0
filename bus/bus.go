// Package bus passes messages between the machines of one earshot: a hub and its satellites, or
// several daemons. A message is published under a subject, which is words separated by dots. It reaches
// every subscriber whose pattern matches the subject. In a pattern, * stands for one word, and > at the
// end for one or more.
//
// A message is delivered at most once, and those of one publisher under subjects of the same lane in
// order. Nothing is stored: when a connection goes away, messages are lost, and some may still come
// after later ones; between the servers of a cluster that happens without the members being told.
// Subjects whose last word is "sound" have a lane of their own, so that a control message never waits
// behind sound, but where both pass from one server of a cluster to another. Whoever subscribes to a
// pattern that ends in a wildcard gets sound in the lane of control, in which it may hold up the rest. When
// a subscriber is slow, up to [MaxPending] bytes wait for it; what comes then is dropped and counted. Whoever
// needs to know what is missing numbers the messages.
//
// [Local] is a bus within one process. Package [earshot/bus/nats] is one over a network. [earshot/bus/bustest] tests any.
package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

const (
	// MaxData is how many bytes a message may have: a control message of a helper fits.
	MaxData = 512 << 10

	// MaxPending is how many bytes may wait for a subscriber.
	MaxPending = 4 << 20
)

var (
	// ErrClosed is the error of a bus that is closed.
	ErrClosed = errors.New("the bus is closed")

	// ErrNobody is the error of a request to which nobody is subscribed.
	ErrNobody = errors.New("nobody answers there")

	// ErrRefused is the error of a subject that the bus does not allow this member.
	ErrRefused = errors.New("the bus refuses it")

	// ErrFull is the error of a message that finds no room, because the connection is slow or away.
	ErrFull = errors.New("the bus takes nothing at present")
)

// A Bus passes messages. Its methods may be called from many goroutines.
type Bus interface {
	// Publish sends data, which may be reused when it returns. It does not wait.
	Publish(subject string, data []byte) error

	// Subscribe calls take with each message whose subject matches, one at a time, until ctx ends or
	// stop is called, which must be done in any case, and not from take. After stop has returned, take
	// is not running and not called again.
	Subscribe(ctx context.Context, pattern string, take func(Message)) (stop func(), err error)

	// Request publishes data and returns the first answer. It waits until ctx ends.
	Request(ctx context.Context, subject string, data []byte) ([]byte, error)

	// Connected reports whether messages get through at present, and returns a channel that is closed
	// when that changes.
	Connected() (bool, <-chan struct{})
}

// A Message is what was published.
type Message struct {
	Subject string
	Data    []byte // valid until the subscriber's function returns

	// Respond answers a request. It is nil if none was made.
	Respond func(data []byte) error
}

// IsSound reports whether a subject belongs to the lane of sound.
func IsSound(subject string) bool { return strings.HasSuffix(subject, ".sound") }

// CheckSubject says what is wrong with a subject, or with a pattern if wildcards are allowed.
func CheckSubject(subject string, wildcards bool) error {
	if len(subject) > 256 {
		return errors.New("the subject is longer than 256 bytes")
	}
	words := strings.Split(subject, ".")
	for i, w := range words {
		wild := w == "*" || w == ">" && i == len(words)-1
		if w == "" || strings.ContainsAny(w, " \t\r\n") || strings.ContainsAny(w, "*>") && !(wildcards && wild) {
			return errors.New("the subject has a word that is empty or has a space or a wildcard in it")
		}
	}
	return nil
}

// CheckMessage says what is wrong with a message that is to be published.
func CheckMessage(subject string, data []byte) error {
	if err := CheckSubject(subject, false); err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	if len(data) > MaxData {
		return fmt.Errorf("publishing %d bytes; at most %d", len(data), MaxData)
	}
	return nil
}

// Matches reports whether a subject matches a pattern.
func Matches(pattern, subject string) bool {
	for {
		p, morePattern, pOn := strings.Cut(pattern, ".")
		s, moreSubject, sOn := strings.Cut(subject, ".")
		switch {
		case p == ">" && !pOn:
			return true
		case p != "*" && p != s:
			return false
		case !pOn || !sOn:
			return pOn == sOn
		}
		pattern, subject = morePattern, moreSubject
	}
}
