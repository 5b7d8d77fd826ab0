package participants_test

import (
	"testing"

	"earshot"
	"earshot/participants"
)

// TestAudience: Operate says whether everybody in an audience is an operator, Only whether
// everybody is one person or an operator, and Alone whether it is one person and nobody else. They
// say no of an empty audience and of one with unknown members.
func TestAudience(t *testing.T) {
	r, _ := open(t, house())
	for _, tt := range []struct {
		name                 string
		a                    earshot.Audience
		operate, only, alone bool // only and alone are about Bob
	}{
		{"nobody", earshot.Audience{}, false, false, false},
		{"whoever", earshot.Audience{Members: []earshot.ParticipantID{"ann"}, Unknown: true}, false, false, false},
		{"an operator", earshot.Audience{Members: []earshot.ParticipantID{"ann"}}, true, true, false},
		{"Bob", earshot.Audience{Members: []earshot.ParticipantID{"bob"}}, false, true, true},
		{"both", earshot.Audience{Members: []earshot.ParticipantID{"ann", "bob"}}, false, true, false},
		{"somebody else", earshot.Audience{Members: []earshot.ParticipantID{"bob", "claude"}}, false, false, false},
	} {
		if o, b, al := r.Operate(tt.a), r.Only(tt.a, "bob"), r.Alone(tt.a, "bob"); o != tt.operate || b != tt.only || al != tt.alone {
			t.Errorf("%s: operate %v, only %v, alone %v", tt.name, o, b, al)
		}
	}
	if r.Alone(earshot.Audience{Members: []earshot.ParticipantID{participants.Generic}}, participants.Generic) {
		t.Error("scripts are one person")
	}
}
