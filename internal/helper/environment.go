package helper

import (
	"slices"
	"strings"
)

// What a helper gets of the daemon's environment. A name may end with a star.
var (
	passed = []string{
		"HOME", "PATH", "LANG", "LC_*", "TMPDIR", "LD_LIBRARY_PATH",
		"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS",
		"PULSE_*", "PIPEWIRE_*", "ALSA_*", "JACK_*", "PA_*",
	}
	proxies = []string{"http_proxy", "https_proxy", "all_proxy", "no_proxy"} // in upper case, too
)

// environment returns the part of the environment for a helper.
func environment(all []string, net bool) []string {
	return slices.DeleteFunc(slices.Clone(all), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !passes(name) && !(net && slices.Contains(proxies, strings.ToLower(name)))
	})
}

// passes reports whether every helper gets a variable.
func passes(name string) bool {
	return slices.ContainsFunc(passed, func(p string) bool {
		start, open := strings.CutSuffix(p, "*")
		return name == start || open && strings.HasPrefix(name, start)
	})
}
