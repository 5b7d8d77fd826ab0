package bot

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot"
)

// TestSayings: after a restart it is known which message belongs to which reply, for a bounded
// number of messages, whatever the file contains.
func TestSayings(t *testing.T) {
	dir := t.TempDir()
	s := OpenPostLog(dir, silent)
	say := func(n int) post { return post{uint64(n), "discord-7", earshot.TurnID(fmt.Sprint("turn", n))} }
	const many = 3 * mostOwn
	for n := 1; n <= many; n++ {
		s.add(say(n))
	}
	file := filepath.Join(dir, "discord.jsonl")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), "\n"); n > 2*mostOwn {
		t.Errorf("%d lines are kept", n)
	}
	if err := os.WriteFile(file, append(data, "{\"message\":12,\"ro"...), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*PostLog{s, OpenPostLog(dir, silent)} {
		for n, want := range map[int]bool{many: true, many - mostOwn + 1: true, many - mostOwn: false, 12: false} {
			if is, ok := s.get(uint64(n)); ok != want || ok && is != say(n) {
				t.Errorf("%d is %+v, %v", n, is, ok)
			}
		}
		if all := s.in("discord-7"); len(all) != mostOwn || all[mostOwn-1] != many || len(s.in("discord-8")) > 0 {
			t.Errorf("there are %d", len(all))
		}
	}
}
