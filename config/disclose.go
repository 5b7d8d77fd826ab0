package config

import (
	"fmt"
	"reflect"

	"earshot/api"
	"earshot/internal/field"
)

// open are the keys whose values are words of a fixed list, and those without which a
// report of a fault tells nothing. Any other text may be somebody's name, or a secret.
var open = map[string]bool{
	"executive.llm.provider": true, "executive.llm.model": true, "executive.llm.tools": true,
	"executive.llm.roles.user.model": true, "executive.reasoning.model": true,
	"executive.multi_party.turn_taking_protocol": true, "log.level": true,
	"speech.hear.engine": true, "speech.hear.language": true, "speech.say.engine": true, "speech.wake.engine": true,
}

// Disclosed returns the keys whose value differs from the default, without anything that says who
// lives here. Numbers and switches are shown. For a text it says only that it is set, for a list
// only how long it is.
func (c *Config) Disclosed() (all []api.Setting) {
	_, values := variables(c)
	for _, change := range Default().Changes(c) {
		v, known := values[change.Key]
		text := "(set)"
		if known {
			text = disclosed(change.Key, v)
		}
		all = append(all, api.Setting{Key: change.Key, Value: text})
	}
	return all
}

func disclosed(key string, v reflect.Value) string {
	if _, secret := v.Interface().(field.Secret); secret {
		return "(set)"
	}
	switch kind := v.Kind(); {
	case kind == reflect.Bool || v.CanInt() || v.CanUint() || v.CanFloat():
		return fmt.Sprint(v.Interface())
	case kind == reflect.Slice || kind == reflect.Map:
		return fmt.Sprintf("(%d entries)", v.Len())
	case kind == reflect.String && open[key]:
		return v.String()
	}
	return "(set)"
}
