package field_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"earshot/internal/field"
)

func TestFaults(t *testing.T) {
	two := errors.Join(field.Errorf("a", "is %d", 1), errors.Join(field.Errorf("b", "is %d", 2)))
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"none", nil, ""},
		{"one", field.Errorf("a", "is bad"), "a: is bad"},
		{"joined", two, "a: is 1|b: is 2"},
		{"under", field.Under("x.y", two), "x.y.a: is 1|x.y.b: is 2"},
		{"under under", field.Under("x", field.Under("y", two)), "x.y.a: is 1|x.y.b: is 2"},
		{"under nil", field.Under("x", nil), ""},
		{"foreign", field.Under("x", errors.New("is odd")), "x: is odd"},
		{"no key", errors.New("is odd"), "is odd"},
		{"wrapped is one", fmt.Errorf("reading: %w", two), "reading: a: is 1\nb: is 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range field.Faults(tt.err) {
				got = append(got, f.Error())
			}
			if joined := strings.Join(got, "|"); joined != tt.want {
				t.Errorf("got %q, want %q", joined, tt.want)
			}
		})
	}
	if field.Under("x", nil) != nil || field.Under("x", errors.Join()) != nil {
		t.Error("a fault was made from nothing")
	}
}

// TestSecretIsNeverPrinted plants a secret, and looks for it in every form in which a value can be
// printed.
func TestSecretIsNeverPrinted(t *testing.T) {
	const planted = "hunter2-canary"
	type section struct {
		Key  field.Secret            `yaml:"key" json:"key"`
		Some []field.Secret          `yaml:"some" json:"some"`
		By   map[string]field.Secret `yaml:"by" json:"by"`
	}
	s := field.Secret(planted)
	in := section{s, []field.Secret{s}, map[string]field.Secret{"a": s}}
	var made []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10s", "%t", "%c", "%U"} {
		made = append(made, fmt.Sprintf(verb, s), fmt.Sprintf(verb, in), fmt.Sprintf(verb, &in))
	}
	made = append(made, fmt.Sprint(s), fmt.Sprintln("key", s), s.String(), fmt.Errorf("using %w %v", os.ErrInvalid, s).Error())
	for _, encode := range []func(any) ([]byte, error){json.Marshal, yaml.Marshal} {
		data, err := encode(in)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, string(data))
	}
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(h).With("key", s).Info("using", "again", s, "section", in, "pointer", &in)
	}
	made = append(made, log.String())
	for _, m := range made {
		if strings.Contains(m, planted) || strings.Contains(m, "68756e74") || strings.Contains(m, "68756E74") {
			t.Errorf("it shows: %q", m)
		}
		if !strings.Contains(m, "[secret]") {
			t.Errorf("nothing stands for it: %q", m)
		}
	}
	if s.Reveal() != planted {
		t.Errorf("revealed %q", s.Reveal())
	}
	if e := field.Secret(""); fmt.Sprintf("%v%q", e, e) != "" {
		t.Error("an empty secret must be empty")
	}
}

func TestSecretIsRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good", "from-file\nsecond line\n")
	empty := write("empty", "\n")
	long := write("long", strings.Repeat("x", 20<<10))
	control := write("control", "a\x00b")
	t.Setenv("FIELD_TEST_KEY", " from-env ")
	for _, tt := range []struct{ name, in, want, err string }{
		{"plain", "sk-1", "sk-1", ""},
		{"a number", "12345", "12345", ""},
		{"quoted", `"sk 1"`, "sk 1", ""},
		{"empty", `""`, "", ""},
		{"environment", "env:FIELD_TEST_KEY", "from-env", ""},
		{"environment not set", "env:FIELD_TEST_NONE", "", `refers to the environment variable "FIELD_TEST_NONE", which is not set`},
		{"file", "file:" + good, "from-file", ""},
		{"relative file", "file:good", "", `refers to the file "good"; the path must be absolute`},
		{"no such file", "file:/no/such", "", "refers to a file that cannot be read: open /no/such: no such file or directory"},
		{"directory", "file:" + dir, "", fmt.Sprintf("refers to %q, which is not a file", dir)},
		{"empty file", "file:" + empty, "", fmt.Sprintf("refers to the file %q, whose first line is empty", empty)},
		{"long file", "file:" + long, "", fmt.Sprintf("refers to the file %q, whose first line is longer than 16384 bytes", long)},
		{"control", "file:" + control, "", "has a character in it that a key cannot have"},
		{"what an encoded one is", `"[secret]"`, "", `is "[secret]", which stands for a key that was left out; write the key, env:NAME or file:/PATH`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s field.Secret
			err := yaml.Unmarshal([]byte(tt.in), &s)
			if got := fmt.Sprint(err); tt.err != "" && got != tt.err || tt.err == "" && err != nil {
				t.Errorf("error %q, want %q", got, tt.err)
			}
			if s.Reveal() != tt.want {
				t.Errorf("read %q, want %q", s.Reveal(), tt.want)
			}
		})
	}
}

func TestSeconds(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want time.Duration
		err  string
	}{
		{"5", 5 * time.Second, ""},
		{"0", 0, ""},
		{"0.25", 250 * time.Millisecond, ""},
		{"1e-3", time.Millisecond, ""},
		{"31536000", 365 * 24 * time.Hour, ""},
		{"31536001", 0, "is 31536001; must be at most 31536000 seconds, which is a year"},
		{"1e300", 0, "is 1e300; must be at most 31536000 seconds, which is a year"},
		{".inf", 0, "is .inf; must be at most 31536000 seconds, which is a year"},
		{".nan", 0, "is .nan; must not be less than 0 seconds"},
		{"-1", 0, "is -1; must not be less than 0 seconds"},
		{"5s", 0, `is "5s"; must be a number of seconds, such as 5 or 0.25`},
		{`"5"`, 0, `is "5"; must be a number of seconds, such as 5 or 0.25`},
		{"true", 0, `is "true"; must be a number of seconds, such as 5 or 0.25`},
		{"[5]", 0, `is ""; must be a number of seconds, such as 5 or 0.25`},
	} {
		t.Run(tt.in, func(t *testing.T) {
			var s field.Seconds
			err := yaml.Unmarshal([]byte(tt.in), &s)
			if got := fmt.Sprint(err); tt.err != "" && got != tt.err || tt.err == "" && err != nil {
				t.Errorf("error %q, want %q", got, tt.err)
			}
			if s.Duration() != tt.want {
				t.Errorf("got %v, want %v", s.Duration(), tt.want)
			}
		})
	}
	for s, want := range map[field.Seconds]time.Duration{
		-1:                         0,
		field.Seconds(math.NaN()):  0,
		field.Seconds(math.Inf(1)): 365 * 24 * time.Hour,
	} {
		if got := s.Duration(); got != want {
			t.Errorf("%v lasts %v, want %v", s, got, want)
		}
	}
}

// TestSecondsAreKept: whatever a file can hold is written and read again unchanged.
func TestSecondsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := field.Seconds(rapid.Float64Range(0, 365*24*60*60).Draw(t, "seconds"))
		data, err := yaml.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var got field.Seconds
		if err := yaml.Unmarshal(data, &got); err != nil || got != s {
			t.Errorf("%v was written as %s and read as %v, %v", s, data, got, err)
		}
	})
}
