package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"earshot"
	"earshot/server/openapi"
	"earshot/server/wire"
)

// A routeDescription describes a route, for the OpenAPI description and the audit log.
type routeDescription struct {
	says       string      // what it does, in a sentence
	parameters []parameter // in the address
	media      string      // the type of the answer, if it is not one JSON value
	changes    string      // what it changes, in one word; empty if nothing
	faults     []int       // the error statuses besides those of every route, and of the endpoint
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
		if paths[to.path] == nil {
			paths[to.path] = make(map[string]any)
		}
		paths[to.path][strings.ToLower(to.method)] = operation(&all, to)
	}
	refused := all.Of(reflect.TypeFor[wire.Refusal]())
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
func operation(all *openapi.Schemas, to route) map[string]any {
	op := map[string]any{"summary": to.says, "operationId": operationID(to), "x-right": rightHolders[to.right]}
	parameters := []any{map[string]any{"$ref": "#/components/parameters/identity"}, map[string]any{"$ref": "#/components/parameters/room"}, map[string]any{"$ref": "#/components/parameters/new"}}
	if to.right == anybody {
		parameters, op["security"] = nil, []any{}
	}
	for _, p := range to.parameters {
		parameters = append(parameters, p.describe(all))
	}
	if parameters != nil {
		op["parameters"] = parameters
	}
	if to.in != nil {
		op["requestBody"] = map[string]any{
			"required": true,
			"content":  map[string]any{"application/json": map[string]any{"schema": all.Of(reflect.TypeOf(to.in))}},
		}
	}
	responses := map[string]any{"200": to.describeAnswer(all)}
	if to.path == wire.AttachPath {
		responses = map[string]any{"101": map[string]any{"description": "The connection switches to the terminal protocol."}}
	}
	faults := slices.Concat(usual, to.faults)
	if to.failed != 0 {
		faults = append(faults, to.failed)
	}
	if to.in != nil {
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

// describeAnswer describes the answer.
func (to route) describeAnswer(all *openapi.Schemas) map[string]any {
	media, schema := cmp.Or(to.media, "application/json"), openapi.Schema{}
	if to.out != nil {
		schema = all.Of(reflect.TypeOf(to.out))
	}
	says := cmp.Or(map[string]string{
		lines: "JSON values, one a line; an empty line is a sign of life.",
		plain: "Text.",
	}[media], "Done.")
	return map[string]any{"description": says, "content": map[string]any{media: map[string]any{"schema": schema}}}
}

// rightHolders says who may use a route.
var rightHolders = map[right]string{
	nobody:   "nobody",
	resident: "every known participant",
	operator: "operators of earshot",
	watcher:  "operators of earshot, and at the socket whoever is at the desk",
	scraper:  "operators of earshot, and other systems that it knows",
	anybody:  "anybody, even without a token",
}

// kinds are the kinds of all bodies of events.
var kinds = []earshot.Kind{
	earshot.KindMessage, earshot.KindRevision, earshot.KindWithdrawal, earshot.KindTyping, earshot.KindSpeech, earshot.KindUtterance,
	earshot.KindPresence, earshot.KindCommand, earshot.KindDecision, earshot.KindReply, earshot.KindNotice, earshot.KindMemo,
	earshot.KindMode, earshot.KindActor, earshot.KindAgent, earshot.KindUse, earshot.KindReminder, earshot.KindThought,
	earshot.KindFinding, earshot.KindEdit, earshot.KindSnooze, earshot.KindWhose, earshot.KindErased, earshot.KindSettled,
	earshot.KindSight, earshot.KindGlance, earshot.KindForgotten, earshot.KindFact, earshot.KindSummary,
	earshot.KindTask, earshot.KindStep, earshot.KindSchedule,
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
