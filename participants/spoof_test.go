package participants_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"earshot"
	"earshot/participants"
)

// spoofs are names that could be mistaken for those of Ann or Zoë, who are people, for those of
// Earshot or Scout, who are agents, or for something that a prompt writes itself; each with what
// the error must mention.
var spoofs = []struct{ name, tell string }{
	{"Ann TO", `"to" is a reserved word`}, {"FROM Ann", `"from" is a reserved word`}, {"Ann says", `"says" is a reserved word`},
	{"the owner", `"owner" is a reserved word`}, {"A n n", `taken for "Ann"`}, {"Ear shot", `the agent "Earshot"`},
	{"Earshott", `the agent "Earshot"`}, {"Ánn", `taken for "Ann"`},

	{"Ann to Bob", "reserved"}, {"Ann-TO-Bob", "reserved"}, {"Ann_from", "reserved"}, {"Ann T O", "reserved"}, {"Fr0m Ann", "reserved"},
	{"Ann tó Eve", "reserved"}, {"Ａnn ＴＯ", "reserved"}, {"Bob said", "reserved"}, {"Ann SAID", "reserved"}, {"The System", "reserved"}, {"Sys.System", "reserved"},
	{"AI", "reserved"}, {"Eve AI", "reserved"}, {"an Assistant", "reserved"}, {"Mister Everyone", "reserved"}, {"Adm1n Eve", ""},
	{"Operator Eve", "reserved"}, {"Eve (you)", `has '('`}, {"Eve you", "reserved"}, {"voice 3 here", "reserved"}, {"Eve.user", "reserved"},
	{"Ann FR OM", "reserved"}, {"Ann F-R-O-M", "reserved"}, {"Ann S ays", "reserved"}, {"the own er", "reserved"}, {"Ann Sys-Tem", "reserved"}, {"Eve-a-ll", "reserved"},
	{"Ann T O M", "reserved"}, {"ТО", "reserved"}, {"ΤΟ", "reserved"},
	{"t0 all", "reserved"}, {"A.N.N", `taken for "Ann"`}, {"an-n", `taken for "Ann"`}, {"A'nn", `taken for "Ann"`}, {"Ãnñ", `taken for "Ann"`},
	{"ＡＮＮ", ""}, {"Zoe", `taken for "Zoë"`}, {"Z.o.ê", `taken for "Zoë"`}, {"Earshot 2", `the agent "Earshot"`}, {"earshot_99", `the agent "Earshot"`},
	{"Ear7shot", `the agent "Earshot"`}, {"Éarshót", `the agent "Earshot"`}, {"Earsh0t", `the agent "Earshot"`}, {"Earsh0tt", `the agent "Earshot"`},
	{"Earshotm", `the agent "Earshot"`}, {"Earsht", `the agent "Earshot"`}, {"Erashot", `the agent "Earshot"`}, {"Warshot", `the agent "Earshot"`},
	{"E.a.r.s.h.o.t.s", `the agent "Earshot"`}, {"Earshof 1", `the agent "Earshot"`}, {"Scouts", `the agent "Scout"`}, {"S c o t", `the agent "Scout"`},
	{"Socut", `the agent "Scout"`}, {"Sĉouꞇ", ""}, {"5cout", `the agent "Scout"`}, {"Snout", `the agent "Scout"`},
	{"A\u200bnn", "invisible character"}, {"Ear\u2060shot", "invisible character"}, {"Аnn", "more than one script"}, {"Εarshot", "more than one script"},
	{"Ꭼarshot", "more than one script"}, {"Ann\u034f", ""},
}

// ordinary are names of people who may all be there at once, together with Ann, Zoë, Earshot and
// Scout.
var ordinary = []string{
	"Al", "Ali", "Alia", "Tony", "Anto", "Fromm", "Frome", "Tom", "Toto", "María", "Jean-Luc", "O'Brien", "D'Angelo", "Anna", "Anne", "Annie",
	"Joann", "Ann Smith", "Annabelle Lee", "Bo", "Jo", "Li", "Sayson", "Saïd", "Edward Said", "Systema", "Ownerby", "Toolan", "Botha", "Allan", "Herero",
	"Peter Noone", "Ai Weiwei", "Ann I. Jones", "James Last", "Henry I", "J. R. R. Tolkien", "Hans-Peter", "St. John", "Al L. Smith", "Tom A. Nyborg", "Ear", "Shot", "Earl", "Scott Walker",
	"王小明", "王小名", "李娜", "山田 太郎", "かな", "がな", "김철수", "علی", "رضا", "محمد", "مُنا", "प्रिया", "प्रीया", "राम", "रमा", "สมชาย", "สมชัย",
	"Мария", "Андрей", "Νίκος", "שרה", "Ngọc Ánh", "Łukasz", "Björk", "François", "Müller", "Żaneta", "Dvořák", "Þóra", "guestavo", "3CPO", "r2.d2",
}

// TestSpoofs: nobody comes in under a name that could be mistaken for somebody else's or for a part
// of the prompt. The error says what is wrong and suggests a name that would do.
func TestSpoofs(t *testing.T) {
	c := house()
	c.Actors = append(c.Actors, participants.Actor{ID: "zoe", DisplayName: "Zoë"})
	for _, tt := range spoofs {
		r, l := open(t, c)
		p, err := r.Claim(t.Context(), other, tt.name, nil)
		if tt.name == "Ａnn" || tt.name == "ＡＮＮ" || tt.name == "Ann\u034f" { // other spellings of Ann
			if p.ID != "" && p.ID != "ann" {
				t.Errorf("%q is %+v", tt.name, p)
			}
			continue
		}
		if tt.tell == "" && err == nil { // the tables of look-alikes do not cover these
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.tell) || len(l.changes) > 0 {
			t.Errorf("%q is %+v, %v", tt.name, p, err)
			continue
		}
		_, such, ok := strings.Cut(cure(err), "such as ")
		if q, err := r.Claim(t.Context(), other, such, nil); !ok || err != nil && !errors.Is(err, participants.ErrToken) && !errors.Is(err, participants.ErrReserved) {
			t.Errorf("%q is advised %q: %+v, %v", tt.name, cure(err), q, err)
		}
	}
}

// TestOrdinaryNames: all people with ordinary names can come in.
func TestOrdinaryNames(t *testing.T) {
	c := house()
	c.Actors = append(c.Actors, participants.Actor{ID: "zoe", DisplayName: "Zoë"})
	r, _ := open(t, c)
	for _, name := range ordinary {
		if p, err := r.Claim(t.Context(), other, name, nil); err != nil || p.Name != strings.Join(strings.Fields(name), " ") {
			t.Errorf("%q is %+v, %v", name, p, err)
		}
	}
	if len(spoofs) < 40 || len(ordinary) < 40 {
		t.Errorf("%d spoofs and %d ordinary names", len(spoofs), len(ordinary))
	}
}

// TestSpoofsByEveryWay: a refused name is refused everywhere: for a person, for an agent, in a
// rename, in the configuration, from Discord and from an imported journal. Somebody from Discord
// comes in under another name, and so does somebody in a journal, who can still be found by the old
// one.
func TestSpoofsByEveryWay(t *testing.T) {
	for _, name := range []string{"Earshott", "Ear shot", "Ánn", "A n n", "Ann TO", "FROM Ann", "Ann says", "the owner", "E.arshot", "Earshot 2"} {
		r, _ := open(t, house())
		owner := r.Resolve(console)
		dora := claim(t, r, "Dora")
		if err := r.Rename(t.Context(), owner, dora.ID, name); err == nil {
			t.Errorf("somebody is renamed %q", name)
		}
		if name != "Earshot 2" { // the owner may give this name to another agent
			if err := r.Introduce(t.Context(), participants.Participant{ID: "a1", Name: name}, kept); err == nil {
				t.Errorf("an agent is called %q", name)
			}
			if err := r.Redescribe(t.Context(), participants.Participant{ID: "scout", Name: name}, kept); err == nil {
				t.Errorf("an agent is renamed %q", name)
			}
		}
		c := house()
		c.Actors = append(c.Actors, participants.Actor{ID: "eve", DisplayName: name})
		if c.Validate() == nil && c.Collides("Earshot") == nil {
			t.Errorf("somebody of the configuration is called %q", name)
		}
		p := arrive(t, r, "1", name)
		if err := r.Rename(t.Context(), owner, dora.ID, p.Name); !errors.Is(err, participants.ErrTaken) || p.Name == name {
			t.Errorf("on Discord %q is %q: %v", name, p.Name, err)
		}
		r.Apply(earshot.Actor{Act: earshot.Created, Participant: "p_1", Name: name, Type: "human"})
		if is := r.Name("p_1"); is == name {
			t.Errorf("by a journal comes %q", is)
		}
		if q, err := r.Claim(t.Context(), other, name, nil); err != nil || q.ID != "p_1" {
			t.Errorf("who was %q is %+v, %v", name, q, err)
		}
	}
}

// spoof returns a variant of name that is easily overlooked, different in at most one letter.
func spoof(t *rapid.T, name string, letter bool) string {
	runes := []rune(name)
	if letter {
		at := rapid.IntRange(0, len(runes)-1).Draw(t, "at")
		other := rapid.RuneFrom([]rune("abcdefghijklmnopqrstuvwxyzABCMW")).Draw(t, "letter")
		switch rapid.SampledFrom([]string{"more", "less", "another", "swapped"}).Draw(t, "change") {
		case "more":
			runes = slices.Insert(runes, at, other)
		case "less":
			runes = slices.Delete(runes, at, at+1)
		case "another":
			runes[at] = other
		case "swapped":
			next := (at + 1) % len(runes)
			runes[min(at, next)], runes[max(at, next)] = runes[max(at, next)], runes[min(at, next)]
			if next == 0 { // the first and the last are not adjacent
				runes = []rune(name)
			}
		}
	}
	var b strings.Builder
	for i, r := range runes {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{"", "", "", " ", "-", ".", "_", "'"}).Draw(t, "between"))
		}
		switch rapid.IntRange(0, 3).Draw(t, "case") {
		case 0:
			r = unicode.ToUpper(r)
		case 1:
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
		b.WriteString(rapid.SampledFrom([]string{"", "", "", "\u0301", "\u0308", "\u0327", "\u0331"}).Draw(t, "mark"))
	}
	return b.String()
}

// TestSpoofsOfAgents: a variant of an agent's name, by marks, blanks, capitals and one letter, is
// refused. So is an agent whose name is such a variant of somebody's.
func TestSpoofsOfAgents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		agent := rapid.StringMatching(`[A-Z][a-z]{2,9}`).Filter(usable).Draw(t, "agent")
		name := spoof(t, agent, rapid.Bool().Draw(t, "a letter"))
		if _, err := participants.CheckName(name); err != nil {
			return
		}
		open := func(agents ...participants.Participant) *participants.Registry {
			ids := 0
			r, err := participants.Open(participants.Setup{
				Account: console, AccountName: "Wilhelmina", Actors: participants.DefaultConfig(), Agents: agents,
				Now: time.Now, NewID: func() earshot.EventID { ids++; return earshot.EventID(fmt.Sprint(ids)) },
			})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if p, err := open(participants.Participant{ID: "a", Name: agent}).Claim(t.Context(), other, name, nil); !errors.Is(err, participants.ErrReserved) {
			t.Errorf("beside the agent %q %q is let in: %+v, %v", agent, name, p, err)
		}
		r := open()
		if _, err := r.Claim(t.Context(), other, name, nil); err != nil {
			t.Fatal(err)
		}
		if err := r.Introduce(t.Context(), participants.Participant{ID: "a", Name: agent}, kept); !errors.Is(err, participants.ErrTaken) {
			t.Errorf("beside %q there is an agent %q: %v", name, agent, err)
		}
	})
}

// TestNearnessIsMutual: if a could be mistaken for b, b could be mistaken for a.
func TestNearnessIsMutual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringMatching(`[A-Z][a-z]{1,6}( [a-z]{1,3})?[0-9]?`), rapid.SampledFrom(ordinary)).Filter(usable)
		a := name.Draw(t, "a")
		b := rapid.OneOf(name, rapid.Custom(func(t *rapid.T) string { return spoof(t, a, rapid.Bool().Draw(t, "a letter")) })).Draw(t, "b")
		if participants.Near(a, b) != participants.Near(b, a) || participants.NearMain(a, b) != participants.NearMain(b, a) {
			t.Errorf("%q and %q: %v and %v, as agents %v and %v", a, b,
				participants.Near(a, b), participants.Near(b, a), participants.NearMain(a, b), participants.NearMain(b, a))
		}
		if !participants.Near(a, spoof(t, a, false)) {
			t.Errorf("%q is another beside what is made of it by marks alone", a)
		}
	})
}

func usable(name string) bool {
	_, err := participants.CheckName(name)
	return err == nil
}

// TestAnAgentMaySayWhatItIs: an agent's name may contain a word such as Agent, which nobody else's
// may. Words of the prompt are refused for agents, too.
func TestAnAgentMaySayWhatItIs(t *testing.T) {
	for name, may := range map[string]bool{
		"Coder Agent": true, "Home Assistant": true, "Earshot": true, "Agent": false, "assistant": false,
		"Coder TO": false, "System Agent": false, "the owner": false, "Voice 3": false,
	} {
		shown, err := participants.CheckAgent(name)
		if (err == nil) != may || may != (shown == name) {
			t.Errorf("of an agent %q is %q, %v", name, shown, err)
		}
		if _, err := participants.CheckName(name); err == nil && name != "Earshot" {
			t.Errorf("somebody may be called %q", name)
		}
	}
}

// TestAgentsOnRecordKeepTheirNames: agents on record keep names that would be refused for new ones.
func TestAgentsOnRecordKeepTheirNames(t *testing.T) {
	agents := []participants.Participant{{ID: participants.Agent, Name: "Earshot"}, {ID: "a1", Name: "Earshott"}, {ID: "a2", Name: "Voice Coach"}, {ID: "a3", Name: "Coder-1"}, {ID: "a4", Name: "Coder 1"}}
	r, err := participants.Open(participants.Setup{Account: console, AccountName: "ann", Actors: participants.DefaultConfig(), Agents: agents})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range agents {
		if p, _ := r.Find(a.Name); p.ID != a.ID {
			t.Errorf("%q is %+v", a.Name, p)
		}
	}
}

// TestAgentsALetterApart: agents may have similar names, as long as none could be mistaken for the
// main agent's.
func TestAgentsALetterApart(t *testing.T) {
	for _, tt := range []struct {
		name string
		main bool
	}{{"Scout1", false}, {"Scout2", false}, {"Coder", false}, {"Scout", false}, {"Earshot", true}, {"Earshots", true}, {"Ear shott", true}} {
		if got := participants.NearMain(tt.name, "Earshot"); got != tt.main {
			t.Errorf("%q could be taken for Earshot: %v, want %v", tt.name, got, tt.main)
		}
	}
	r, err := participants.Open(participants.Setup{
		Account: earshot.Handle{Provider: "console", ID: "1000"}, AccountName: "Ann", Actors: participants.DefaultConfig(),
		Agents: []participants.Participant{{ID: participants.Agent, Name: "Earshot", Type: participants.Internal}},
	})
	if err != nil {
		t.Fatal(err)
	}
	keep := func() error { return nil }
	for i, name := range []string{"Scout1", "Scout2", "Scout"} {
		id := earshot.ParticipantID(fmt.Sprint("agent", i))
		if err := r.Introduce(t.Context(), participants.Participant{ID: id, Name: name}, keep); err != nil {
			t.Errorf("%q beside other agents: %v", name, err)
		}
	}
	if err := r.Introduce(t.Context(), participants.Participant{ID: "other", Name: "Earshott"}, keep); err == nil {
		t.Error("Earshott is let in beside Earshot")
	}
}
