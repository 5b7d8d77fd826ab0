// Package power says whether this machine runs on its battery.
package power

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	// Supplies is where Linux describes the power supplies.
	Supplies = "/sys/class/power_supply"

	// mostSupplies is how many of them are looked at: a machine has two or three.
	mostSupplies = 64

	// longestWord is the longest that is read of each, in bytes.
	longestWord = 64
)

// OnBattery reports whether the machine of a directory such as [Supplies] runs on its battery. It
// is false if there is none or it cannot be read. It may wait for the hardware.
func OnBattery(directory string) bool {
	open, err := os.Open(directory)
	if err != nil {
		return false
	}
	defer open.Close()
	names, err := open.Readdirnames(mostSupplies)
	if err != nil {
		return false
	}
	battery, discharging, unplugged := false, false, false
	for _, name := range names {
		at := filepath.Join(directory, name)
		switch kind := word(at, "type"); {
		case word(at, "scope") == "Device": // of a mouse, or a headset
		case kind == "Battery" && word(at, "present") != "0":
			battery = true
			discharging = discharging || word(at, "status") == "Discharging"
		case kind == "Mains" || kind == "USB" || kind == "Wireless":
			if word(at, "online") == "1" {
				return false // also where it gives less than is used
			}
			unplugged = unplugged || kind == "Mains" && word(at, "online") == "0"
		}
	}
	return battery && (discharging || unplugged)
}

// word returns what a file says, "" if it cannot be read.
func word(directory, name string) string {
	f, err := os.Open(filepath.Join(directory, name))
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, longestWord))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
