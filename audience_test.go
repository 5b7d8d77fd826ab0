package earshot_test

import (
	"testing"

	"pgregory.net/rapid"

	"earshot"
)

func TestVisibilityAllows(t *testing.T) {
	private := earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", "bob"}}
	public := earshot.Visibility{Scope: earshot.Public}
	ann := earshot.Audience{Members: []earshot.ParticipantID{"ann"}}
	annAndCy := earshot.Audience{Members: []earshot.ParticipantID{"ann", "cy"}}
	loud := earshot.Audience{Members: []earshot.ParticipantID{"ann"}, Unknown: true}
	for _, tt := range []struct {
		name string
		v    earshot.Visibility
		a    earshot.Audience
		want bool
	}{
		{"public", public, annAndCy, true},
		{"public on a loudspeaker", public, loud, true},
		{"private to a member", private, ann, true},
		{"private with a stranger to it", private, annAndCy, false},
		{"private on a loudspeaker", private, loud, false},
		{"private to nobody in particular", private, earshot.Audience{}, false},
		{"forgotten", earshot.Visibility{}, ann, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.v.Allows(tt.a); got != tt.want {
				t.Errorf("allows = %v, want %v", got, tt.want)
			}
		})
	}
}

// TestReaches: what reaches something else is seen by all people who see that.
func TestReaches(t *testing.T) {
	people := rapid.SliceOfDistinct(rapid.SampledFrom([]earshot.ParticipantID{"ann", "bob", "cy"}), rapid.ID)
	visibility := rapid.Custom(func(t *rapid.T) earshot.Visibility {
		return earshot.Visibility{
			Scope:   rapid.SampledFrom([]earshot.Scope{"", earshot.Public, earshot.Private, earshot.System}).Draw(t, "scope"),
			Members: people.Draw(t, "members"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		v, w := visibility.Draw(t, "v"), visibility.Draw(t, "w")
		a := earshot.Audience{Members: people.Draw(t, "audience"), Unknown: rapid.Bool().Draw(t, "unknown")}
		if v.Reaches(w) && w.Allows(a) && !v.Allows(a) {
			t.Errorf("%v reaches %v, which is seen by %v alone", v, w, a)
		}
		if both := v.And(w); w.Scope != "" && v.Scope != "" && !v.Reaches(both) {
			t.Errorf("%v does not reach %v, which comes of it", v, both)
		}
	})
}

// TestDerivedIsSeenByNobodyElse: what came from two events is never seen by
// somebody who may not see both.
func TestDerivedIsSeenByNobodyElse(t *testing.T) {
	people := rapid.SliceOfDistinct(rapid.SampledFrom([]earshot.ParticipantID{"ann", "bob", "cy", "dee"}), rapid.ID)
	visibility := rapid.Custom(func(t *rapid.T) earshot.Visibility {
		return earshot.Visibility{
			Scope:   rapid.SampledFrom([]earshot.Scope{"", earshot.Public, earshot.Private, earshot.System}).Draw(t, "scope"),
			Members: people.Draw(t, "members"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		v, w := visibility.Draw(t, "v"), visibility.Draw(t, "w")
		a := earshot.Audience{Members: people.Draw(t, "audience"), Unknown: rapid.Bool().Draw(t, "unknown")}
		if got, want := v.And(w).Allows(a), v.Allows(a) && w.Allows(a); got != want {
			t.Errorf("the derived one allows = %v, both sources allow = %v", got, want)
		}
	})
}
