package paths_test

import (
	"errors"
	"testing"

	"earshot"
	"earshot/participants/paths"
)

// must returns what a builder makes.
func must(t testing.TB) func(earshot.Path, error) earshot.Path {
	return func(p earshot.Path, err error) earshot.Path {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// TestEveryKind has seed 004's patterns and its examples.
func TestEveryKind(t *testing.T) {
	m := must(t)
	telegram := m(paths.OfConnector("u_abc123", "telegram"))
	claude := m(paths.OfAgent("u_abc123", "claude"))
	sub := m(paths.OfSub(telegram, 0))
	for _, tt := range []struct {
		path  earshot.Path
		want  earshot.Path
		is    paths.Address
		role  paths.Role
		label string
	}{
		{telegram, "/u_abc123/telegram", paths.Address{Kind: paths.Connector, User: "u_abc123", Name: "telegram"}, "user", "telegram of u_abc123"},
		{m(paths.OfConnector("u_grp456", "telegram")), "/u_grp456/telegram", paths.Address{Kind: paths.Connector, User: "u_grp456", Name: "telegram"}, "user", "telegram of u_grp456"},
		{claude, "/u_abc123/agent/claude", paths.Address{Kind: paths.Agent, User: "u_abc123", Name: "claude"}, "user", "claude"},
		{m(paths.OfCron("u_abc123", "daily-sync")), "/u_abc123/cron/daily-sync", paths.Address{Kind: paths.Cron, User: "u_abc123", Name: "daily-sync"}, "", "cron daily-sync of u_abc123"},
		{m(paths.OfTask("u_abc123", "xyz789")), "/u_abc123/task/xyz789", paths.Address{Kind: paths.Task, User: "u_abc123", Name: "xyz789"}, "task", "task xyz789 of u_abc123"},
		{m(paths.OfSubuser("u_abc123", "sub456")), "/u_abc123/subuser/sub456", paths.Address{Kind: paths.Subuser, User: "u_abc123", Name: "sub456"}, "user", "subuser sub456 of u_abc123"},
		{m(paths.OfSystem("gc")), "/system/gc", paths.Address{Kind: paths.System, Name: "gc"}, "", "system gc"},
		{sub, "/u_abc123/telegram/sub/0", paths.Address{Kind: paths.Sub, User: "u_abc123", Parent: telegram}, "subagent", "telegram of u_abc123's helper 0"},
		{m(paths.OfMemory(sub)), "/u_abc123/telegram/sub/0/memory", paths.Address{Kind: paths.Memory, User: "u_abc123", Parent: sub}, "memory", "telegram of u_abc123's helper 0's memory"},
		{m(paths.OfSearch(sub, 0)), "/u_abc123/telegram/sub/0/search/0", paths.Address{Kind: paths.Search, User: "u_abc123", Parent: sub}, "memory_search", "telegram of u_abc123's helper 0's search 0"},
		{m(paths.OfSub(m(paths.OfSub(claude, 1)), 12)), "/u_abc123/agent/claude/sub/1/sub/12", paths.Address{Kind: paths.Sub, User: "u_abc123", Parent: claude + "/sub/1", Index: 12}, "subagent", "claude's helper 1's helper 12"},
		{m(paths.OfMemory("/system/gc")), "/system/gc/memory", paths.Address{Kind: paths.Memory, Parent: "/system/gc"}, "memory", "system gc's memory"},
		{m(paths.OfAgent("Ann", "Κώδιξ")), "/ann/agent/κώδιξ", paths.Address{Kind: paths.Agent, User: "ann", Name: "κώδιξ"}, "user", "κώδιξ"},
	} {
		t.Run(string(tt.want), func(t *testing.T) {
			if tt.path != tt.want {
				t.Errorf("built %s", tt.path)
			}
			got, err := paths.Parse(tt.path)
			if err != nil || got != tt.is {
				t.Errorf("parsed %+v, %v; want %+v", got, err, tt.is)
			}
			if paths.Parent(tt.path) != tt.is.Parent || paths.User(tt.path) != tt.is.User {
				t.Errorf("parent %q of user %q", paths.Parent(tt.path), paths.User(tt.path))
			}
			if got := tt.is.Kind.Role(); got != tt.role {
				t.Errorf("the role is %q, want %q", got, tt.role)
			}
			if got := paths.Label(tt.path, ""); got != tt.label {
				t.Errorf("called %q, want %q", got, tt.label)
			}
		})
	}
}

func TestWhatIsNoPath(t *testing.T) {
	for _, bad := range []earshot.Path{"", "/", "//", "owner/agent/x", "/owner", "/owner/agent", "/owner/agent/", "/agent/x", "/system", "/system/", "/system/agent",
		"/owner/agent/x/", "/owner//x", "/Owner/agent/x", "/owner/agent/x/y", "/owner/agent/x/sub", "/owner/agent/x/sub/", "/owner/agent/x/sub/00", "/owner/agent/x/sub/-1", "/owner/agent/x/sub/1e3",
		"/owner/memory", "/owner/sub/0", "/owner/search/0", "/memory/agent/x", "/owner/agent/memory", "/owner/console/cron/x"} {
		if a, err := paths.Parse(bad); !errors.Is(err, paths.ErrPath) {
			t.Errorf("%q is %+v, %v", bad, a, err)
		}
	}
}
