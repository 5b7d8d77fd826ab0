package config

import (
	"reflect"
	"slices"

	"earshot/api"
)

// The classes.
const (
	Turn    api.ChangeClass = "turn"    // from the next turn, or whatever happens next
	Section api.ChangeClass = "section" // once the part that it is for has begun again
	Restart api.ChangeClass = "restart" // when earshot is started again
)

// ClassOf returns the class of a key; empty if there is no such key.
func ClassOf(key string) api.ChangeClass { return about[key].class }

// Keys returns every key that has a value, in the order of the sample.
func Keys() (keys []string) {
	walk("", reflect.ValueOf(Default()).Elem(), func(key string, v reflect.Value) {
		if !isSection(v.Type()) {
			keys = append(keys, key)
		}
	})
	return keys
}

// Changes returns the keys that have another value in next than in c, in the order of
// the sample. A list is one key.
func (c *Config) Changes(next *Config) (all []api.SettingChange) {
	_, was := variables(c)
	_, is := variables(next)
	for _, key := range Keys() {
		if !same(was[key], is[key]) {
			all = append(all, api.SettingChange{Key: key, Class: ClassOf(key)})
		}
	}
	// What stands in no file of ours, and can be another all the same.
	const token = "providers.discord.token_file"
	if c.Providers.Discord.Token != next.Providers.Discord.Token && !slices.Contains(all, api.SettingChange{Key: token, Class: ClassOf(token)}) {
		all = append(all, api.SettingChange{Key: token, Class: ClassOf(token)})
	}
	return all
}

// same reports whether a key has the same value. A list that is empty is one that is
// not there.
func same(a, b reflect.Value) bool {
	if isList(a.Type()) && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// Keeping returns a copy of c in which every key for which keep is true has the value
// that it has in old.
func (c *Config) Keeping(old *Config, keep func(api.SettingChange) bool) *Config {
	kept := *c
	_, was := variables(old)
	_, is := variables(&kept)
	for _, change := range old.Changes(c) {
		if keep(change) {
			is[change.Key].Set(was[change.Key])
		}
	}
	return &kept
}
