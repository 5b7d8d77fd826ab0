package ollama

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// port is where Ollama listens unless told otherwise.
const port = "11434"

// parseHost understands a server as people write it. A URL with http and no
// port means Ollama's port too: who serves it on port 80 knows to say so.
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
		return nil, fmt.Errorf("host is not an address such as localhost:%s", port) // err may hold a password
	}
	if err := checkHost(u); err != nil {
		return nil, err
	}
	u.Host = net.JoinHostPort(reachable(u.Hostname()), portOf(u))
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

// checkHost says what is wrong with u, if anything is.
func checkHost(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("host begins with %q; must be http:// or https://", u.Scheme+"://")
	}
	if u.Hostname() == "" {
		return fmt.Errorf("host names no machine; write it as localhost:%s", port)
	}
	if n, err := strconv.Atoi(portOf(u)); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("host has the port %q; must be 1 to 65535", u.Port())
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("host has something behind the address; leave out what begins with ? or #")
	}
	for _, end := range []string{"/v1", "/api"} {
		if strings.HasSuffix(strings.TrimRight(u.Path, "/"), end) {
			return fmt.Errorf("host ends in %q; leave that out, Ollama's own paths are added here", end)
		}
	}
	return nil
}

// portOf returns the port of u, or the usual one.
func portOf(u *url.URL) string {
	if u.Scheme == "https" {
		return cmp.Or(u.Port(), "443")
	}
	return cmp.Or(u.Port(), port)
}

// reachable turns an address that a server listens on, as copied from its
// OLLAMA_HOST, into one that it can be called at.
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
