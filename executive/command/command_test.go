package command_test

import (
	"context"
	"strings"
	"testing"

	"earshot"
	"earshot/executive/command"
)

func TestTable(t *testing.T) {
	table := command.Table{
		{Name: "why", Args: "[N]", Help: "why I spoke", Do: func(_ context.Context, c command.Call) (string, error) { return "because " + string(c.Args), nil }},
		{Name: "help", Help: "this list", Do: func(context.Context, command.Call) (string, error) { return "help yourself", nil }},
	}
	for _, tt := range []struct{ name, args, want string }{
		{"why", "not", "because not"},
		{"HELP", "", "help yourself"},
		{"hepl", "", "error: there is no /hepl; did you mean /help?"},
		{"dance", "", "error: there is no /dance; /help lists what there is, and // begins a line with a slash"},
		{"", "", "error: there is no /; /help lists what there is, and // begins a line with a slash"},
		{strings.Repeat("x", 9999), "", "error: there is no /" + strings.Repeat("x", 24) + "…; /help lists what there is, and // begins a line with a slash"},
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
	if got, want := table.Help(), "/why [N]               why I spoke\n/help                  this list"; got != want {
		t.Errorf("help is\n%s\nwant\n%s", got, want)
	}
}
