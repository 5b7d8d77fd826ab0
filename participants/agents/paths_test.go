package agents_test

import (
	"errors"
	"strings"
	"testing"

	"earshot"
	"earshot/participants/agents"
)

// must returns the path that a builder makes, or fails the test.
func must(t testing.TB) func(earshot.Path, error) earshot.Path {
	return func(p earshot.Path, err error) earshot.Path {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// TestEveryKind has an example of each pattern in the package comment.
func TestEveryKind(t *testing.T) {
	m := must(t)
	telegram := m(agents.PathOf("u_abc123", earshot.PathConnector, "telegram"))
	claude := m(agents.PathOf("u_abc123", earshot.PathAgent, "claude"))
	sub := m(agents.ChildPath(telegram, earshot.PathSub, 0))
	for _, tt := range []struct {
		path  earshot.Path
		want  earshot.Path
		is    agents.Address
		role  earshot.Role
		label string
	}{
		{telegram, "/u_abc123/telegram", agents.Address{Kind: earshot.PathConnector, User: "u_abc123", Name: "telegram"}, "user", "telegram of u_abc123"},
		{m(agents.PathOf("u_grp456", earshot.PathConnector, "telegram")), "/u_grp456/telegram", agents.Address{Kind: earshot.PathConnector, User: "u_grp456", Name: "telegram"}, "user", "telegram of u_grp456"},
		{claude, "/u_abc123/agent/claude", agents.Address{Kind: earshot.PathAgent, User: "u_abc123", Name: "claude"}, "user", "claude"},
		{m(agents.PathOf("u_abc123", earshot.PathCron, "daily-sync")), "/u_abc123/cron/daily-sync", agents.Address{Kind: earshot.PathCron, User: "u_abc123", Name: "daily-sync"}, "", "cron daily-sync of u_abc123"},
		{m(agents.PathOf("u_abc123", earshot.PathTask, "xyz789")), "/u_abc123/task/xyz789", agents.Address{Kind: earshot.PathTask, User: "u_abc123", Name: "xyz789"}, "task", "task xyz789 of u_abc123"},
		{m(agents.PathOf("u_abc123", earshot.PathSubuser, "sub456")), "/u_abc123/subuser/sub456", agents.Address{Kind: earshot.PathSubuser, User: "u_abc123", Name: "sub456"}, "user", "subuser sub456 of u_abc123"},
		{m(agents.PathOf("", earshot.PathSystem, "gc")), "/system/gc", agents.Address{Kind: earshot.PathSystem, Name: "gc"}, "", "system gc"},
		{sub, "/u_abc123/telegram/sub/0", agents.Address{Kind: earshot.PathSub, User: "u_abc123", Parent: telegram}, "subagent", "telegram of u_abc123's helper 0"},
		{m(agents.ChildPath(sub, earshot.PathMemory, 0)), "/u_abc123/telegram/sub/0/memory", agents.Address{Kind: earshot.PathMemory, User: "u_abc123", Parent: sub}, "memory", "telegram of u_abc123's helper 0's memory"},
		{m(agents.ChildPath(sub, earshot.PathSearch, 0)), "/u_abc123/telegram/sub/0/search/0", agents.Address{Kind: earshot.PathSearch, User: "u_abc123", Parent: sub}, "memory_search", "telegram of u_abc123's helper 0's search 0"},
		{m(agents.ChildPath(m(agents.ChildPath(claude, earshot.PathSub, 1)), earshot.PathSub, 12)), "/u_abc123/agent/claude/sub/1/sub/12", agents.Address{Kind: earshot.PathSub, User: "u_abc123", Parent: claude + "/sub/1", Index: 12}, "subagent", "claude's helper 1's helper 12"},
		{m(agents.ChildPath("/system/gc", earshot.PathMemory, 0)), "/system/gc/memory", agents.Address{Kind: earshot.PathMemory, Parent: "/system/gc"}, "memory", "system gc's memory"},
		{m(agents.PathOf("Ann", earshot.PathAgent, "Κώδιξ")), "/ann/agent/κώδιξ", agents.Address{Kind: earshot.PathAgent, User: "ann", Name: "κώδιξ"}, "user", "κώδιξ"},
	} {
		t.Run(string(tt.want), func(t *testing.T) {
			if tt.path != tt.want {
				t.Errorf("built %s", tt.path)
			}
			got, err := agents.ParsePath(tt.path)
			if err != nil || got != tt.is {
				t.Errorf("parsed %+v, %v; want %+v", got, err, tt.is)
			}
			if agents.ParentPath(tt.path) != tt.is.Parent {
				t.Errorf("the parent is %q", agents.ParentPath(tt.path))
			}
			if got := tt.is.Kind.Role(); got != tt.role {
				t.Errorf("the role is %q, want %q", got, tt.role)
			}
			if got := agents.PathLabel(tt.path, ""); got != tt.label {
				t.Errorf("called %q, want %q", got, tt.label)
			}
		})
	}
}

// TestWhatIsNoPath: each path that no builder makes is refused, with what to do.
func TestWhatIsNoPath(t *testing.T) {
	for _, tt := range []struct {
		path earshot.Path
		why  string
	}{
		{"", "does not begin with a slash"},
		{"owner/agent/x", "does not begin with a slash"},
		{"/", "has only one word"},
		{"/owner", "has only one word"},
		{"/system", "has only one word"},
		{"//", "has an empty word"},
		{"//x", "has an empty word"},
		{"/owner/", "has an empty word"},
		{"/system/", "has an empty word"},
		{"/owner//x", "has an empty word"},
		{"/owner/agent", `ends after "agent"`},
		{"/owner/subuser", `ends after "subuser"`},
		{"/owner/agent/", "has an empty word"},
		{"/owner/agent/x/", `has "" where only`},
		{"/owner/agent/x/y", `has "y" where only`},
		{"/owner/console/cron/x", `has "cron" where only`},
		{"/owner/agent/x/agent/y", `has "agent" where only`},
		{"/owner/agent/x/memory/y", `has "y" where only`},
		{"/owner/agent/x/memory/", `has "" where only`},
		{"/owner/agent/x/Sub/0", `has "Sub" where only`},
		{"/owner/agent/x/sub", `ends after "sub"`},
		{"/owner/agent/x/search", `ends after "search"`},
		{"/owner/agent/x/sub/", "for a number"},
		{"/owner/agent/x/sub/y", "for a number"},
		{"/owner/agent/x/sub/00", "for a number"},
		{"/owner/agent/x/sub/01", "for a number"},
		{"/owner/agent/x/sub/+1", "for a number"},
		{"/owner/agent/x/sub/-1", "for a number"},
		{"/owner/agent/x/sub/1e3", "for a number"},
		{"/owner/agent/x/sub/ 1", "for a number"},
		{"/owner/agent/x/sub/١", "for a number"},
		{"/owner/agent/x/sub/1000000000", "for a number"},
		{"/owner/agent/x/sub/18446744073709551616", "for a number"},
		{"/agent/x", "has a special meaning there"},
		{"/memory/agent/x", "has a special meaning there"},
		{"/owner/memory", "has a special meaning there"},
		{"/owner/sub/0", "has a special meaning there"},
		{"/owner/search/0", "has a special meaning there"},
		{"/owner/system", "has a special meaning there"},
		{"/owner/agent/memory", "has a special meaning there"},
		{"/owner/agent/sub/0", "has a special meaning there"},
		{"/system/agent", "has a special meaning there"},
		{"/owner/mem0ry", "looks like a word that does"},
		{"/owner/agent/ѕуѕtem", "more than one script"},
		{"/owner/agent/соdеr", "more than one script"},
		{"/Owner/agent/x", `is written "owner"`},
		{"/owner/agent/CODER", `is written "coder"`},
		{"/owner/agent/ｃｏｄｅｒ", `is written "coder"`},
		{"/owner/agent/straße", `is written "strasse"`},
		{"/owner/agent/zoe\u0308", `is written "zoë"`},
		{"/owner/agent/..", "must begin and end with"},
		{"/owner/agent/.", "must begin and end with"},
		{"/../agent/x", "must begin and end with"},
		{"/owner/agent/-x", "must begin and end with"},
		{"/owner/agent/x ", "is written"},
		{"/owner/agent/a b", `has ' ' in it`},
		{"/owner/agent/a\\b", "cannot be used in an address"},
		{"/owner/agent/a\x00b", `has '\x00' in it`},
		{"/owner/agent/a\nb", "has ' ' in it"},
		{"/owner/agent/a\u200bb", `has '\u200b' in it`},
		{"/owner/agent/a\u202eb", `has '\u202e' in it`},
		{"/owner/agent/\u0308a", "must begin and end with"},
		{"/owner/agent/\xff", "is not text"},
		{"/owner/agent/%2e%2e", "has '%' in it"},
		{"/owner/agent/*", "has '*' in it"},
		{"/owner/agent/😀", "has '😀' in it"},
		{earshot.Path("/owner/agent/" + strings.Repeat("x", 65)), "has 65 bytes"},
		{earshot.Path("/owner/agent/" + strings.Repeat("x", 600)), "has 613 bytes"},
		{earshot.Path("/owner/agent/x" + strings.Repeat("/sub/0", 9)), "is deeper than 8"},
	} {
		a, err := agents.ParsePath(tt.path)
		if !errors.Is(err, agents.ErrPath) || !strings.Contains(err.Error(), tt.why) || a != (agents.Address{}) {
			t.Errorf("%q is %+v, %v; want %s", tt.path, a, err, tt.why)
		}
		if c, ok := err.(interface{ Cure() string }); !ok || c.Cure() == "" {
			t.Errorf("%q: %v does not say what to do", tt.path, err)
		}
		if agents.ParentPath(tt.path) != "" {
			t.Errorf("%q has a parent", tt.path)
		}
	}
}

// TestBuildersRefuse: every builder refuses a bad word in every place.
func TestBuildersRefuse(t *testing.T) {
	long := strings.Repeat("x", 65)
	bad := []string{"", " ", "a/b", "/", "..", "a b", "a\x00", "\xff", "соdеr", "ag\u200bent", long,
		"agent", "cron", "task", "subuser", "system", "sub", "memory", "search", "connector",
		"AGENT", "Mem0ry", "ＳＵＢ", "sub\u200b", "\u200bsub"}
	for _, kind := range []earshot.PathKind{earshot.PathConnector, earshot.PathAgent, earshot.PathCron, earshot.PathTask, earshot.PathSubuser, earshot.PathSystem} {
		for _, word := range bad {
			if p, err := agents.PathOf("ann", kind, word); !errors.Is(err, agents.ErrPath) || p != "" {
				t.Errorf("%s called %q is at %q, %v", kind, word, p, err)
			}
			if p, err := agents.PathOf(word, kind, "x"); kind != earshot.PathSystem && (!errors.Is(err, agents.ErrPath) || p != "") {
				t.Errorf("%s of %q is at %q, %v", kind, word, p, err)
			}
		}
		if p, err := agents.PathOf("ann", kind, strings.Repeat("x", 64)); err != nil || len(p) > 512 {
			t.Errorf("%s with a long name: %q, %v", kind, p, err)
		}
	}
	for _, tt := range []struct {
		parent earshot.Path
		kind   earshot.PathKind
		n      int
	}{
		{"", earshot.PathSub, 0}, {"/owner", earshot.PathMemory, 0}, {"/owner/agent/X", earshot.PathSub, 0}, {"/owner/agent/x/", earshot.PathSub, 0},
		{"/owner/agent/x", earshot.PathSub, -1}, {"/owner/agent/x", earshot.PathSearch, 1_000_000_000}, {"/owner/agent/x", earshot.PathMemory, 1},
		{"/owner/agent/x", earshot.PathAgent, 0}, {"/owner/agent/x", "", 0}, {"/owner/agent/x", "Sub", 0},
		{earshot.Path("/owner/agent/x" + strings.Repeat("/memory", 8)), earshot.PathMemory, 0},
	} {
		if p, err := agents.ChildPath(tt.parent, tt.kind, tt.n); !errors.Is(err, agents.ErrPath) || p != "" {
			t.Errorf("%s %d below %q is at %q, %v", tt.kind, tt.n, tt.parent, p, err)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		path, subtree earshot.Path
		want          bool
	}{
		{"/u1/agent/a", "/u1/agent/a", true},
		{"/u1/agent/a/sub/0", "/u1/agent/a", true},
		{"/u1/agent/a", "/u1", true},
		{"/u10/agent/a", "/u1", false},
		{"/u1/agent/ab", "/u1/agent/a", false},
		{"/u1/agent/a-b", "/u1/agent/a", false},
		{"/u1/agent/a/sub/10", "/u1/agent/a/sub/1", false},
		{"/u1/agent/a", "/u1/agent/a/sub/0", false},
		{"/u1/agent/a", "/u1/", false},
		{"/u1/agent/a", "/", false},
		{"/u1/agent/a", "", false},
		{"", "", false},
	} {
		if got := agents.Within(tt.path, tt.subtree); got != tt.want {
			t.Errorf("%q within %q is %v", tt.path, tt.subtree, got)
		}
	}
}

func TestPathLabel(t *testing.T) {
	for _, tt := range []struct {
		path earshot.Path
		name string
		want string
	}{
		{"/owner/agent/coder", "Coder", "Coder"},
		{"/owner/agent/coder", "", "coder"},
		{"/owner/agent/coder/sub/0", "Coder", "Coder's helper 0"},
		{"/owner/agent/coder/sub/0/memory", "Coder", "Coder's helper 0's memory"},
		{"/owner/agent/coder/search/3", "", "coder's search 3"},
		{"/owner/console", "", "console of owner"},
		{"/owner/console", "The console", "The console"},
		{"/owner/subuser/family", "", "subuser family of owner"},
		{"/nonsense", "Coder", "unknown"},
	} {
		if got := agents.PathLabel(tt.path, tt.name); got != tt.want {
			t.Errorf("%s of %q is called %q, want %q", tt.path, tt.name, got, tt.want)
		}
	}
}

func TestSlug(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"Coder", "coder"}, {"Ann Smith", "ann-smith"}, {"O'Brien", "obrien"}, {"R. Daneel", "r.-daneel"}, {"3CPO", "3cpo"},
		{"Κώδιξ", "κώδιξ"}, {"山田 太郎", "山田-太郎"}, {"Memory", "the-memory"}, {"mem0ry", "the-mem0ry"},
		{"", "nameless"}, {"😀", "nameless"}, {"../..", "nameless"}, {"Аnn", "nameless"}, {strings.Repeat("long ", 20), "long-long-long-long-long-long-long-long-long-lon"},
	} {
		if got := agents.Slug(tt.name); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.name, got, tt.want)
		}
	}
}
