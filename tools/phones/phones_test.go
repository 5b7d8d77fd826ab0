package main

import (
	"errors"
	"strings"
	"testing"

	"earshot/language/phones"
	"earshot/models"
)

// TestShipped: what is part of the program was made by this program: every fiftieth word of the
// dictionary sounds as it says, but for the few whose spelling does not decide it.
func TestShipped(t *testing.T) {
	words, err := dictionary()
	if missing := (*models.MissingError)(nil); errors.As(err, &missing) {
		t.Skip(missing.Cure())
	} else if err != nil {
		t.Fatal(err)
	}
	var wrong []string
	n := 0
	for i := 0; i < len(words); i += 50 {
		n++
		if w := words[i]; phones.Of(w.letters) != w.phones {
			wrong = append(wrong, w.letters)
		}
	}
	if len(wrong)*100 > n {
		t.Errorf("%d of %d words sound otherwise, such as %q; go generate ./language/phones makes english.gz anew", len(wrong), n, wrong[:5])
	}
}

// TestAlign: each letter gets what it sounds like, if there are enough words to learn that from.
func TestAlign(t *testing.T) {
	words := []word{{"bat", "b@t"}, {"tab", "t@b"}, {"bath", "b@T"}, {"math", "m@T"}, {"mat", "m@t"}, {"tam", "t@m"}, {"ham", "h@m"}, {"hat", "h@t"}, {"axe", "@ks"}, {"xxx", "ksksks"}, {"a", "bbbbbbbbb"}}
	all := words
	for range 3 {
		all = append(all, words...)
	}
	sounds := align(all)
	for i, want := range []string{"b|@|t", "t|@|b"} {
		if got := strings.Join(sounds[i], "|"); got != want {
			t.Errorf("%q is %s, want %s", words[i].letters, got, want)
		}
	}
	if sounds[len(words)-1] != nil {
		t.Errorf("a letter has nine phones: %q", sounds[len(words)-1])
	}
}

// TestRead: another pronunciation of a word, and what is no word, are left out. A dictionary of another
// kind is refused.
func TestRead(t *testing.T) {
	words, err := read(strings.NewReader("robin R AA B AH N\nrobin(2) R AA B IH N\nx-ray EH K S R EY\n'cause K AH Z\nher HH ER\n"))
	if err != nil || len(words) != 2 || words[0] != (word{"robin", "rabAn"}) || words[1] != (word{"her", "hAr"}) {
		t.Errorf("read %q, %v", words, err)
	}
	if _, err := read(strings.NewReader("robin ˈrɒbɪn\n")); err == nil {
		t.Error("phones of another alphabet are accepted")
	}
}
