package scenetest_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

	"earshot/internal/scenetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write what was said into the scenes")

// TestScenes performs every scene on a clock of its own.
func TestScenes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "scenes", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scenes, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			scene, err := scenetest.Parse(archive)
			if err != nil {
				t.Fatal(err)
			}
			var said, asked string
			synctest.Test(t, func(t *testing.T) {
				if said, asked, err = scene.Perform(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
			if scene.Asked == "" {
				asked = ""
			}
			if said == scene.Said && asked == scene.Asked {
				return
			}
			if !*update {
				t.Fatalf("said\n%swant\n%s\nasked\n%swant\n%s", said, scene.Said, asked, scene.Asked)
			}
			rewrite(t, file, archive, map[string]string{"said": said, "asked": asked})
		})
	}
}

func rewrite(t *testing.T, file string, archive []byte, parts map[string]string) {
	a := txtar.Parse(archive)
	for i, f := range a.Files {
		if text, ok := parts[f.Name]; ok {
			a.Files[i].Data = []byte(text)
		}
	}
	if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestParseFaults(t *testing.T) {
	for _, tt := range []struct{ archive, want string }{
		{"", "nothing is heard"},
		{"-- props --\n", "part props: there is no such part"},
		{"-- config --\nname: [\n-- heard --\n0.0s console/ann hi\n", "part config: "},
		{"-- people --\nbob\n-- heard --\n0.0s console/ann hi\n", "part people: \"bob\" has no type"},
		{"-- people --\n# nobody\n-- heard --\n0.0s console/ann hi\n", "part people: nobody is in it"},
		{"-- agents --\n# nobody\n", "part agents: nobody is in it"},
		{"-- agents --\ncoder colour=red\n", "part agents: coder: there is no \"colour\""},
		{"-- agents --\ncoder prompt=\"You\n", "part agents: coder: prompt has a quote without an end"},
		{"-- agents --\ncoder main=perhaps\n", "part agents: coder: strconv.ParseBool"},
		{"-- agents --\na/b\n", "part agents: "},
		{"-- window --\nwide\n", "part window: "},
		{"-- model --\nrepply: x\n", "part model: "},
		{"-- desk.pgm --\nP5 1 1 1 0\n", "part desk.pgm: it is no plain PGM"},
		{"-- desk.pgm --\nP2 1 1\n", "part desk.pgm: it is no plain PGM"},
		{"-- desk.pgm --\nP2 1 1 9 x\n", "part desk.pgm: \"x\" is no number"},
		{"-- desk.pgm --\nP2 2 2 9 1 2 3 # 4\n", "part desk.pgm: it has 3 values for 2 by 2 pixels"},
		{"-- desk.pgm --\nP2 99 1 9 1\n", "part desk.pgm: it has 99 by 1 pixels"},
		{"-- desk.pgm --\nP2 1 1 9 10\n", "part desk.pgm: white is 9"},
		{"-- desk.pgm --\nP2 1 1 900 1\n", "part desk.pgm: white is 900"},
		{"-- desk.film --\n0 0\n", "part desk.film: a recording without pictures"},
		{"-- desk soon.film --\n", "part desk soon.film: \"soon\" is not a time; the name is one such as desk 10s.film"},
		{"-- desk soon.pgm --\nP2 1 1 1 1\n", "part desk soon.pgm: \"soon\" is not a time"},
		{"-- heard --\nlater console/ann hi\n", "part heard: "},
	} {
		_, err := scenetest.Parse([]byte(tt.archive))
		if err == nil || !bytes.HasPrefix([]byte(err.Error()), []byte(tt.want)) {
			t.Errorf("parsing %q: %v, want %s…", tt.archive, err, tt.want)
		}
	}
}
