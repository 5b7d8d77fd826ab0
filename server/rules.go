package server

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"earshot"
	"earshot/server/wire"
)

// rules are what a listener demands of each request, before its author is known.
type rules struct {
	vouched bool           // the kernel identifies the account
	relayed bool           // daemons pass requests on, and say whose
	account earshot.Handle // of all who connect, who may attach a terminal and nothing else; zero elsewhere
	hosts   []string       // names besides those of this machine, in lower case, with an optional port
	origins []string       // of pages that may send requests, in lower case
	crossed *http.CrossOriginProtection
	rates   *rates
	knocks  *tokenFailures
}

// socketRules are the rules of the socket. A browser cannot reach it, unless somebody has put a
// port in front of it, as ssh does.
func socketRules() *rules {
	return &rules{vouched: true, crossed: http.NewCrossOriginProtection(), rates: newRates(socketRate), knocks: newKnocks()}
}

// loopbackRules are the rules of a port.
func loopbackRules(c Config) *rules {
	r := &rules{crossed: http.NewCrossOriginProtection(), rates: newRates(float64(c.RequestsPerSecond)), knocks: newKnocks()}
	for _, host := range c.AllowedHosts {
		r.hosts = append(r.hosts, strings.ToLower(host))
	}
	for _, origin := range c.AllowedOrigins {
		origin = strings.ToLower(origin)
		r.origins = append(r.origins, origin)
		_ = r.crossed.AddTrustedOrigin(origin) // which Validate has checked
	}
	return r
}

// judge reports what is wrong with a request, whoever sent it: how it is written, to which host,
// and on behalf of which page. Most of this keeps out web pages, whose scripts can reach every
// port of this machine.
func (r *rules) judge(req *http.Request) error {
	if err := written(req); err != nil {
		return err
	}
	if !r.ours(req.Host) {
		return &fault{http.StatusForbidden, &wire.Refusal{
			Problem: "the header Host is not a name of this earshot",
			Mend:    "ask at 127.0.0.1 or localhost, or add the name to server.allowed_hosts",
		}}
	}
	return r.page(req)
}

// written reports what is wrong with how a request is written. A path has one accepted spelling,
// so that everything that inspects requests on their way sees the same as we do.
func written(req *http.Request) error {
	path, _, _ := strings.Cut(req.RequestURI, "?")
	switch {
	case req.ProtoMajor != 1:
		return &fault{http.StatusHTTPVersionNotSupported, errors.New("earshot speaks HTTP/1.1")}
	case req.Method == http.MethodOptions && path == "*":
		return nil // which is no path
	case !strings.HasPrefix(path, "/"):
		return bad("earshot is not a proxy: the request target must begin with a slash")
	case path != req.URL.Path:
		return &fault{http.StatusNotFound, errors.New("there is nothing at this path")}
	case leaks(req):
		return &fault{http.StatusBadRequest, &wire.Refusal{
			Problem: "a token must not be in the address, where logs and histories keep it; the request was ignored",
			Mend:    "send it in the header Authorization: Bearer …; if it was a real token, revoke it: earshot token revoke",
		}}
	}
	return nil
}

// telling are the names of parameters that hold secrets.
var telling = regexp.MustCompile(`(?i)token|secret|passw|auth|bearer|credential|api_?-?key|^key$`)

// secretText matches what looks like a token.
var secretText = regexp.MustCompile(`earshot_[a-z2-7]{52}`)

// leaks reports whether the address of a request holds something like a token.
func leaks(req *http.Request) bool {
	if req.URL.User != nil || secretText.MatchString(req.RequestURI) {
		return true
	}
	q, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil {
		return telling.MatchString(req.URL.RawQuery)
	}
	for name, values := range q {
		if telling.MatchString(name) || slices.ContainsFunc(values, secretText.MatchString) {
			return true
		}
	}
	return false
}

// ours reports whether a host means this daemon. A name that somebody else can point at this
// machine must be refused: a browser would treat their page as one of ours.
func (r *rules) ours(host string) bool {
	host = strings.ToLower(host)
	if slices.Contains(r.hosts, host) {
		return true
	}
	name, port, err := net.SplitHostPort(host)
	switch {
	case err != nil:
		name = host
	case port == "" || strings.Trim(port, "0123456789") != "":
		return false
	}
	if err != nil && strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
		name = name[1 : len(name)-1]
	} else if err != nil && strings.Contains(name, ":") {
		return false // an IPv6 address without its brackets
	}
	if at, err := netip.ParseAddr(name); err == nil {
		return at.IsLoopback() && !at.Is4In6() && at.Zone() == "" && (at.Is6() == strings.Contains(host, "["))
	}
	if name == "localhost" || slices.Contains(r.hosts, name) {
		return true
	}
	return r.vouched && name != "" && !strings.ContainsAny(name, ".@/\\ %")
}

// page reports what is wrong with the page on whose behalf a browser asks. Programs that are not
// browsers name no page.
func (r *rules) page(req *http.Request) error {
	other := func() error {
		return &fault{http.StatusForbidden, &wire.Refusal{
			Problem: "the request comes from a web page that is not allowed to ask",
			Mend:    "if the page is yours, add its origin to server.allowed_origins",
		}}
	}
	origin, given, err := one(req.Header, "Origin")
	if err != nil {
		return err
	}
	allowed := given && slices.Contains(r.origins, strings.ToLower(origin))
	site, told, err := one(req.Header, "Sec-Fetch-Site")
	switch {
	case err != nil:
		return err
	case given && !allowed:
		return other()
	case told && !allowed && site != "same-origin" && site != "none":
		return other()
	case r.crossed.Check(req) != nil:
		return other()
	}
	return nil
}

// What an allowed page may send.
var (
	sentMethods = []string{http.MethodGet, http.MethodPost}
	sentHeaders = []string{"authorization", "content-type", "earshot-identity", "earshot-room"}
)

// share tells the browser that a page may read the answer, if the page is allowed. It returns true
// for a preflight request, which it has answered.
func (r *rules) share(w http.ResponseWriter, req *http.Request) (answered bool, err error) {
	if len(r.origins) == 0 {
		return false, nil
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	origin := req.Header.Get("Origin") // which judge has accepted
	if origin == "" {
		return false, nil
	}
	h.Set("Access-Control-Allow-Origin", origin)
	wants := req.Header.Get("Access-Control-Request-Method")
	if req.Method != http.MethodOptions || wants == "" {
		return false, nil
	}
	if !slices.Contains(sentMethods, wants) {
		return false, &fault{http.StatusForbidden, errors.New("a web page may use only GET and POST")}
	}
	for name := range strings.SplitSeq(strings.ToLower(req.Header.Get("Access-Control-Request-Headers")), ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(sentHeaders, name) {
			return false, &fault{http.StatusForbidden, errors.New("a web page may send no headers except " + strings.Join(sentHeaders, ", "))}
		}
	}
	h.Set("Access-Control-Allow-Methods", strings.Join(sentMethods, ", "))
	h.Set("Access-Control-Allow-Headers", strings.Join(sentHeaders, ", "))
	h.Set("Access-Control-Max-Age", "600")
	if req.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	w.WriteHeader(http.StatusNoContent)
	return true, nil
}
