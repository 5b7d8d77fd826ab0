package paths_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/participants"
	"earshot/participants/paths"
)

// word draws a word that builders accept.
func word(t *rapid.T) string {
	return rapid.OneOf(
		rapid.StringMatching(`[a-z0-9]([a-z0-9._-]{0,20}[a-z0-9])?`),
		rapid.StringMatching(`[а-я]{1,12}`),
		rapid.SampledFrom([]string{"山田", "zoë", "κώδιξ", "0", "subs", "agents-2"}),
	).Filter(func(s string) bool {
		w, err := participants.CheckWord(s)
		return err == nil && w == s && !paths.Reserved(s)
	}).Draw(t, "word")
}

// built draws an address, and builds its path.
func built(t *rapid.T) (paths.Address, earshot.Path) {
	a := paths.Address{User: word(t), Name: word(t)}
	a.Kind = rapid.SampledFrom([]paths.Kind{paths.Connector, paths.Agent, paths.Cron, paths.Task, paths.Subuser, paths.System}).Draw(t, "kind")
	if a.Kind == paths.System {
		a.User = ""
	}
	p, err := paths.Of(a.User, a.Kind, a.Name)
	for range rapid.IntRange(0, 8).Draw(t, "depth") {
		if err != nil {
			break
		}
		a = paths.Address{User: a.User, Parent: p, Kind: rapid.SampledFrom([]paths.Kind{paths.Sub, paths.Memory, paths.Search}).Draw(t, "child")}
		if a.Kind.Indexed() {
			a.Index = rapid.IntRange(0, 999_999_999).Draw(t, "index")
		}
		p, err = paths.Child(p, a.Kind, a.Index)
	}
	if err != nil {
		t.Fatalf("building %+v: %v", a, err)
	}
	return a, p
}

// TestWhatIsBuiltIsRead: parsing a path gives the address it was built from, and two addresses
// never have the same path.
func TestWhatIsBuiltIsRead(t *testing.T) {
	seen := make(map[earshot.Path]paths.Address)
	rapid.Check(t, func(t *rapid.T) {
		a, p := built(t)
		if got, err := paths.Parse(p); err != nil || got != a {
			t.Fatalf("%s is read as %+v, %v; want %+v", p, got, err, a)
		}
		if other, is := seen[p]; is && other != a {
			t.Fatalf("%s is %+v and %+v", p, other, a)
		}
		seen[p] = a
		for up := paths.Parent(p); up != ""; up = paths.Parent(up) {
			above, err := paths.Parse(up)
			if err != nil || !paths.Within(p, up) || paths.Within(up, p) || above.User != a.User {
				t.Fatalf("%s is not below %s", p, up)
			}
		}
		if paths.Label(p, "") == "unknown" {
			t.Fatalf("%s has no label", p)
		}
	})
}

// TestCaseAndWidthMakeNoOtherPath: a word gives the same path in any case and width.
func TestCaseAndWidthMakeNoOtherPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		user, name := word(t), word(t)
		want, err := paths.Of(user, paths.Agent, name)
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
		if got, err := paths.Of(strings.ToUpper(user), paths.Agent, wide(name)); err != nil || got != want {
			t.Fatalf("%s and %s, %v", want, got, err)
		}
	})
}

// TestEverySlugFits: any name becomes a valid word of a path, also with a number after it.
func TestEverySlugFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slug := paths.Slug(rapid.String().Draw(t, "name"))
		for _, s := range []string{slug, slug + "-2", slug + "-99999"} {
			if p, err := paths.Of("owner", paths.Agent, s); err != nil || !strings.HasSuffix(string(p), "/"+s) {
				t.Fatalf("%q: %q, %v", s, p, err)
			}
		}
	})
}

// FuzzParse: any string that Parse accepts is exactly what a builder makes.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "/owner/agent/coder", "/owner/agent/coder/sub/0/memory", "/system/gc/search/12", "/u/telegram", "//", "/a/agent/b/sub/00", "/\u202e/x", "/mem0ry/x", "/owner/agent/κώδιξ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := earshot.Path(s)
		a, err := paths.Parse(p)
		if err != nil {
			if a != (paths.Address{}) {
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
func rebuild(a paths.Address) (earshot.Path, error) {
	if a.Kind.Below() {
		return paths.Child(a.Parent, a.Kind, a.Index)
	}
	return paths.Of(a.User, a.Kind, a.Name)
}
