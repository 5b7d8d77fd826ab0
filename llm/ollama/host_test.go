package ollama_test

import (
	"errors"
	"strings"
	"testing"

	"earshot/internal/field"
	"earshot/llm/ollama"
)

func TestHost(t *testing.T) {
	for _, tt := range []struct{ host, name string }{
		{"", "ollama at localhost:11434"},
		{"localhost", "ollama at localhost:11434"},
		{" localhost:11434 ", "ollama at localhost:11434"},
		{"http://localhost", "ollama at localhost:11434"},
		{"http://localhost:80/", "ollama at localhost:80"},
		{"https://models.example.org/ollama/", "ollama at models.example.org:443"},
		{"https://ann:secret@models.example.org", "ollama at models.example.org:443"},
		{"10.0.0.7:1234", "ollama at 10.0.0.7:1234"},
		{"0.0.0.0:11434", "ollama at 127.0.0.1:11434"},
		{"::1", "ollama at [::1]:11434"},
		{"[::1]:1234", "ollama at [::1]:1234"},
		{"[::]:1234", "ollama at [::1]:1234"},
	} {
		e, err := ollama.New(ollama.Config{Host: tt.host})
		if err != nil {
			t.Errorf("%q: %v", tt.host, err)
			continue
		}
		if e.Name() != tt.name {
			t.Errorf("%q is %q, want %q", tt.host, e.Name(), tt.name)
		}
	}
}

func TestNoHost(t *testing.T) {
	for _, tt := range []struct{ host, want string }{
		{"ftp://localhost", "ftp://"},
		{"unix:///run/ollama", "unix://"},
		{"http://", "no host name"},
		{":11434", "no host name"},
		{"localhost:0", "port"},
		{"localhost:99999", "port"},
		{"localhost:eleven", "is not an address"},
		{"http://ann:secret@local host", "is not an address"},
		{"localhost:11434/v1", "/v1"},
		{"localhost:11434/api/", "/api"},
		{"localhost?x=1", "?"},
		{"https://ollama.com", "ollama signin"},
		{"local\x1bhost", "is not an address"},
	} {
		_, err := ollama.New(ollama.Config{Host: tt.host})
		if f, ok := errors.AsType[*field.Fault](err); !ok || f.Key != "host" {
			t.Errorf("%q: %v is no fault of the key host", tt.host, err)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want something with %q", tt.host, err, tt.want)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error tells the password: %v", tt.host, err)
		}
	}
}
