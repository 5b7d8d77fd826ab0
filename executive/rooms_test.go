package executive_test

import (
	"slices"
	"testing"

	"earshot"
	"earshot/executive"
)

func TestAllRooms(t *testing.T) {
	kitchen := executive.Room{ID: "kitchen", Name: "kitchen"}
	for _, tt := range []struct {
		name  string
		rooms executive.Rooms
		want  []executive.Room
	}{
		{"none", nil, []executive.Room{{ID: "desk", Name: "desk"}}},
		{"one more", executive.Rooms{{ID: "kitchen"}}, []executive.Room{{ID: "desk", Name: "desk"}, kitchen}},
		{"the desk last", executive.Rooms{{ID: "kitchen"}, {ID: "desk", Name: "Study", Actors: []earshot.ParticipantID{"ann"}}},
			[]executive.Room{{ID: "desk", Name: "Study", Actors: []earshot.ParticipantID{"ann"}}, kitchen}},
	} {
		got := tt.rooms.All()
		same := func(a, b executive.Room) bool {
			return a.ID == b.ID && a.Name == b.Name && slices.Equal(a.Actors, b.Actors)
		}
		if !slices.EqualFunc(got, tt.want, same) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
		if got[0].Open() != (len(got[0].Actors) == 0) {
			t.Errorf("%s: open is %v", tt.name, got[0].Open())
		}
	}
}
