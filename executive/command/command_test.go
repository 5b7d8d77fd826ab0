package command_test

import (
	"context"
	"strings"
	"testing"

	"earshot"
	"earshot/executive/command"
	"earshot/participants"
)

func TestTable(t *testing.T) {
	table := command.Table{
		{Group: "For all", Name: "why", Args: "[N]", Help: "why I spoke", Do: func(_ context.Context, c command.Call) (string, error) { return "because " + string(c.Args), nil }},
		{Group: "For all", Name: "help", Help: "this list", Do: func(context.Context, command.Call) (string, error) { return "help yourself", nil }},
	}
	for _, tt := range []struct{ name, args, want string }{
		{"why", "not", "because not"},
		{"HELP", "", "help yourself"},
		{"hepl", "", "error: there is no /hepl; did you mean /help?"},
		{"dance", "", "error: there is no /dance; /help lists the commands; to begin a line with a slash, write //"},
		{"", "", "error: there is no /; /help lists the commands; to begin a line with a slash, write //"},
		{strings.Repeat("x", 9999), "", "error: there is no /" + strings.Repeat("x", 24) + "…; /help lists the commands; to begin a line with a slash, write //"},
	} {
		t.Run(tt.name[:min(len(tt.name), 9)], func(t *testing.T) {
			got, err := table.Do(t.Context(), earshot.Command{Name: tt.name, Args: earshot.Text(tt.args)}, command.Call{})
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != tt.want {
				t.Errorf("answered %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCapabilities(t *testing.T) {
	done := func(context.Context, command.Call) (string, error) { return "done", nil }
	table := command.Table{
		{Group: "For all", Name: "help", Help: "this list", Do: done},
		{Group: "For all", Name: "note", Args: "TEXT", Help: "keep in mind", Needs: participants.SendMessages, Do: done},
		{Group: "For operators", Name: "merge", Help: "two are one", Needs: participants.Operate, Do: done},
	}
	ann := participants.Participant{ID: "ann", Capabilities: []participants.Capability{participants.SendMessages, participants.Operate}}
	bob := participants.Participant{ID: "bob", Capabilities: []participants.Capability{participants.SendMessages}}
	for _, tt := range []struct {
		by         participants.Participant
		name, want string
	}{
		{ann, "merge", "done"},
		{bob, "merge", "/merge is for operators of this earshot; ask one, or if you are one: /identity NAME"},
		{bob, "note", "done"},
		{participants.Participant{}, "note", "/note is only for people I know"},
		{participants.Participant{ID: "eve"}, "note", "/note needs the capability send_messages, which is set in the configuration"},
		{participants.Participant{}, "help", "done"},
		{ann, "mergr", "there is no /mergr; did you mean /merge?"},
		{bob, "mergr", "there is no /mergr; /help lists the commands; to begin a line with a slash, write //"},
	} {
		got, err := table.Do(t.Context(), earshot.Command{Name: tt.name}, command.Call{By: tt.by})
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s gives /%s: %q, want %q", tt.by.ID, tt.name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		by   participants.Participant
		want string
	}{
		{ann, "For all\n  /help                    this list\n  /note TEXT               keep in mind\nFor operators\n  /merge                   two are one"},
		{bob, "For all\n  /help                    this list\n  /note TEXT               keep in mind"},
		{participants.Participant{}, "For all\n  /help                    this list"},
	} {
		if got := table.Help(tt.by); got != tt.want {
			t.Errorf("help for %s is\n%s\nwant\n%s", tt.by.ID, got, tt.want)
		}
	}
}

// TestNames: who completes a command is offered those that they may give.
func TestNames(t *testing.T) {
	table := command.Table{
		{Name: "who"}, {Name: "note", Needs: participants.SendMessages}, {Name: "rename", Needs: participants.Operate},
	}
	for _, tt := range []struct {
		who  participants.Participant
		want string
	}{
		{participants.Participant{}, "who"},
		{participants.Participant{ID: "ann", Capabilities: []participants.Capability{participants.SendMessages}}, "who note"},
		{participants.Participant{ID: "own", Capabilities: []participants.Capability{participants.SendMessages, participants.Operate}}, "who note rename"},
	} {
		if got := strings.Join(table.Names(tt.who), " "); got != tt.want {
			t.Errorf("%q is offered %q, want %q", tt.who.ID, got, tt.want)
		}
	}
}
