package discordtest

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	longestContent = 2000     // characters
	largestRequest = 26 << 20 // bytes
)

var apiPrefix = regexp.MustCompile(`^/api(/v(9|10))?/`)

// routes answers REST, and opens the main gateway, which has the same address.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	with := func(pattern string, f func(x *exchange)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.exchange(w, r, f) })
	}
	with("GET /gateway", func(x *exchange) { x.ok(object{"url": s.gatewayURL()}) })
	with("GET /gateway/bot", func(x *exchange) {
		x.ok(object{"url": s.gatewayURL(), "shards": s.cfg.Shards, "session_start_limit": object{
			"total": 1000, "remaining": 1000 - len(s.accounts[x.user.ID].identified), "reset_after": 86400000, "max_concurrency": 1,
		}})
	})
	with("GET /users/@me", func(x *exchange) { x.ok(x.user.object()) })
	with("GET /users/{user}", func(x *exchange) { x.ok(x.someone().object()) })
	with("GET /users/@me/guilds", func(x *exchange) {
		x.ok([]object{{"id": id(s.guild.ID), "name": s.guild.Name, "icon": nil, "owner": false, "permissions": id(everything), "features": []string{}}})
	})
	with("GET /applications/@me", func(x *exchange) { x.ok(s.applicationObject(x.user)) })
	with("GET /applications/{application}/commands", (*exchange).listCommands)
	with("PUT /applications/{application}/commands", (*exchange).putCommands)
	with("GET /applications/{application}/guilds/{guild}/commands", (*exchange).listCommands)
	with("PUT /applications/{application}/guilds/{guild}/commands", (*exchange).putCommands)

	with("POST /interactions/{interaction}/{token}/callback", (*exchange).callback)
	with("GET /webhooks/{application}/{token}/messages/@original", func(x *exchange) { x.ofInteraction(x.original) })
	with("PATCH /webhooks/{application}/{token}/messages/@original", func(x *exchange) { x.ofInteraction(x.changeOriginal) })
	with("POST /webhooks/{application}/{token}", func(x *exchange) { x.ofInteraction(x.followUp) })
	with("POST /users/@me/channels", (*exchange).openDirect)

	with("GET /guilds/{guild}/channels", func(x *exchange) { x.inGuild(func() { x.ok(s.channelObjects(false)) }) })
	with("GET /guilds/{guild}/members/{user}", func(x *exchange) { x.inGuild(func() { x.ok(s.memberObject(x.someone())) }) })

	with("GET /channels/{channel}", func(x *exchange) { x.inChannel(ViewChannel, func(c *Channel) { x.ok(s.channelObject(c)) }) })
	with("GET /channels/{channel}/messages", func(x *exchange) { x.inChannel(ViewChannel, x.history) })
	with("POST /channels/{channel}/messages", func(x *exchange) { x.inChannel(SendMessages, x.post) })
	with("GET /channels/{channel}/messages/{message}", func(x *exchange) {
		x.inChannel(ReadMessageHistory, func(*Channel) {
			x.ofMessage(func(m *Message) { x.ok(s.messageObject(m, true)) })
		})
	})
	with("PATCH /channels/{channel}/messages/{message}", func(x *exchange) { x.ofMessage(x.editOwn) })
	with("DELETE /channels/{channel}/messages/{message}", func(x *exchange) { x.ofMessage(x.removeOwn) })
	with("POST /channels/{channel}/typing", func(x *exchange) {
		x.inChannel(SendMessages, func(c *Channel) {
			s.types(x.user, c)
			x.nothing()
		})
	})
	with("/", func(x *exchange) { x.fail(http.StatusNotFound, 0, "404: Not Found") })

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		prefix := apiPrefix.FindString(r.URL.Path)
		switch {
		case r.URL.Path == "/gateway" || r.URL.Path == "/gateway/" || r.URL.Path == "/":
			s.openGateway(w, r)
		case prefix == "":
			http.NotFound(w, r)
		default:
			r.URL.Path = r.URL.Path[len(prefix)-1:]
			r.URL.RawPath = ""
			mux.ServeHTTP(w, r)
		}
	})
}

// An exchange is a request and its answer.
type exchange struct {
	*Server
	w    http.ResponseWriter
	r    *http.Request
	user *User // who asks; nil if that does not matter

	body  []byte
	files []File

	status int
	answer []byte
}

// exchange answers a request.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request, answer func(x *exchange)) {
	x := &exchange{Server: s, w: w, r: r}
	err := x.read()
	s.mu.Lock()
	s.decide(x, err, answer)
	lost := x.user != nil && s.lose > 0
	if lost {
		s.lose--
	}
	s.mu.Unlock()
	if lost {
		panic(http.ErrAbortHandler) // cut the connection
	}
	w.WriteHeader(x.status)
	_, _ = w.Write(x.answer)
}

// decide produces the answer, which is written after the mutex is released.
func (s *Server) decide(x *exchange, bodyErr error, answer func(x *exchange)) {
	r := x.r
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	if len(s.requests) > kept {
		s.requests = s.requests[1:]
	}
	if open := r.URL.Path == "/gateway"; !open {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if x.user = s.userByToken(token); scheme != "Bot" || x.user == nil {
			x.fail(http.StatusUnauthorized, 0, "401: Unauthorized")
			return
		}
	}
	if len(s.limits) > 0 {
		wait := s.limits[0]
		s.limits = s.limits[1:]
		x.limit(wait)
		return
	}
	if s.broken > 0 {
		s.broken--
		x.fail(http.StatusServiceUnavailable, 0, "503: Service Unavailable: "+r.Header.Get("Authorization")+" "+string(x.body))
		return
	}
	if bodyErr != nil {
		x.fail(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
		return
	}
	answer(x)
}

// read reads the body: JSON, or a form with JSON and files.
func (x *exchange) read() (err error) {
	body := http.MaxBytesReader(x.w, x.r.Body, largestRequest)
	kind, params, _ := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		if x.body, err = io.ReadAll(body); err == nil && len(x.body) > 0 && !json.Valid(x.body) {
			err = errors.New("invalid JSON")
		}
		return err
	}
	form := multipart.NewReader(body, params["boundary"])
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(part)
		switch {
		case err != nil:
			return err
		case part.FormName() == "payload_json":
			x.body = data
		default:
			x.files = append(x.files, File{Name: part.FileName(), Data: data})
		}
	}
}

func (x *exchange) write(code int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // ours
	}
	x.w.Header().Set("Content-Type", "application/json")
	x.status, x.answer = code, b
}

func (x *exchange) ok(v any) { x.write(http.StatusOK, v) }

func (x *exchange) nothing() { x.status, x.answer = http.StatusNoContent, nil }

func (x *exchange) fail(status, code int, message string) {
	x.write(status, object{"message": message, "code": code})
}

func (x *exchange) invalid() { x.fail(http.StatusBadRequest, 50035, "Invalid Form Body") }

// parse reads the body of a request as JSON, or refuses it.
func (x *exchange) parse(into any) bool {
	if json.Unmarshal(x.body, into) != nil {
		x.invalid()
		return false
	}
	return true
}

// limit tells a client that it is rate limited.
func (x *exchange) limit(wait time.Duration) {
	h := x.w.Header()
	h.Set("X-RateLimit-Limit", "5")
	h.Set("X-RateLimit-Remaining", "0")
	h.Set("X-RateLimit-Reset-After", strconv.FormatFloat(wait.Seconds(), 'f', 3, 64))
	h.Set("X-RateLimit-Reset", strconv.FormatFloat(float64(time.Now().Add(wait).UnixMilli())/1000, 'f', 3, 64))
	h.Set("X-RateLimit-Bucket", "bucket")
	h.Set("X-RateLimit-Scope", "user")
	h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	x.write(http.StatusTooManyRequests, object{"message": "You are being rate limited.", "retry_after": wait.Seconds(), "global": false})
}

// someone is the user in a path, or the author of the request for "@me".
func (x *exchange) someone() *User {
	if a := x.accounts[number(x.r.PathValue("user"))]; a != nil {
		return a.user
	}
	return x.user
}

func (x *exchange) inGuild(f func()) {
	if number(x.r.PathValue("guild")) != x.guild.ID {
		x.fail(http.StatusNotFound, 10004, "Unknown Guild")
		return
	}
	f()
}

func (x *exchange) inChannel(permission uint64, f func(c *Channel)) {
	c := x.channel(number(x.r.PathValue("channel")))
	switch {
	case c == nil:
		x.fail(http.StatusNotFound, 10003, "Unknown Channel")
	case !c.sees(x.user.ID):
		x.fail(http.StatusForbidden, 50001, "Missing Access")
	case c.deny[x.user.ID]&permission != 0:
		x.fail(http.StatusForbidden, 50013, "Missing Permissions")
	default:
		f(c)
	}
}

func (x *exchange) ofMessage(f func(m *Message)) {
	x.inChannel(ViewChannel, func(c *Channel) {
		if m := x.find(c.ID, number(x.r.PathValue("message"))); m != nil {
			f(m)
			return
		}
		x.fail(http.StatusNotFound, 10008, "Unknown Message")
	})
}

func (s *Server) applicationObject(u *User) object {
	flags := 0
	if u.Privileged {
		flags = 1<<13 | 1<<15 | 1<<19 // presences, members, content; each the limited form
	}
	return object{
		"id": id(u.ID), "name": u.Name, "icon": nil, "description": "", "bot_public": true, "bot_require_code_grant": false,
		"owner": s.accounts[s.guild.Owner].user.object(), "verify_key": "", "team": nil, "flags": flags, "summary": "",
	}
}

func (x *exchange) putCommands() {
	var all []object
	if json.Unmarshal(x.body, &all) != nil || len(all) > mostCommands || slices.ContainsFunc(all, func(c object) bool { return !proper(c) }) {
		x.invalid()
		return
	}
	for _, c := range all {
		c["id"], c["application_id"], c["version"] = id(x.snowflake()), id(x.user.ID), id(x.snowflake())
	}
	x.commands[number(x.r.PathValue("guild"))] = all
	x.ok(all)
}

func (x *exchange) listCommands() {
	if all := x.commands[number(x.r.PathValue("guild"))]; all != nil {
		x.ok(all)
		return
	}
	x.ok([]object{})
}

// mostCommands is how many an application can offer in one place.
const mostCommands = 100

var commandName = regexp.MustCompile(`^[-_\p{Ll}\p{Lo}\p{N}]{1,32}$`)

// proper reports whether Discord accepts a command.
func proper(c object) bool {
	name, _ := c["name"].(string)
	help, _ := c["description"].(string)
	if c == nil || !commandName.MatchString(name) || help == "" || utf8.RuneCountInString(help) > 100 {
		return false
	}
	options, _ := c["options"].([]any)
	for _, o := range options {
		o, _ := o.(object)
		if o["type"] == nil || o["name"] == nil || o["name"] == "" || o["description"] == nil || o["description"] == "" {
			return false
		}
	}
	return true
}

// RateLimit refuses the next requests with 429, each with a time to wait.
func (s *Server) RateLimit(waits ...time.Duration) {
	s.with(func() { s.limits = append(s.limits, waits...) })
}

// Break answers the next requests with 503, and does not carry them out. The answer repeats the
// request and its token.
func (s *Server) Break(times int) { s.with(func() { s.broken = times }) }

// LoseAnswers carries out the next requests and loses their answers.
func (s *Server) LoseAnswers(times int) { s.with(func() { s.lose = times }) }

// Requests returns the REST requests so far: the method and the path.
func (s *Server) Requests() (list []string) {
	s.with(func() { list = slices.Clone(s.requests) })
	return list
}
