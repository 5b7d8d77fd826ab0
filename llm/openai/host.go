package openai

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// parseHost parses a server as people write it. Its errors do not quote it, since it may hold a
// password.
func parseHost(host string) (*url.URL, error) {
	text := strings.TrimSpace(host)
	if !strings.Contains(text, "://") {
		text = scheme(text) + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("host is not an address such as localhost:8080")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("host must begin with http:// or https://")
	case u.Hostname() == "":
		return nil, errors.New("host has no host name; write it as localhost:8080")
	case u.User != nil:
		return nil, errors.New("host has a user name or a password in it; put a key under api_key")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("host has something after the address; leave out what begins with ? or #")
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	if u.Path == "" {
		u.Path = "/v1"
	}
	u.Path += "/" // or the last part would be replaced
	u.RawPath = ""
	return u, nil
}

// scheme returns the scheme for a host written without one: a key must not be sent unencrypted to
// a named machine because of an omission.
func scheme(host string) string {
	u, err := url.Parse("//" + host)
	if err != nil || u.Hostname() == "localhost" || net.ParseIP(u.Hostname()) != nil {
		return "http://"
	}
	return "https://"
}
