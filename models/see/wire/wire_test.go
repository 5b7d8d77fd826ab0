package wire_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"earshot"
	"earshot/internal/helper"
	"earshot/models/see/wire"
)

func control(body string) helper.Control {
	return helper.Control{Name: "x", Body: json.RawMessage(body)}
}

const somebody = `{"what":"person","box":{"x":0.1,"y":0.1,"width":0.5,"height":0.9},"sure":0.5}`

var observations = []struct {
	body string
	ok   bool
}{
	{`{"number":1,"width":640,"height":480,"motion":0.5,"detected":true,"seen":[` + somebody + `]}`, true},
	{`{"number":1,"width":4096,"height":1,"age":60000000000,"same":3}`, true},
	{`{"number":1,"width":640,"height":480,"seen":[{"what":"code","box":{"width":1,"height":1},"text":"` + strings.Repeat("a", earshot.MaxCode) + `"}]}`, true},
	{`{"number":0,"width":640,"height":480}`, false},
	{`{"number":1,"width":0,"height":480}`, false},
	{`{"number":1,"width":640,"height":4097}`, false},
	{`{"number":1,"width":640,"height":480,"age":-1}`, false},
	{`{"number":1,"width":640,"height":480,"age":60000000001}`, false},
	{`{"number":1,"width":640,"height":480,"same":-1}`, false},
	{`{"number":1,"width":640,"height":480,"brightness":1.1}`, false},
	{`{"number":1,"width":640,"height":480,"contrast":-0.1}`, false},
	{`{"number":1,"width":640,"height":480,"motion":2}`, false},
	{`{"number":1,"width":640,"height":480,"novelty":1e308}`, false},
	{`{"number":1,"width":640,"height":480,"cost":{"read":-1}}`, false},
	{`{"number":1,"width":640,"height":480,"seen":[{"what":"person","box":{"x":0.6,"width":0.5,"height":1}}]}`, false},
	{`{"number":1,"width":640,"height":480,"seen":[{"what":"person","box":{"width":0,"height":1}}]}`, false},
	{`{"number":1,"width":640,"height":480,"seen":[{"what":"cat","box":{"width":1,"height":1}}]}`, false},
	{`{"number":1,"width":640,"height":480,"seen":[{"what":"face","box":{"width":1,"height":1},"sure":1.5}]}`, false},
	{`{"number":1,"width":640,"height":480,"seen":[{"what":"code","box":{"width":1,"height":1},"text":"` + strings.Repeat("a", earshot.MaxCode+1) + `"}]}`, false},
	{`{"number":1,"width":640,"height":480,"seen":[` + strings.Repeat(somebody+",", earshot.MaxSeen) + somebody + `]}`, false},
	{`{"number":-1}`, false},
	{`[]`, false},
	{``, false},
}

var pictures = []struct {
	body string
	ok   bool
}{
	{`{"request":3,"bytes":1048576,"width":640,"height":480,"seen":[` + somebody + `]}`, true},
	{`{"request":3}`, true},
	{`{"bytes":1048577,"width":640,"height":480}`, false},
	{`{"bytes":-1,"width":640,"height":480}`, false},
	{`{"bytes":1,"width":0,"height":480}`, false},
	{`{"age":-1}`, false},
	{`{"seen":[{"what":"ghost"}]}`, false},
	{`3`, false},
}

func TestDecode(t *testing.T) {
	check := func(what, body string, ok bool, err error) {
		t.Helper()
		if (err == nil) != ok || err != nil && !errors.Is(err, helper.ErrProtocol) {
			t.Errorf("%s %.120s: %v", what, body, err)
		}
	}
	for _, tt := range observations {
		_, err := wire.DecodeObservation(control(tt.body))
		check("observation", tt.body, tt.ok, err)
	}
	for _, tt := range pictures {
		_, err := wire.DecodePicture(control(tt.body))
		check("picture", tt.body, tt.ok, err)
	}
	for _, tt := range []struct {
		body string
		ok   bool
	}{
		{`{"width":640,"height":480,"rate":29.97}`, true},
		{`{"width":1,"height":1}`, true},
		{`{"width":640,"height":480,"rate":-1}`, false},
		{`{"width":640,"height":480,"rate":1001}`, false},
		{`{"width":640}`, false},
		{`"yes"`, false},
	} {
		_, err := wire.DecodeReady(control(tt.body))
		check("ready", tt.body, tt.ok, err)
	}
}

// FuzzDecode: decoded values are within their limits.
func FuzzDecode(f *testing.F) {
	for _, tt := range observations {
		f.Add([]byte(tt.body))
	}
	for _, tt := range pictures {
		f.Add([]byte(tt.body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := helper.Control{Name: "x", Body: body}
		if o, err := wire.DecodeObservation(c); err == nil {
			if o.Width <= 0 || o.Width > wire.MaxSide || o.Height <= 0 || o.Height > wire.MaxSide || o.Age < 0 || o.Age > wire.MaxAge || !(o.Motion >= 0 && o.Motion <= 1) || len(o.Seen) > earshot.MaxSeen {
				t.Errorf("believed %+v", o)
			}
			for _, s := range o.Seen {
				if !s.Box.Valid() || len(s.Text) > earshot.MaxCode {
					t.Errorf("believed %+v", s)
				}
			}
		} else if !errors.Is(err, helper.ErrProtocol) {
			t.Errorf("refused with %v", err)
		}
		if p, err := wire.DecodePicture(c); err == nil && (p.Bytes < 0 || p.Bytes > earshot.MaxPicture) {
			t.Errorf("believed %+v", p)
		}
		if r, err := wire.DecodeReady(c); err == nil && (r.Width <= 0 || r.Height <= 0 || !(r.Rate >= 0)) {
			t.Errorf("believed %+v", r)
		}
	})
}
