package dave

import (
	"bytes"
	"testing"

	"github.com/thomas-vilte/dave-go/mediakeys"
	"pgregory.net/rapid"
)

// The digits follow from the arithmetic of "Displayable Codes": 2^40-1 is
// 1,099,511,627,775, and 0xaabbccddee is 733,295,205,870.
func TestCode(t *testing.T) {
	ones := bytes.Repeat([]byte{0, 0, 0, 0, 1}, 6)
	for _, c := range []struct {
		secret []byte
		groups int
		want   string
	}{
		{append(ones, 0, 0), privacyGroups, "00001 00001 00001 00001 00001 00001"},
		{bytes.Repeat([]byte{0xff}, 32), privacyGroups, "27775 27775 27775 27775 27775 27775"},
		{bytes.Repeat([]byte{0xff}, 64), fingerprintGroups, "27775 27775 27775 27775 27775 27775 27775 27775 27775"},
		{bytes.Repeat([]byte{0xaa, 0xbb, 0xcc, 0xdd, 0xee}, 7), privacyGroups, "05870 05870 05870 05870 05870 05870"},
	} {
		if got := code(c.secret, c.groups); got != c.want {
			t.Errorf("code(%x, %d) is %q, want %q", c.secret, c.groups, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.SliceOfN(rapid.Byte(), 64, 64).Draw(t, "secret")
		theirs, err := mediakeys.DisplayableCode(secret, 45, 5)
		if err != nil {
			t.Fatal(err)
		}
		if got := code(secret, fingerprintGroups); string(bytes.ReplaceAll([]byte(got), []byte(" "), nil)) != theirs {
			t.Errorf("%q, theirs %q", got, theirs)
		}
	})
}

// TestFingerprint: both people see the same fingerprint, and other people or keys give another.
func TestFingerprint(t *testing.T) {
	keyA, keyB := bytes.Repeat([]byte{4}, 65), bytes.Repeat([]byte{5}, 65)
	ab, err := fingerprint(100, keyA, 200, keyB)
	if err != nil {
		t.Fatal(err)
	}
	if ba, _ := fingerprint(200, keyB, 100, keyA); ba != ab || len(ab) != 9*5+8 {
		t.Errorf("%q and %q", ab, ba)
	}
	for _, other := range []struct {
		user uint64
		key  []byte
	}{{201, keyB}, {200, keyA}} {
		if got, _ := fingerprint(100, keyA, other.user, other.key); got == ab {
			t.Errorf("%d has the same", other.user)
		}
	}
}
