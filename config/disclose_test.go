package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"earshot/api"
)

// TestDisclosed: whatever text stands in a configuration, none of it is disclosed, but of
// the few keys that are open; and every key that was changed is named.
func TestDisclosed(t *testing.T) {
	const canary = "heron-at-midnight"
	c := Default()
	_, values := variables(c)
	filled := 0
	for key, v := range values {
		switch {
		case v.Kind() == reflect.String && !open[key]:
			v.SetString(canary)
			filled++
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
			v.Set(reflect.MakeSlice(v.Type(), 3, 3))
			v.Index(0).SetString(canary)
			filled++
		case v.Kind() == reflect.Bool:
			v.SetBool(!v.Bool())
		}
	}
	all := c.Disclosed()
	if text := fmt.Sprint(all); strings.Contains(text, "heron") || filled < 20 {
		t.Errorf("of %d texts some are in %s", filled, text)
	}
	for _, want := range []api.Setting{{Key: "executive.enabled", Value: "false"}, {Key: "executive.conversational.system_prompt", Value: "(set)"}} {
		if !slices.Contains(all, want) {
			t.Errorf("%v is not in %v", want, all)
		}
	}
	if none := Default().Disclosed(); len(none) != 0 {
		t.Errorf("of what nobody has changed it tells %v", none)
	}
	for key := range open {
		if _, there := values[key]; !there {
			t.Errorf("there is no key %s", key)
		}
	}
}
