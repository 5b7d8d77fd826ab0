package ollama

import (
	"cmp"
	"net"
	"net/url"
	"strconv"
	"strings"

	"earshot/internal/field"
)

// port is where Ollama listens by default.
const port = "11434"

// parseHost parses a server as people write it. A URL with http and no port means Ollama's port
// too: whoever serves it on port 80 knows to say so. Its error is a [field.Fault] of the key host.
func parseHost(host string) (*url.URL, error) {
	text := cmp.Or(strings.TrimSpace(host), "localhost")
	if net.ParseIP(text) != nil && strings.Contains(text, ":") {
		text = "[" + text + "]"
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, field.Errorf("host", "is not an address; write it as localhost:%s", port) // err may hold a password
	}
	if err := checkHost(u); err != nil {
		return nil, err
	}
	u.Host = net.JoinHostPort(reachable(u.Hostname()), portOf(u))
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

// checkHost returns what is wrong with u, if anything. It never quotes u whole, since it may
// contain a password.
func checkHost(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return field.Errorf("host", "begins with %q; must be http:// or https://", u.Scheme+"://")
	}
	if u.Hostname() == "" {
		return field.Errorf("host", "has no host name; write it as localhost:%s", port)
	}
	if u.Hostname() == "ollama.com" {
		return field.Errorf("host", "is ollama.com, which answers only signed requests; set your own server, and run `ollama signin` there")
	}
	if n, err := strconv.Atoi(portOf(u)); err != nil || n < 1 || n > 65535 {
		return field.Errorf("host", "has the port %q; must be 1 to 65535", u.Port())
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return field.Errorf("host", "has something after the address; leave out what begins with ? or #")
	}
	for _, end := range []string{"/v1", "/api"} {
		if strings.HasSuffix(strings.TrimRight(u.Path, "/"), end) {
			return field.Errorf("host", "ends in %q; leave that out, Ollama's own paths are added here", end)
		}
	}
	return nil
}

// portOf returns the port of u, or the default one.
func portOf(u *url.URL) string {
	if u.Scheme == "https" {
		return cmp.Or(u.Port(), "443")
	}
	return cmp.Or(u.Port(), port)
}

// reachable converts a listening address, as copied from OLLAMA_HOST, to one that can be called.
func reachable(host string) string {
	switch host {
	case "0.0.0.0":
		return "127.0.0.1"
	case "::":
		return "::1"
	}
	return host
}

// loopback reports whether u is this machine.
func loopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
