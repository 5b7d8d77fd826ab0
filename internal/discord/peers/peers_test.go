package peers

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"earshot/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFrame(t *testing.T) {
	var h Heard
	for n := range uint32(3) {
		h.Count(Frame(7, n))
	}
	h.Count(Silence)
	h.Count(append(Frame(7, 9), 0xfa, 0xfa))
	h.Count(nil)
	if h.Tags[7] != 3 || h.Last != 2 || h.Silence != 1 || h.Other != 2 {
		t.Errorf("heard %+v", h)
	}
	if !strings.Contains(string(Frame(7, 1)), Words) {
		t.Error("a frame does not have the words that a wire is searched for")
	}
}

// TestFolder: the tests look for the clients where the script puts them.
func TestFolder(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	out, err := testkit.Command(t, "../../../scripts/discord/build", "--where").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(out)); got != Folder() {
		t.Errorf("the script says %s, the tests look in %s", got, Folder())
	}
	if _, err := Run(t.Context(), Config{}); !errors.Is(err, ErrMissing) {
		t.Errorf("without clients: %v", err)
	}
}
