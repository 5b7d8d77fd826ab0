package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/server"
)

// TestEveryRouteIsDescribed: every route is described, and everything described is a route.
func TestEveryRouteIsDescribed(t *testing.T) {
	var routes []string
	for _, r := range server.AllRoutes() {
		routes = append(routes, r.Method+" "+r.Path)
	}
	slices.Sort(routes)
	described := server.Described()
	for _, name := range described {
		if !slices.Contains(routes, name) {
			t.Errorf("%s is described, and is not there", name)
		}
	}
	for i, name := range routes {
		if !slices.Contains(described, name) {
			t.Errorf("%s is not described in server/describe.go", name)
		}
		if i > 0 && routes[i-1] == name {
			t.Errorf("%s is there twice", name)
		}
	}
	if t.Failed() {
		return
	}
	text, err := server.Describe()
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Paths map[string]map[string]struct{ Summary, OperationID string }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	n, ids := 0, make(map[string]bool)
	for path, methods := range d.Paths {
		for method, is := range methods {
			n++
			if !slices.Contains(routes, strings.ToUpper(method)+" "+path) || is.Summary == "" || ids[is.OperationID] {
				t.Errorf("%s %s: %+v", method, path, is)
			}
			ids[is.OperationID] = true
		}
	}
	if n != len(routes) {
		t.Errorf("%d routes are described, and there are %d", n, len(routes))
	}
}

// TestTheDescriptionHoldsTogether: every reference in the description leads somewhere, and the
// server sends that same description.
func TestTheDescriptionHoldsTogether(t *testing.T) {
	text, err := server.Describe()
	if err != nil {
		t.Fatal(err)
	}
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`"\$ref": "#/([^"]*)"`).FindAllStringSubmatch(string(text), -1) {
		var at any = whole
		for part := range strings.SplitSeq(m[1], "/") {
			object, _ := at.(map[string]any)
			at = object[part]
		}
		if at == nil {
			t.Errorf("nothing is at %s", m[1])
		}
	}
	p := listen(t, server.Config{})
	resp, _ := p.send(t, p.bytesOf("GET /openapi.json HTTP/1.1\nHost: HOST\nANN\n\n"))
	if resp == nil || resp.StatusCode != 200 || resp.ContentLength != int64(len(text)) {
		t.Errorf("answered %v, and it has %d bytes", resp, len(text))
	}
}

// TestKindsAreComplete: every kind of event is described.
func TestKindsAreComplete(t *testing.T) {
	source, err := os.ReadFile("../event.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\tKind\w+ +Kind = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	var want []earshot.Kind
	for _, m := range found {
		want = append(want, earshot.Kind(m[1]))
	}
	got := slices.Clone(server.Kinds)
	slices.Sort(want)
	slices.Sort(got)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("described are %v; there are %v", got, want)
	}
}

// whole returns a value of a type in which every field is set.
func whole(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(whole(t.Elem()).Addr())
	case reflect.Slice:
		v.Set(reflect.Append(v, whole(t.Elem())))
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				v.Field(i).Set(whole(t.Field(i).Type))
			}
		}
	default:
		panic(t)
	}
	return v
}

// TestBodiesAreAsDescribed: each route accepts all fields of its described body, and no others.
func TestBodiesAreAsDescribed(t *testing.T) {
	p := listen(t, server.Config{})
	for route, in := range server.Bodies() {
		method, path, _ := strings.Cut(route, " ")
		body, err := json.Marshal(whole(reflect.TypeOf(in)).Interface())
		if err != nil {
			t.Fatal(err)
		}
		const none = "not a valid JSON object"
		for _, tt := range []struct {
			body    string
			refused bool
		}{{string(body), false}, {strings.TrimSuffix(string(body), "}") + `,"another":1}`, true}, {"[]", true}} {
			resp, answer := p.send(t, p.bytesOf(fmt.Sprintf("%s %s HTTP/1.1\nHost: HOST\nKIM\nContent-Type: application/json\nContent-Length: %d\n\n", method, path, len(tt.body)))+tt.body)
			if resp == nil || strings.Contains(answer, none) != tt.refused || resp.StatusCode == 403 || resp.StatusCode == 404 {
				t.Errorf("%s of %s: %v, %s", route, tt.body, resp, answer)
			}
		}
	}
}

// TestAnswersAreAsDescribed: the answer of each route has exactly the fields of its described type.
func TestAnswersAreAsDescribed(t *testing.T) {
	p := listen(t, server.Config{})
	fill(t, p.house, 3)
	asks := map[string]string{
		"POST /v1/messages": `{"text":"x"}`, "POST /v1/commands": `{"name":"who"}`, "GET /v1/search": "?q=1", "GET /v1/decisions": "?limit=3",
		"POST /v1/agents": "{}", "POST /v1/cluster": "{}", "POST /v1/voices": "{}", "POST /v1/look": "{}", "POST /v1/forget": "{}",
	}
	for route, out := range server.AnswerTypes() {
		method, path, _ := strings.Cut(route, " ")
		if path == "/v1/events" || path == "/v1/live" || path == "/openapi.json" {
			continue // endless answers and the description have tests of their own
		}
		raw := route + asks[route] + " HTTP/1.1\nHost: HOST\nKIM\n\n"
		if method == "POST" {
			raw = fmt.Sprintf("%s HTTP/1.1\nHost: HOST\nKIM\nContent-Type: application/json\nContent-Length: %d\n\n%s", route, len(asks[route]), asks[route])
		}
		resp, answer := p.send(t, p.bytesOf(raw))
		if resp == nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %v, %s", route, resp, answer)
			continue
		}
		into := reflect.New(reflect.TypeOf(out))
		d := json.NewDecoder(strings.NewReader(answer))
		d.DisallowUnknownFields()
		if err := d.Decode(into.Interface()); err != nil {
			t.Errorf("%s answers %s: %v", route, answer, err)
		}
		if again, err := json.Marshal(into.Interface()); err != nil || !bytes.Equal(again, []byte(strings.TrimSpace(answer))) {
			t.Errorf("%s answers %s, which is %s", route, answer, again)
		}
	}
}
