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

// A routeDescription describes a route, for the OpenAPI description and the audit log. Every route
// has one; see TestEveryRouteIsDescribed.
type routeDescription struct {
	says       string      // what it does, in a sentence
	parameters []parameter // in the address
	in         any         // the zero value of the body; nil if it takes none
	out        any         // the zero value of the answer, if it is JSON
	media      string      // the type of the answer, if it is not one JSON value
	changes    string      // what it changes, in one word; empty if nothing
	faults     []int       // the error statuses besides those of every route
}

// takes reports whether a request may have a parameter with that name.
func (a routeDescription) takes(name string) bool {
	return slices.ContainsFunc(a.parameters, func(p parameter) bool { return p.name == name })
}

// A parameter is a parameter of the query.
type parameter struct {
	name, says string
	kind       reflect.Type
	must, many bool
	least      int
	most       int
}

// The types of answers that are not a single JSON value.
const (
	lines = "application/x-ndjson" // JSON values, one a line; an empty line is a sign of life
	plain = "text/plain"
)

// The parameters of a page.
var (
	paramBefore = parameter{name: "before", says: "Only what happened before this sequence. Take it from the field before of the last page.", kind: reflect.TypeFor[int64](), least: 1}
	paramLimit  = parameter{name: "limit", says: "How many at most; the default is " + strconv.Itoa(usualPage) + ".", kind: reflect.TypeFor[int](), least: 1, most: mostPage}
)

// described describes each route, by method and path.
var described = map[string]routeDescription{
	"POST /v1/messages": {
		says: "Say something in a room. The message is stored before the answer is sent; one sent again with the same ID is kept once. A text that begins with one slash is a command, and is refused; write two slashes to begin a message with one.",
		in:   api.MessageRequest{}, out: api.MessageReceipt{}, changes: "message", faults: []int{409, 422, 503},
	},
	"GET /v1/events": {
		says:       "Follow the events: those after a sequence, and then new ones, until the connection ends. Words that are being said come as events of the kind speech, which are not stored and have no sequence: the next one with the same from replaces them, and the stage over says that none are left.",
		parameters: []parameter{{name: "after", says: "The last sequence that you have already; 0 means none.", kind: reflect.TypeFor[int64]()}},
		out:        earshot.Event{}, media: lines, faults: []int{503},
	},
	"GET /v1/history": {
		says:       "Past events, page by page from the end backwards; each page is in the order in which they happened.",
		parameters: []parameter{paramBefore, paramLimit, {name: "kind", says: "Only events of this kind; the parameter may be repeated.", kind: reflect.TypeFor[earshot.Kind](), many: true}},
		out:        api.HistoryPage{}, faults: []int{503},
	},
	"GET /v1/search": {
		says:       "Messages that contain all of some words, the newest first, each with the words around the match.",
		parameters: []parameter{{name: "q", says: "The words, in any of their English forms; case and accents make no difference. tid* is the beginning of a word, and \"high tide\" a phrase; from:NAME selects the speaker, and on:2026-11-20, since:yesterday and before:monday the time.", kind: reflect.TypeFor[string](), must: true}, paramBefore, paramLimit},
		out:        api.HistoryPage{}, faults: []int{422},
	},
	"GET /v1/decisions": {
		says:       "Why agents spoke, or kept silent, page by page from the end backwards.",
		parameters: []parameter{{name: "agent", says: "Only those of the agent with this name.", kind: reflect.TypeFor[string]()}, paramBefore, paramLimit},
		out:        api.DecisionPage{}, faults: []int{422},
	},
	"GET /v1/live": {
		says: "Follow the state of the room: a whole JSON object at once and after each change, at most 20 a second. A slow reader gets only the current state.",
		out:  api.LiveView{}, media: lines, faults: []int{503},
	},
	"GET /v1/state": {says: "The state of the daemon: who is here, what works and what does not, and which rooms you may enter.", out: api.Status{}, faults: []int{503}},
	"GET /v1/context": {
		says: "What is going on, in the words of a prompt, with ages and sources.",
		out:  []api.SceneEntry{}, faults: []int{503},
	},
	"POST /v1/commands": {says: "Run a command, as at a terminal, without its slash.", in: api.CommandRequest{}, out: api.CommandAnswer{}, changes: "command", faults: []int{422}},
	"POST /v1/attach": {
		says:  "Attach a terminal, for earshot chat. It needs the header Upgrade: " + wire.Protocol + ".",
		media: plain, changes: "terminal", faults: []int{426},
	},
	"GET /v1/agents": {
		says:       "The current agents.",
		parameters: []parameter{{name: "all", says: "1 includes former agents.", kind: reflect.TypeFor[string]()}},
		out:        []api.AgentInfo{}, faults: []int{503},
	},
	"POST /v1/agents": {says: "Make, change or end an agent.", in: agents.Order{}, out: api.AgentInfo{}, changes: "agent", faults: []int{422}},
	"GET /v1/voices":  {says: "The known voices, without their voiceprints.", out: []api.VoiceInfo{}, faults: []int{503}},
	"POST /v1/voices": {says: "Assign a voice to a person, keep it, or forget it.", in: api.VoiceRequest{}, out: api.VoiceChange{}, changes: "voice", faults: []int{422}},
	"POST /v1/look":   {says: "Look once through a camera.", in: api.LookRequest{}, out: api.CameraView{}, changes: "look", faults: []int{422}},
	"POST /v1/hold":   {says: "Hold the push-to-talk key: until the connection ends, what is said at the microphone is for an agent, and a muted room is live. An empty line says that the key is held; further ones are signs of life.", media: plain, changes: "microphone", faults: []int{422}},
	"POST /v1/forget": {says: "Without a digest, say what would be forgotten; with the digest of that answer, forget it. The answer comes when every trace that can be removed is gone.", in: api.EraseRequest{}, out: api.ErasePreview{}, changes: "forget", faults: []int{422}},
	"POST /v1/reload": {says: "Read the configuration again.", out: api.ReloadResult{}, changes: "configuration", faults: []int{422}},
	"GET /v1/diagnostics": {
		says:       "What a bug report needs, without anything that was said and without names.",
		parameters: []parameter{{name: "goroutines", says: "1 adds the stacks of all goroutines.", kind: reflect.TypeFor[string]()}},
		out:        api.Diagnosis{}, faults: []int{503},
	},
	"GET /livez":        {says: "Whether the process is alive, and nothing else.", media: plain},
	"GET /readyz":       {says: "Whether the daemon can do its work: 200, or 503 with what prevents it.", out: api.Readiness{}, faults: []int{503}},
	"GET /metrics":      {says: "Metrics, for Prometheus.", media: plain},
	"GET /openapi.json": {says: "This description.", out: json.RawMessage(nil)},
}

// Error statuses of every route, with their meanings.
var everywhere = map[int]string{
	400: "The request is invalid.",
	401: "The token is missing or not valid.",
	403: "You may not do this, or the request comes from a web page that is not allowed.",
	404: "There is nothing at this path.",
	405: "The path does not support this method; the header Allow lists those it supports.",
	413: "The body is too long.",
	415: "The body is not JSON, or the header Content-Type does not say so.",
	409: "Another message has this ID.",
	422: "The request was understood, but cannot be carried out.",
	426: "The client has another version.",
	429: "Too many requests, or too many wrong tokens; the header Retry-After says in how many seconds to try again.",
	431: "The headers are too long.",
	503: "It cannot be done now; try again later.",
}

// usual are the error statuses that every route has.
var usual = []int{400, 401, 403, 429}

// description serves the OpenAPI description.
func (s *Server) description(w http.ResponseWriter) error {
	text, err := Describe()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text) // a client that has gone does not miss it
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
			return nil, fmt.Errorf("no description of the route %s %s", to.method, to.path)
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
			"description": "The API of a running earshot: over its unix socket, where the kernel identifies the account, or over a port of this machine with a token (server.listen). See docs/api.md.",
		},
		"servers":  []any{map[string]any{"url": "http://127.0.0.1:8765", "description": "the address in server.listen"}},
		"security": []any{map[string]any{"token": []string{}}},
		"paths":    paths,
		"components": map[string]any{
			"schemas":   all.Named(),
			"responses": responses,
			"securitySchemes": map[string]any{"token": map[string]any{
				"type": "http", "scheme": "bearer", "description": "Create one with: earshot token create NAME. Over the socket it is needed only to act as somebody other than the person of the account.",
			}},
			"parameters": map[string]any{
				"identity": header(wire.IdentityHeader, "Who you are, percent-encoded; not needed with a token."),
				"new":      header(wire.NewHeader, "1 if the name may be new, as for somebody who is about to say something. Routes that say something imply it; elsewhere, reading alone makes nobody known."),
				"room":     header(wire.RoomHeader, "The room, percent-encoded; the default is the desk."),
			},
		},
	}, "", "  ")
}

// header describes a header that identifies the client.
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
		responses = map[string]any{"101": map[string]any{"description": "The connection switches to the terminal protocol."}}
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
		says = "Done."
	}
	return map[string]any{"description": says, "content": map[string]any{media: map[string]any{"schema": schema}}}
}

// String says who may use a route.
func (r right) String() string {
	switch r {
	case resident:
		return "every known participant"
	case operator:
		return "operators of earshot"
	case watcher:
		return "operators of earshot, and at the socket whoever is at the desk"
	case scraper:
		return "operators of earshot, and other systems that it knows"
	case anybody:
		return "anybody, even without a token"
	}
	return "nobody"
}

// kinds are the kinds of all bodies of events.
var kinds = []earshot.Kind{
	earshot.KindMessage, earshot.KindRevision, earshot.KindWithdrawal, earshot.KindTyping, earshot.KindSpeech, earshot.KindUtterance,
	earshot.KindPresence, earshot.KindCommand, earshot.KindDecision, earshot.KindReply, earshot.KindNotice, earshot.KindMemo,
	earshot.KindMode, earshot.KindActor, earshot.KindAgent, earshot.KindUse, earshot.KindReminder, earshot.KindThought,
	earshot.KindFinding, earshot.KindEdit, earshot.KindSnooze, earshot.KindWhose, earshot.KindErased, earshot.KindSettled,
	earshot.KindSight, earshot.KindGlance, earshot.KindForgotten,
}

// eventSchema describes an event, which has its own JSON encoding: its fields, and its body beside
// its kind. Only stored events and words being said are ever sent.
func eventSchema(all *openapi.Schemas) openapi.Schema {
	type fields earshot.Event // without the methods
	event := all.Of(reflect.TypeFor[struct{ fields }]())
	properties, _ := event["properties"].(map[string]openapi.Schema)
	var names []string
	var bodies []any
	for _, kind := range kinds {
		body, err := earshot.DecodeBody(kind, []byte("{}"))
		if err != nil {
			panic(fmt.Sprintf("server: %v", err)) // the kind does not exist
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
	properties["body"] = openapi.Schema{"type": "object", "description": "depends on the kind"}
	event["required"] = append(event["required"].([]string), "kind", "body")
	event["oneOf"] = bodies
	return event
}
