package voice

import (
	"strings"
	"testing"
)

func TestAfter(t *testing.T) {
	for _, tt := range []struct {
		code      int
		resumable bool
		fails     int
		want      action
	}{
		{0, true, 1, continued}, // a network error
		{0, false, 1, again},
		{0, true, tries, ask}, // resuming does not help
		{0, false, tries, ask},
		{1000, true, 1, continued},
		{1006, true, 2, continued},
		{4001, true, 1, ask},
		{4003, true, 1, ask},
		{4004, true, 1, end},
		{4006, true, 1, ask},
		{4006, false, 1, ask},
		{4009, true, 1, ask},
		{4011, true, 1, end},
		{4012, false, 1, end},
		{4014, true, 1, await},
		{4014, false, 9, await},
		{4015, true, 1, continued},
		{4015, false, 1, again},
		{4015, true, tries, ask},
		{4016, false, 1, end},
		{4017, false, 1, end},
		{4020, true, 1, ask},
		{4021, false, 1, end},
		{4022, true, 1, await},
		{4999, true, 1, ask},
	} {
		if got := after(tt.code, tt.resumable, tt.fails); got != tt.want {
			t.Errorf("after(%d, %v, %d) = %v, want %v", tt.code, tt.resumable, tt.fails, got, tt.want)
		}
	}
}

func TestEndedHasACure(t *testing.T) {
	for _, code := range []int{4004, 4011, 4012, 4014, 4016, 4017, 4021, 4022} {
		e := ended(code)
		if e.Code != code || !strings.ContainsAny(e.Error(), ";") {
			t.Errorf("%d: %q does not say what to do", code, e)
		}
	}
}
