package slash_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/slash"
	"earshot/participants"
)

// TestIdentity: anybody is told who they are; only who has a terminal here, and may enter, becomes
// somebody else, once.
func TestIdentity(t *testing.T) {
	closed := errors.New("the door is closed")
	for _, tt := range []struct {
		name, args  string
		at          string // the terminal
		enters      error
		says, fails string
		becomes     bool
	}{
		{name: "who am I", says: "You are ann, known by console:ann. You are an operator"},
		{name: "without a terminal", args: "user", fails: "at your own terminal"},
		{name: "already", args: "ann", at: "screen", says: "You are already ann."},
		{name: "somebody else", args: "user", at: "screen", says: "You are now user.", becomes: true},
		{name: "a closed door", args: "user", at: "screen", enters: closed, fails: closed.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			account, became := earshot.Handle{Provider: "console", ID: "ann"}, false
			people := participants.New(account, "ann", "Earshot")
			by := people.Resolve(account)
			people.Attach(participants.Session{ID: "1", Account: account, Participant: by.ID, Outlet: "screen"})
			c := slash.New(slash.Host{
				People: people, Enters: func(participants.Participant) error { return tt.enters },
				Become: func(context.Context, command.Call, participants.Session, participants.Participant) error {
					became = true
					return nil
				},
			})
			said, err := c.Table().Do(t.Context(), earshot.Command{Name: "identity", Args: earshot.Text(tt.args)},
				command.Call{By: by, Event: earshot.Event{From: account, Via: tt.at}})
			if err == nil && tt.fails != "" || err != nil && (tt.fails == "" || !strings.Contains(err.Error(), tt.fails)) {
				t.Errorf("error %v, want %q", err, tt.fails)
			}
			if !strings.HasPrefix(said, tt.says) || became != tt.becomes {
				t.Errorf("says %q, became somebody %v", said, became)
			}
		})
	}
}
