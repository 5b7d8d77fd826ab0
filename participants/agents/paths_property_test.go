package agents_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
)

// word draws a word that builders accept.
func word(t *rapid.T) string {
	return rapid.OneOf(
		rapid.StringMatching(`[a-z0-9]([a-z0-9._-]{0,20}[a-z0-9])?`),
		rapid.StringMatching(`[а-я]{1,12}`),
		rapid.SampledFrom([]string{"山田", "zoë", "κώδιξ", "0", "subs", "agents-2"}),
	).Filter(func(s string) bool {
		w, err := participants.CheckWord(s)
		return err == nil && w == s && !agents.ReservedWord(s)
	}).Draw(t, "word")
}

// built draws an address, and builds its path.
func built(t *rapid.T) (agents.Address, earshot.Path) {
	a := agents.Address{User: word(t), Name: word(t)}
	a.Kind = rapid.SampledFrom([]earshot.PathKind{earshot.PathConnector, earshot.PathAgent, earshot.PathCron, earshot.PathTask, earshot.PathSubuser, earshot.PathSystem}).Draw(t, "kind")
	if a.Kind == earshot.PathSystem {
		a.User = ""
	}
	p, err := agents.PathOf(a.User, a.Kind, a.Name)
	for range rapid.IntRange(0, 8).Draw(t, "depth") {
		if err != nil {
			break
		}
		a = agents.Address{User: a.User, Parent: p, Kind: rapid.SampledFrom([]earshot.PathKind{earshot.PathSub, earshot.PathMemory, earshot.PathSearch}).Draw(t, "child")}
		if a.Kind.Indexed() {
			a.Index = rapid.IntRange(0, 999_999_999).Draw(t, "index")
		}
		p, err = agents.ChildPath(p, a.Kind, a.Index)
	}
	if err != nil {
		t.Fatalf("building %+v: %v", a, err)
	}
	return a, p
}

// TestWhatIsBuiltIsRead: parsing a path gives the address it was built from, and two addresses
// never have the same path.
func TestWhatIsBuiltIsRead(t *testing.T) {
	seen := make(map[earshot.Path]agents.Address)
	rapid.Check(t, func(t *rapid.T) {
		a, p := built(t)
		if got, err := agents.ParsePath(p); err != nil || got != a {
			t.Fatalf("%s is read as %+v, %v; want %+v", p, got, err, a)
		}
		if other, is := seen[p]; is && other != a {
			t.Fatalf("%s is %+v and %+v", p, other, a)
		}
		seen[p] = a
		for up := agents.ParentPath(p); up != ""; up = agents.ParentPath(up) {
			above, err := agents.ParsePath(up)
			if err != nil || !agents.Within(p, up) || agents.Within(up, p) || above.User != a.User {
				t.Fatalf("%s is not below %s", p, up)
			}
		}
		if agents.PathLabel(p, "") == "unknown" {
			t.Fatalf("%s has no label", p)
		}
	})
}

// TestCaseAndWidthMakeNoOtherPath: a word gives the same path in any case and width.
func TestCaseAndWidthMakeNoOtherPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		user, name := word(t), word(t)
		want, err := agents.PathOf(user, earshot.PathAgent, name)
		if err != nil {
			t.Fatal(err)
		}
		wide := func(s string) string {
			return strings.Map(func(r rune) rune {
				if r > ' ' && r < 0x7f && rapid.Bool().Draw(t, "wide") {
					return r + 0xfee0
				}
				return r
			}, s)
		}
		if got, err := agents.PathOf(strings.ToUpper(user), earshot.PathAgent, wide(name)); err != nil || got != want {
			t.Fatalf("%s and %s, %v", want, got, err)
		}
	})
}

// TestEverySlugFits: any name becomes a valid word of a path, also with a number after it.
func TestEverySlugFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slug := agents.Slug(rapid.String().Draw(t, "name"))
		for _, s := range []string{slug, slug + "-2", slug + "-99999"} {
			if p, err := agents.PathOf("owner", earshot.PathAgent, s); err != nil || !strings.HasSuffix(string(p), "/"+s) {
				t.Fatalf("%q: %q, %v", s, p, err)
			}
		}
	})
}

// FuzzParsePath: any string that ParsePath accepts is exactly what a builder makes.
func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"", "/owner/agent/coder", "/owner/agent/coder/sub/0/memory", "/system/gc/search/12", "/u/telegram", "//", "/a/agent/b/sub/00", "/\u202e/x", "/mem0ry/x", "/owner/agent/κώδιξ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := earshot.Path(s)
		a, err := agents.ParsePath(p)
		if err != nil {
			if a != (agents.Address{}) {
				t.Fatalf("%q is refused and read as %+v", p, a)
			}
			return
		}
		again, err := rebuild(a)
		if err != nil || again != p {
			t.Fatalf("%q is built again as %q, %v", p, again, err)
		}
		if len(p) > 512 || strings.Contains(s, "//") || strings.ContainsAny(s, " \\\x00\n") || strings.HasSuffix(s, "/") {
			t.Fatalf("%q is taken", p)
		}
	})
}

// rebuild returns the path of an address.
func rebuild(a agents.Address) (earshot.Path, error) {
	if a.Kind.Below() {
		return agents.ChildPath(a.Parent, a.Kind, a.Index)
	}
	return agents.PathOf(a.User, a.Kind, a.Name)
}
