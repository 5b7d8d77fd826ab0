package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"earshot"
	"earshot/api"
	"earshot/participants/agents"
	"earshot/server/openapi"
	"earshot/server/wire"
)

// A routeDescription is what a route is, for the description and for what is written down about
// requests. A route without one is not there; see TestEveryRouteIsDescribed.
type routeDescription struct {
	says       string      // what it does, in a sentence
	parameters []parameter // in the address
	in         any         // the zero value of the body; nil without one
	out        any         // the zero value of the answer, if it is JSON
	media      string      // what the answer is, if it is not one JSON value
	changes    string      // what it changes, in a word; empty if nothing
	faults     []int       // with which it can be refused, besides those of every route
}

// takes reports whether a request may have a parameter of that name.
func (a routeDescription) takes(name string) bool {
	return slices.ContainsFunc(a.parameters, func(p parameter) bool { return p.name == name })
}

// A parameter is one of an address.
type parameter struct {
	name, says string
	kind       reflect.Type
	must, many bool
	least      int
	most       int
}

// What answers are that are no single JSON value.
const (
	lines = "application/x-ndjson" // JSON values, one a line; an empty line is a sign of life
	plain = "text/plain"
)

// The parameters of a page.
var (
	paramBefore = parameter{name: "before", says: "Only what happened before this sequence: the field before of the page after it.", kind: reflect.TypeFor[int64](), least: 1}
	paramLimit  = parameter{name: "limit", says: "How many at most; " + strconv.Itoa(usualPage) + " if it is not there.", kind: reflect.TypeFor[int](), least: 1, most: mostPage}
)

// described says what each route is, by its method and path.
var described = map[string]routeDescription{
	"POST /v1/messages": {
		says: "Say something in a room. It is kept when the answer comes; a message with an ID that is there already is kept once. A text that begins with one slash is a command, and is refused; one that begins with two begins with one.",
		in:   api.MessageRequest{}, out: api.MessageReceipt{}, changes: "message", faults: []int{409, 422, 503},
	},
	"GET /v1/events": {
		says:       "Follow what happens: what has happened after a sequence, and then what comes, until the connection ends. Words that are being said come as events of the kind speech, which are kept nowhere and have no sequence: the next one with the same from takes their place, and the stage over says that there are none any more.",
		parameters: []parameter{{name: "after", says: "The last sequence that is known already; 0 is none.", kind: reflect.TypeFor[int64]()}},
		out:        earshot.Event{}, media: lines, faults: []int{503},
	},
	"GET /v1/history": {
		says:       "What has happened, page by page from the end backwards; each page is in the order in which it happened.",
		parameters: []parameter{paramBefore, paramLimit, {name: "kind", says: "Only events of this kind; it may stand there several times.", kind: reflect.TypeFor[earshot.Kind](), many: true}},
		out:        api.HistoryPage{}, faults: []int{503},
	},
	"GET /v1/search": {
		says:       "What was said with all of some words, the newest first, and the words around them.",
		parameters: []parameter{{name: "q", says: "The words, in any of their English forms; case and accents make no difference. tid* is the beginning of a word, \"high tide\" are words that follow one another; from:NAME says who said it, and on:2026-11-20, since:yesterday and before:monday say when.", kind: reflect.TypeFor[string](), must: true}, paramBefore, paramLimit},
		out:        api.HistoryPage{}, faults: []int{422},
	},
	"GET /v1/decisions": {
		says:       "Why agents spoke, or kept silent, from the end backwards.",
		parameters: []parameter{{name: "agent", says: "Only those of the agent that is called so.", kind: reflect.TypeFor[string]()}, paramBefore, paramLimit},
		out:        api.DecisionPage{}, faults: []int{422},
	},
	"GET /v1/live": {
		says: "See how everything is, as it changes: a whole JSON object each time, at once first and at most 20 a second. Who is slow is shown what is, and not what was.",
		out:  api.LiveView{}, media: lines, faults: []int{503},
	},
	"GET /v1/state": {says: "How everything is: who is here, what works and what does not, and which rooms you may enter.", out: api.Status{}, faults: []int{503}},
	"GET /v1/context": {
		says: "What is going on, as a prompt would say it, with ages and sources.",
		out:  []api.SceneEntry{}, faults: []int{503},
	},
	"POST /v1/commands": {says: "Give a command, as at a terminal, without its slash.", in: api.CommandRequest{}, out: api.CommandAnswer{}, changes: "command", faults: []int{422}},
	"POST /v1/attach": {
		says:  "Make the connection that of a terminal, which is for earshot chat: it takes the header Upgrade: " + wire.Protocol + ".",
		media: plain, changes: "terminal", faults: []int{426},
	},
	"GET /v1/agents": {
		says:       "The agents that there are.",
		parameters: []parameter{{name: "all", says: "1 for those that were, too.", kind: reflect.TypeFor[string]()}},
		out:        []api.AgentInfo{}, faults: []int{503},
	},
	"POST /v1/agents": {says: "Make, change or end an agent.", in: agents.Order{}, out: api.AgentInfo{}, changes: "agent", faults: []int{422}},
	"GET /v1/voices":  {says: "The voices that are known, without what they sound like.", out: []api.VoiceInfo{}, faults: []int{503}},
	"POST /v1/voices": {says: "Say whose a voice is, keep it, or forget it.", in: api.VoiceRequest{}, out: api.VoiceChange{}, changes: "voice", faults: []int{422}},
	"POST /v1/look":   {says: "Look once through a camera.", in: api.LookRequest{}, out: api.CameraView{}, changes: "look", faults: []int{422}},
	"POST /v1/hold":   {says: "Hold the key to talk: until the connection ends, what is said at the microphone is for an agent, and a muted room is live. An empty line says that it is so, and others come as signs of life.", media: plain, changes: "microphone", faults: []int{422}},
	"POST /v1/forget": {says: "Say what would be forgotten, without a digest; or forget it, with the digest of what was said. It answers when no trace of it is left that can be removed.", in: api.EraseRequest{}, out: api.ErasePreview{}, changes: "forget", faults: []int{422}},
	"POST /v1/reload": {says: "Have the configuration read again.", out: api.ReloadResult{}, changes: "configuration", faults: []int{422}},
	"GET /v1/diagnostics": {
		says:       "What a report of a fault needs, without a word that anybody said and without anybody's name.",
		parameters: []parameter{{name: "goroutines", says: "1 for what every goroutine is at.", kind: reflect.TypeFor[string]()}},
		out:        api.Diagnosis{}, faults: []int{503},
	},
	"GET /livez":        {says: "Whether the process answers, and nothing else.", media: plain},
	"GET /readyz":       {says: "Whether the house can do its work: 200, or 503 with what keeps it from that.", out: api.Readiness{}, faults: []int{503}},
	"GET /metrics":      {says: "What is counted, for Prometheus.", media: plain},
	"GET /openapi.json": {says: "This description.", out: json.RawMessage(nil)},
}

// Faults of every route, with what they mean.
var everywhere = map[int]string{
	400: "The request is not as it should be.",
	401: "There is no token, or it does not hold.",
	403: "You may not, or a page in a browser has asked that is not among those that may.",
	404: "There is nothing at this path.",
	405: "The path is not asked by this method; the header Allow says by which.",
	413: "The body is too long.",
	415: "The body is not JSON, or does not say so.",
	409: "Another message has that ID.",
	422: "It was understood, and cannot be done.",
	426: "The program that asks is of another version.",
	429: "You ask too much, or too many wrong tokens have come; the header Retry-After says in how many seconds to ask again.",
	431: "The headers are too long.",
	503: "It cannot be done now.",
}

// usual are the faults that every route has.
var usual = []int{400, 401, 403, 429}

// description answers with the description.
func (s *Server) description(w http.ResponseWriter) error {
	text, err := Describe()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text) // whoever has gone does not miss it
	return nil
}

// Describe returns the description of all routes, as OpenAPI 3.1.
func Describe() ([]byte, error) {
	var all openapi.Schemas
	all.Own(reflect.TypeFor[earshot.Event](), func() openapi.Schema { return eventSchema(&all) })
	paths := make(map[string]map[string]any)
	for _, to := range routes {
		is, ok := described[to.method+" "+to.path]
		if !ok {
			return nil, fmt.Errorf("nobody says what %s %s is", to.method, to.path)
		}
		if paths[to.path] == nil {
			paths[to.path] = make(map[string]any)
		}
		paths[to.path][strings.ToLower(to.method)] = operation(&all, to, is)
	}
	refused := all.Of(reflect.TypeFor[api.Refusal]())
	responses := make(map[string]any)
	for status, means := range everywhere {
		responses["e"+strconv.Itoa(status)] = map[string]any{
			"description": means,
			"content":     map[string]any{"application/json": map[string]any{"schema": refused}},
		}
	}
	return json.MarshalIndent(map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title":       "earshot",
			"version":     "1",
			"description": "What a program can ask of the earshot that runs: over its unix socket, where the kernel says whose account it is, or over a port of this machine with a token (server.listen). See docs/api.md.",
		},
		"servers":  []any{map[string]any{"url": "http://127.0.0.1:8765", "description": "where server.listen says"}},
		"security": []any{map[string]any{"token": []string{}}},
		"paths":    paths,
		"components": map[string]any{
			"schemas":   all.Named(),
			"responses": responses,
			"securitySchemes": map[string]any{"token": map[string]any{
				"type": "http", "scheme": "bearer", "description": "earshot token create NAME makes one. Over the socket it is asked for only to be somebody else than the person of the account.",
			}},
			"parameters": map[string]any{
				"identity": header(wire.IdentityHeader, "Who you say that you are, percent-encoded; with a token it is you anyway."),
				"new":      header(wire.NewHeader, "1 if the name may be one that nobody has yet, as of who is about to say something. It is taken for granted where something is said; elsewhere nobody comes to be known by looking."),
				"room":     header(wire.RoomHeader, "In which room, percent-encoded; without it, at the desk."),
			},
		},
	}, "", "  ")
}

// header describes a header that says who asks.
func header(name, says string) map[string]any {
	return map[string]any{"name": name, "in": "header", "description": says, "schema": openapi.Schema{"type": "string"}}
}

// operation describes a route.
func operation(all *openapi.Schemas, to route, is routeDescription) map[string]any {
	op := map[string]any{"summary": is.says, "operationId": operationID(to), "x-right": to.right.String()}
	parameters := []any{map[string]any{"$ref": "#/components/parameters/identity"}, map[string]any{"$ref": "#/components/parameters/room"}, map[string]any{"$ref": "#/components/parameters/new"}}
	if to.right == anybody {
		parameters, op["security"] = nil, []any{}
	}
	for _, p := range is.parameters {
		parameters = append(parameters, p.describe(all))
	}
	if parameters != nil {
		op["parameters"] = parameters
	}
	if is.in != nil {
		op["requestBody"] = map[string]any{
			"required": true,
			"content":  map[string]any{"application/json": map[string]any{"schema": all.Of(reflect.TypeOf(is.in))}},
		}
	}
	responses := map[string]any{"200": is.answer(all)}
	if to.path == wire.AttachPath {
		responses = map[string]any{"101": map[string]any{"description": "From here it is the protocol of a terminal."}}
	}
	faults := slices.Concat(usual, is.faults)
	if is.in != nil {
		faults = append(faults, 413, 415)
	}
	if to.right == anybody {
		faults = []int{400, 403, 429}
	}
	for _, status := range faults {
		responses[strconv.Itoa(status)] = map[string]any{"$ref": "#/components/responses/e" + strconv.Itoa(status)}
	}
	op["responses"] = responses
	return op
}

// operationID names a route in one word, such as getHistory.
func operationID(to route) string {
	id := strings.ToLower(to.method)
	for _, part := range strings.FieldsFunc(to.path, func(r rune) bool { return r == '/' || r == '.' }) {
		if part != "v1" {
			id += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return id
}

// describe describes a parameter.
func (p parameter) describe(all *openapi.Schemas) map[string]any {
	schema := all.Of(p.kind)
	if p.least != 0 {
		schema["minimum"] = p.least
	}
	if p.most != 0 {
		schema["maximum"] = p.most
	}
	if p.many {
		schema = openapi.Schema{"type": "array", "items": schema}
	}
	d := map[string]any{"name": p.name, "in": "query", "description": p.says, "schema": schema}
	if p.must {
		d["required"] = true
	}
	return d
}

// answer describes the answer.
func (a routeDescription) answer(all *openapi.Schemas) map[string]any {
	media, schema := a.media, openapi.Schema{}
	if media == "" {
		media = "application/json"
	}
	if a.out != nil {
		schema = all.Of(reflect.TypeOf(a.out))
	}
	says := map[string]string{
		lines: "JSON values, one a line; an empty line is a sign of life.",
		plain: "Text.",
	}[media]
	if says == "" {
		says = "It was done."
	}
	return map[string]any{"description": says, "content": map[string]any{media: map[string]any{"schema": schema}}}
}

// String says who may use a route.
func (r right) String() string {
	switch r {
	case resident:
		return "everybody who is known"
	case operator:
		return "who may operate earshot"
	case watcher:
		return "who may operate earshot, and at the socket who is at the desk"
	case scraper:
		return "who may operate earshot, and other systems that it knows"
	case anybody:
		return "anybody, also without a token"
	}
	return "nobody"
}

// kinds are those of all bodies of events.
var kinds = []earshot.Kind{
	earshot.KindMessage, earshot.KindRevision, earshot.KindWithdrawal, earshot.KindTyping, earshot.KindSpeech, earshot.KindUtterance,
	earshot.KindPresence, earshot.KindCommand, earshot.KindDecision, earshot.KindReply, earshot.KindNotice, earshot.KindMemo,
	earshot.KindMode, earshot.KindActor, earshot.KindAgent, earshot.KindUse, earshot.KindReminder, earshot.KindThought,
	earshot.KindFinding, earshot.KindEdit, earshot.KindSnooze, earshot.KindWhose, earshot.KindErased, earshot.KindSettled,
	earshot.KindSight, earshot.KindGlance, earshot.KindForgotten,
}

// eventSchema describes an event, which writes itself: its fields, and its body beside
// its kind. Only what is kept is ever told, and words that are being said.
func eventSchema(all *openapi.Schemas) openapi.Schema {
	type fields earshot.Event // without the methods
	event := all.Of(reflect.TypeFor[struct{ fields }]())
	properties, _ := event["properties"].(map[string]openapi.Schema)
	var names []string
	var bodies []any
	for _, kind := range kinds {
		body, err := earshot.DecodeBody(kind, []byte("{}"))
		if err != nil {
			panic(fmt.Sprintf("server: %v", err)) // there is no such kind
		}
		if !kind.Durable() && kind != earshot.KindSpeech {
			continue
		}
		names = append(names, string(kind))
		bodies = append(bodies, map[string]any{"properties": map[string]any{
			"kind": openapi.Schema{"const": kind}, "body": all.Of(reflect.TypeOf(body)),
		}})
	}
	properties["kind"] = openapi.Schema{"type": "string", "enum": names}
	properties["body"] = openapi.Schema{"type": "object", "description": "as the kind says"}
	event["required"] = append(event["required"].([]string), "kind", "body")
	event["oneOf"] = bodies
	return event
}
