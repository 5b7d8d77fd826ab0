package power_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/internal/power"
)

// TestOnBattery: each power supply is a folder whose files hold one word each.
func TestOnBattery(t *testing.T) {
	for _, tt := range []struct {
		name     string
		supplies string // NAME/FILE=WORD …
		want     bool
	}{
		{"a desktop", "", false},
		{"plugged in", "AC/type=Mains AC/online=1 BAT0/type=Battery BAT0/status=Charging", false},
		{"full", "AC/type=Mains AC/online=1 BAT0/type=Battery BAT0/status=Full", false},
		{"unplugged", "AC/type=Mains AC/online=0 BAT0/type=Battery BAT0/status=Discharging", true},
		{"unplugged, and it does not say that it discharges", "AC/type=Mains AC/online=0 BAT0/type=Battery BAT0/status=Unknown", true},
		{"unplugged, one of two batteries is used", "AC/type=Mains AC/online=0 BAT0/type=Battery BAT0/status=Unknown BAT1/type=Battery BAT1/status=Discharging", true},
		{"a weak charger", "AC/type=Mains AC/online=1 BAT0/type=Battery BAT0/status=Discharging", false},
		{"charged over USB", "AC/type=Mains AC/online=0 ucsi/type=USB ucsi/online=1 BAT0/type=Battery BAT0/status=Charging", false},
		{"a battery and nothing else", "BAT0/type=Battery BAT0/status=Discharging", true},
		{"a battery that is not there", "AC/type=Mains AC/online=0 BAT0/type=Battery BAT0/present=0 BAT0/status=Unknown", false},
		{"the battery of a mouse", "mouse/type=Battery mouse/scope=Device mouse/status=Discharging", false},
		{"a supply of a desktop that is off", "PSU/type=Mains PSU/online=0", false},
		{"nothing can be made of it", "BAT0/type=Battery BAT0/status=" + strings.Repeat("Discharging", 99), false},
		{"empty files", "AC/type= BAT0/status=", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, entry := range strings.Fields(tt.supplies) {
				path, is, _ := strings.Cut(entry, "=")
				path = filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(is+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := power.OnBattery(dir); got != tt.want {
				t.Errorf("on battery: %v, want %v", got, tt.want)
			}
		})
	}
	if power.OnBattery(filepath.Join(t.TempDir(), "none")) || power.OnBattery("") {
		t.Error("a machine that says nothing runs on its battery")
	}
}
