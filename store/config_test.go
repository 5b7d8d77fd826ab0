package store_test

import (
	"fmt"
	"testing"

	"go.yaml.in/yaml/v3"

	"earshot/store"
)

func TestValidate(t *testing.T) {
	for _, tt := range []struct{ directory, want string }{
		{"", "<nil>"},
		{"/var/lib/earshot", "<nil>"},
		{"state", `directory: is "state"; write the whole path, from the root: it must not depend on where earshot is started`},
		{"~/state", `directory: is "~/state"; write the whole path, from the root: it must not depend on where earshot is started`},
		{"/a\x00b", "directory: has a zero byte in it"},
	} {
		c := store.DefaultConfig()
		c.Directory = tt.directory
		if got := fmt.Sprint(c.Validate()); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.directory, got, tt.want)
		}
	}
}

// TestSection: in the configuration file, the section only needs the directory.
func TestSection(t *testing.T) {
	data, err := yaml.Marshal(store.Config{Directory: "/var/lib/earshot"})
	if err != nil || string(data) != "directory: /var/lib/earshot\n" {
		t.Errorf("written as %q, %v", data, err)
	}
}
