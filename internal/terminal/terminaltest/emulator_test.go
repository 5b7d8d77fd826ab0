package terminaltest_test

import (
	"testing"

	"go.uber.org/goleak"

	"earshot/internal/terminal/terminaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEmulator(t *testing.T) {
	for _, tt := range []struct {
		name, sent, screen, all string
		faults                  int
	}{
		{"text", "ab\r\nc", "ab\nc|", "ab\nc", 0},
		{"overwritten", "abc\rx", "x|bc", "xbc", 0},
		{"a full row waits", "abcdef", "abcde|f", "abcdef", 0},
		{"and then turns", "abcdefg", "abcdef\ng|", "abcdef\ng", 0},
		{"scrolled", "a\r\nb\r\nc\r\nd", "b\nc\nd|", "a\nb\nc\nd", 0},
		{"up and erased", "abc\r\ndef\x1b[1A\x1b[J", "abc|", "abc", 0},
		{"one row erased", "abc\r\x1b[1C\x1b[K", "a|", "a", 0},
		{"wide", "日本\r\x1b[2Cx", "日x|", "日x", 0},
		{"joined", "e\u0301🇩🇪x", "e\u0301🇩🇪x|", "e\u0301🇩🇪x", 0},
		{"above the top", "\x1b[3A", "|", "", 1},
		{"not ours", "\x1b]0;t\a\x9b", "0;t\ufffd|", "0;t\ufffd", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := terminaltest.NewEmulator(6, 3)
			for i := range len(tt.sent) { // in the worst of pieces
				e.Write([]byte{tt.sent[i]})
			}
			if e.Screen() != tt.screen || e.All() != tt.all || len(e.Faults()) != tt.faults {
				t.Errorf("screen %q, all %q, faults %q", e.Screen(), e.All(), e.Faults())
			}
		})
	}
}
