// Package scripts holds the scripts that make a machine ready. It has no Go
// but the tests of them, which give scripts/setup machines to look at that are
// made of a PATH.
package scripts

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"earshot/internal/testkit"
)

// A machine is what scripts/setup can find out about one.
type machine struct {
	goVersion string // of the Go in PATH; "" is none
	fetches   bool   // Go can fetch a newer one
	compilers string
	headers   bool
	apt       bool
	user      string // as id -u says
	yes       bool   // YES=1: nothing is asked
	typed     string // what is typed at its terminal; "" is no terminal
	server    bool   // the Ollama server is built
	llama     bool   // llama.cpp's is
	cmake     bool   // with make and pip
	clients   bool   // the Discord clients are installed
	npm       bool
	speech    bool // the speech servers are installed
	voice     bool // the libraries of the helpers that hear and speak are there
	camera    bool // those of the one that sees
	tools     bool // and what the tests of the voice need
	footage   bool // and those of the camera
	database  bool // PostgreSQL is installed
	aptFails  bool
	buildFail bool
}

// debian has everything.
var debian = machine{goVersion: "go1.26.0", compilers: "gcc c++", headers: true, apt: true, user: "0", yes: true, server: true, llama: true, cmake: true, clients: true, npm: true, speech: true, voice: true, camera: true, tools: true, footage: true, database: true}

// but returns m changed.
func (m machine) but(change func(*machine)) machine {
	change(&m)
	return m
}

// What apt-get is asked for.
const (
	packages  = "gcc libc6-dev g++ nlohmann-json3-dev libstb-dev"
	tool      = "pkg-config "
	libraries = "portaudio19-dev libspeexdsp-dev libpocketsphinx-dev pocketsphinx-en-us flite1-dev " +
		"libavcodec-dev libavformat-dev libavutil-dev libavfilter-dev libavdevice-dev libswscale-dev libswresample-dev libasound2-plugins"
	eyes     = "libopencv-dev opencv-data"
	footage  = "opencv-doc"
	question = "\nsetup: install with apt-get? [Y/n] "
	forTests = "pulseaudio pulseaudio-utils flite espeak-ng festival festvox-kallpc16k festvox-kdlpc16k festvox-us-slt-hts ffmpeg qemu-user-static"
)

// apt is what setup says and does to install packages.
func apt(packages string) string {
	return "setup: installing " + packages + "\n[apt-get update -qq]\n[apt-get install -y -qq --no-install-recommends " + packages + "]"
}

func TestSetup(t *testing.T) {
	bare := debian.but(func(m *machine) { m.compilers, m.headers, m.server = "", false, false })
	noServer := debian.but(func(m *machine) { m.server = false })
	naked := bare.but(func(m *machine) { m.voice, m.tools, m.camera, m.footage = false, false, false, false })
	mute := debian.but(func(m *machine) { m.voice, m.tools = false, false })
	blind := debian.but(func(m *machine) { m.camera, m.footage = false, false })
	none := debian.but(func(m *machine) { m.voice, m.camera = false, false })
	unasked := func(m machine) machine { return m.but(func(m *machine) { m.yes = false }) }
	asked := func(m machine, typed string) machine {
		return m.but(func(m *machine) { m.yes, m.typed = false, typed })
	}
	elsewhere := bare.but(func(m *machine) { m.apt = false })
	goIs := func(version string) machine { return debian.but(func(m *machine) { m.goVersion = version }) }
	for _, tt := range []struct {
		name    string
		machine machine
		args    string
		environ string
		fails   bool
		says    string // all of it, with the calls of other programs in brackets
	}{
		{"nothing missing to run", debian, "run", "", false, ""},
		{"nothing missing to test", debian, "test", "", false, ""},
		{"bare, to run", naked, "run", "", false, apt("gcc libc6-dev " + tool + libraries + " g++ " + eyes)},
		{"bare, to run without a voice", naked, "run", "EARSHOT_WITHOUT=voice", false, apt("gcc libc6-dev g++ pkg-config " + eyes)},
		{"bare, to run without a camera", naked, "run", "EARSHOT_WITHOUT=camera", false, apt("gcc libc6-dev " + tool + libraries)},
		{"bare, to run without a sense", naked, "run", "EARSHOT_WITHOUT=voice,camera", false, ""},
		{"to run, blind and not root", blind.but(func(m *machine) { m.user = "1000" }), "run", "", false,
			"setup: earshot will not see until you run: sudo apt-get install -y --no-install-recommends " + eyes},
		{"to run, blind on another system", blind.but(func(m *machine) { m.apt = false }), "run", "", false,
			"setup: earshot will not see; missing here:\n\tthe library OpenCV, for cameras\n\tits descriptions of faces"},
		{"to run without any sense, not root", none.but(func(m *machine) { m.user = "1000" }), "run", "", false,
			"setup: earshot will neither hear, speak nor see until you run: sudo apt-get install -y --no-install-recommends " + tool + libraries + " " + eyes},
		{"to run, not root", mute.but(func(m *machine) { m.user = "1000" }), "run", "", false,
			"setup: earshot will neither hear nor speak until you run: sudo apt-get install -y --no-install-recommends " + libraries},
		{"to run, on another system", mute.but(func(m *machine) { m.apt = false }), "run", "", false,
			"setup: earshot will neither hear nor speak; missing here:\n" +
				"\tthe library PortAudio, for the sound card\n\tthe library Speex DSP, to remove its own sound from what it hears\n\tthe library pocketsphinx, to recognise speech\n" +
				"\tits model of English\n\tthe library flite, to speak\n\tthe libraries of FFmpeg, for files of sound\n\tthe way from ALSA to PulseAudio and PipeWire"},
		{"to run, where nothing can be installed", mute.but(func(m *machine) { m.aptFails = true }), "run", "", false,
			"setup: installing " + libraries + "\n[apt-get update -qq]\nsetup: apt-get could not install " + libraries + "; read what it says above.\nsetup: earshot will neither hear nor speak."},
		{"to run, blind, where nobody can be asked", unasked(blind), "run", "", false,
			"setup: earshot will not see until you run: apt-get install -y --no-install-recommends " + eyes},
		{"to run, blind, with another word than YES=1", unasked(blind), "run", "YES=0", false,
			"setup: earshot will not see until you run: apt-get install -y --no-install-recommends " + eyes},
		{"to run, blind, Enter is yes", asked(blind, "\n"), "run", "", false,
			"setup: earshot needs 2 more packages to see: " + eyes + question + apt(eyes)},
		{"to run, blind, yes", asked(blind, "Yes\n"), "run", "", false,
			"setup: earshot needs 2 more packages to see: " + eyes + question + apt(eyes)},
		{"to run, blind, no", asked(blind, "n\n"), "run", "", false,
			"setup: earshot needs 2 more packages to see: " + eyes + question +
				"setup: earshot will not see until you run: apt-get install -y --no-install-recommends " + eyes},
		{"to run, mute, another answer is no", asked(mute, "what?\n"), "run", "", false,
			"setup: earshot needs 13 more packages to hear and speak: " + libraries + question +
				"setup: earshot will neither hear nor speak until you run: apt-get install -y --no-install-recommends " + libraries},
		{"to run, without any sense, the end of the input is no", asked(none, "\x04"), "run", "", false,
			"setup: earshot needs 16 more packages to hear, speak and see: " + tool + libraries + " " + eyes + question +
				"setup: earshot will neither hear, speak nor see until you run: apt-get install -y --no-install-recommends " + tool + libraries + " " + eyes},
		{"at a terminal, YES=1 asks nothing", blind.but(func(m *machine) { m.typed = "n\n" }), "run", "", false, apt(eyes)},
		{"at a terminal, who is not root is not asked", asked(blind, "\n").but(func(m *machine) { m.user = "1000" }), "run", "", false,
			"setup: earshot will not see until you run: sudo apt-get install -y --no-install-recommends " + eyes},
		{"at a terminal, nothing missing", asked(debian, "n\n"), "run", "", false, ""},
		{"to test, where nobody can be asked", unasked(debian).but(func(m *machine) { m.footage = false }), "test", "", true,
			"setup: something is missing; run: apt-get install -y --no-install-recommends " + footage},
		{"to test, yes", asked(debian, "y\n").but(func(m *machine) { m.footage = false }), "test", "", false,
			"setup: earshot needs 1 more package for its tests: " + footage + question + apt(footage)},
		{"to test, no", asked(debian, "n\n").but(func(m *machine) { m.footage = false }), "test", "", true,
			"setup: earshot needs 1 more package for its tests: " + footage + question +
				"setup: something is missing; run: apt-get install -y --no-install-recommends " + footage},
		{"can the helpers be built", debian, "voice", "", false, ""},
		{"they cannot", mute, "voice", "", true, ""},
		{"they need not", debian, "voice", "EARSHOT_WITHOUT=ollama,voice", true, ""},
		{"can the one that sees be built", debian, "camera", "", false, ""},
		{"it can, without a voice", mute, "camera", "", false, ""},
		{"it cannot", blind, "camera", "", true, ""},
		{"it need not", debian, "camera", "EARSHOT_WITHOUT=camera", true, ""},
		{"can neural models be run", none, "neural", "", false, ""},
		{"they cannot", bare, "neural", "", true, ""},
		{"they need not", debian, "neural", "EARSHOT_WITHOUT=neural", true, ""},
		{"only the camera is missing", blind, "test", "", false, apt(eyes + " " + footage)},
		{"only footage is missing", debian.but(func(m *machine) { m.footage = false }), "test", "", false, apt(footage)},
		{"only PostgreSQL is missing", debian.but(func(m *machine) { m.database = false }), "test", "", false, apt("postgresql")},
		{"PostgreSQL is missing and not wanted", debian.but(func(m *machine) { m.database = false }), "test", "EARSHOT_WITHOUT=postgres", false, ""},
		{"the camera is missing and not wanted", blind, "test", "EARSHOT_WITHOUT=camera", false, ""},
		{"only the voice is missing", mute, "test", "", false, apt(libraries + " " + forTests)},
		{"only what its tests need is missing", debian.but(func(m *machine) { m.tools = false }), "test", "", false, apt(forTests)},
		{"newer Go", goIs("go1.30.2"), "run", "", false, ""},
		{"a release candidate", goIs("go1.27rc1"), "run", "", false, ""},
		{"a development version", goIs("devel go1.28-abcdef Mon Jan 1"), "run", "", false, ""},
		{"a patched Go", goIs("go1.26.1-X:nodwarf5"), "run", "", false, ""},
		{"no Go", goIs(""), "run", "", true,
			"setup: Go is missing; install Go 1.26.0 or newer (https://go.dev/doc/install) and run this again."},
		{"Go 1.19", goIs("go1.19.8"), "run", "", true,
			"setup: Go 1.19.8 is too old to fetch a newer one by itself; install Go 1.26.0 or newer (https://go.dev/doc/install) and run this again."},
		{"Go 1.9, which numbers must not hide", goIs("go1.9.7"), "run", "", true,
			"setup: Go 1.9.7 is too old to fetch a newer one by itself; install Go 1.26.0 or newer (https://go.dev/doc/install) and run this again."},
		{"a Go that does not say", goIs("nonsense"), "run", "", true,
			"setup: Go nonsense is too old to fetch a newer one by itself; install Go 1.26.0 or newer (https://go.dev/doc/install) and run this again."},
		{"Go 1.24 fetches", goIs("go1.24.1").but(func(m *machine) { m.fetches = true }), "run", "", false, "[go version, GOTOOLCHAIN=auto]"},
		{"also where that is forbidden", goIs("go1.24.1").but(func(m *machine) { m.fetches = true }), "run", "GOTOOLCHAIN=local", false, "[go version, GOTOOLCHAIN=auto]"},
		{"a choice is kept", goIs("go1.24.1").but(func(m *machine) { m.fetches = true }), "run", "GOTOOLCHAIN=go1.27.0", false, "[go version, GOTOOLCHAIN=go1.27.0]"},
		{"Go 1.24 without network", goIs("go1.24.1"), "run", "", true,
			"[go version, GOTOOLCHAIN=auto]\nsetup: Go 1.24.1 could not fetch Go 1.26.0; connect to the network, or install Go 1.26.0 or newer (https://go.dev/doc/install), and run this again."},

		{"bare, to test", bare, "test", "", false,
			apt(packages) + "\n" +
				"setup: building the Ollama server that the tests talk to, once: some minutes\n[build]"},
		{"bare and not root", bare.but(func(m *machine) { m.user = "1000" }), "test", "", true,
			"setup: something is missing; run: sudo apt-get install -y --no-install-recommends " + packages},
		{"only the server is missing", noServer, "test", "", false,
			"setup: building the Ollama server that the tests talk to, once: some minutes\n[build]"},
		{"the server cannot be built", noServer.but(func(m *machine) { m.buildFail = true }), "test", "", true,
			"setup: building the Ollama server that the tests talk to, once: some minutes\n[build]\n" +
				"setup: the Ollama server could not be built; read what it says above, or do without: EARSHOT_WITHOUT=ollama."},
		{"without the server", bare, "test", "EARSHOT_WITHOUT=ollama", false,
			apt("gcc libc6-dev g++")},
		{"without anything", naked, "test", "EARSHOT_WITHOUT=voice,camera,ollama", false, apt("gcc libc6-dev")},
		{"without the server and another", noServer, "test", "EARSHOT_WITHOUT=lights ollama", false, ""},
		{"without something else", noServer, "test", "EARSHOT_WITHOUT=ollamas,lights", false,
			"setup: building the Ollama server that the tests talk to, once: some minutes\n[build]"},
		{"with a server of its own", noServer, "test", "EARSHOT_OLLAMA=/a/path", false, ""},
		{"headers are not needed any more", debian.but(func(m *machine) { m.headers = false }), "test", "", false, ""},
		{"another system", elsewhere, "test", "", true, "setup: missing here:\n" +
			"\ta C compiler, for the race detector\n" +
			"\ta C++ compiler, for the Ollama server that the tests talk to\n" +
			"\tthe header nlohmann/json.hpp, for that server\n" +
			"\tthe header stb/stb_image.h, for that server\n" +
			"The daemon builds without them (make build), and make test-core tests it. Install them and run this again, or do without: EARSHOT_WITHOUT=voice,camera,neural,ollama,llama,discord,wyoming,postgres."},
		{"another system that has clang", elsewhere.but(func(m *machine) { m.compilers = "clang c++"; m.headers = true; m.server = true }), "test", "", false, ""},
		{"llama.cpp's server is missing", debian.but(func(m *machine) { m.llama = false }), "test", "", false,
			"setup: building the llama.cpp server that the tests talk to, once: some minutes\n[build]"},
		{"and what builds it", debian.but(func(m *machine) { m.llama, m.cmake, m.compilers = false, false, "gcc" }), "test", "EARSHOT_WITHOUT=ollama,camera", false,
			apt("g++ cmake make python3-pip") + "\nsetup: building the llama.cpp server that the tests talk to, once: some minutes\n[build]"},
		{"it cannot be built", debian.but(func(m *machine) { m.llama, m.buildFail = false, true }), "test", "", true,
			"setup: building the llama.cpp server that the tests talk to, once: some minutes\n[build]\n" +
				"setup: the llama.cpp server could not be built; read what it says above, or do without: EARSHOT_WITHOUT=llama."},
		{"without it", debian.but(func(m *machine) { m.llama, m.cmake = false, false }), "test", "EARSHOT_WITHOUT=llama", false, ""},
		{"what builds it is not needed any more", debian.but(func(m *machine) { m.cmake = false }), "test", "", false, ""},
		{"the clients are missing", debian.but(func(m *machine) { m.clients = false }), "test", "", false,
			"setup: installing the Discord clients that the tests call, once\n[build]"},
		{"and npm", debian.but(func(m *machine) { m.clients, m.npm = false, false }), "test", "", false,
			apt("npm") + "\nsetup: installing the Discord clients that the tests call, once\n[build]"},
		{"npm is not needed any more", debian.but(func(m *machine) { m.npm = false }), "test", "", false, ""},
		{"the clients cannot be installed", debian.but(func(m *machine) { m.clients, m.buildFail = false, true }), "test", "", true,
			"setup: installing the Discord clients that the tests call, once\n[build]\n" +
				"setup: the Discord clients could not be installed; read what it says above, or do without: EARSHOT_WITHOUT=discord."},
		{"without the clients", debian.but(func(m *machine) { m.clients, m.npm = false, false }), "test", "EARSHOT_WITHOUT=discord", false, ""},
		{"the speech servers are missing", debian.but(func(m *machine) { m.speech = false }), "test", "", false,
			"setup: installing the speech servers that the tests talk to, once: a minute\n[build]"},
		{"and what installs them", debian.but(func(m *machine) { m.speech, m.cmake = false, false }), "test", "", false,
			apt("python3-venv") + "\nsetup: installing the speech servers that the tests talk to, once: a minute\n[build]"},
		{"they cannot be installed", debian.but(func(m *machine) { m.speech, m.buildFail = false, true }), "test", "", true,
			"setup: installing the speech servers that the tests talk to, once: a minute\n[build]\n" +
				"setup: the speech servers could not be installed; read what it says above, or do without: EARSHOT_WITHOUT=wyoming."},
		{"without them", debian.but(func(m *machine) { m.speech, m.cmake = false, false }), "test", "EARSHOT_WITHOUT=wyoming", false, ""},
		{"no word", debian, "", "", true, "setup: say what for: scripts/setup run, or scripts/setup test"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			said, err := tt.machine.setUp(t, tt.args, tt.environ)
			if failed := err != nil; failed != tt.fails {
				t.Errorf("failed: %v (%v), want %v", failed, err, tt.fails)
			}
			if said != tt.says {
				t.Errorf("said\n%s\nwant\n%s", said, tt.says)
			}
		})
	}
}

// setUp runs scripts/setup on m, in a copy of the repository that holds no
// more than the script looks at, and returns what it said.
func (m machine) setUp(t *testing.T, arg, environ string) (said string, err error) {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	script, err := os.ReadFile("setup")
	if err != nil {
		t.Fatal(err)
	}
	program(t, filepath.Join(dir, "scripts", "setup"), string(script))
	program(t, filepath.Join(dir, "scripts", "ollama", "build"), m.build(m.server, filepath.Join(dir, "scripts", "setup"))) // a file that can be executed
	program(t, filepath.Join(dir, "llama", "llama-server"), "")
	program(t, filepath.Join(dir, "scripts", "llama", "build"), m.build(m.llama, filepath.Join(dir, "llama")))
	program(t, filepath.Join(dir, "clients", "node_modules", "node", "bin", "node"), "")
	program(t, filepath.Join(dir, "scripts", "discord", "build"), m.build(m.clients, filepath.Join(dir, "clients")))
	program(t, filepath.Join(dir, "speech", "complete"), "")
	program(t, filepath.Join(dir, "scripts", "wyoming", "build"), m.build(m.speech, filepath.Join(dir, "speech")))
	program(t, filepath.Join(dir, "go.mod"), "module earshot\n\ngo 1.26.0\n")
	program(t, filepath.Join(bin, "id"), "#!/bin/sh\necho "+m.user+"\n")
	for _, tool := range []string{"sh", "dirname", "sed", "sort", "head", "tr"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Skipf("this machine has no %s", tool)
		}
		if err := os.Symlink(path, filepath.Join(bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	if m.goVersion != "" {
		program(t, filepath.Join(bin, "go"), m.goProgram())
	}
	if m.cmake {
		for _, name := range []string{"cmake", "make", "python3"} {
			program(t, filepath.Join(bin, name), "#!/bin/sh\n")
		}
	}
	if m.npm {
		program(t, filepath.Join(bin, "npm"), "#!/bin/sh\n")
	}
	for _, name := range strings.Fields(m.compilers) {
		program(t, filepath.Join(bin, name), "#!/bin/sh\n"+result(m.headers))
	}
	if m.apt {
		program(t, filepath.Join(bin, "apt-get"), "#!/bin/sh\necho \"[apt-get $*]\" >&2\n"+result(!m.aptFails))
	}
	if m.voice || m.camera {
		program(t, filepath.Join(bin, "pkg-config"), "#!/bin/sh\n[ \"$2\" != opencv4 ] || "+result(m.camera)+"\n"+result(m.voice)+"\n")
	}
	if m.camera {
		program(t, filepath.Join(dir, "usr", "share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml"), "")
	}
	if m.footage {
		program(t, filepath.Join(dir, "usr", "share/doc/opencv-doc/examples/data/vtest.avi"), "")
	}
	if m.database {
		program(t, filepath.Join(dir, "usr", "lib/postgresql/15/bin/initdb"), "")
	}
	if m.voice {
		for _, file := range []string{"share/pocketsphinx/model/en-us/en-us.lm.bin", "include/flite/flite.h", "lib/any/alsa-lib/libasound_module_pcm_pulse.so"} {
			program(t, filepath.Join(dir, "usr", file), "")
		}
	}
	program(t, filepath.Join(bin, "tmux"), "#!/bin/sh\n")
	if m.tools {
		for _, name := range []string{"pulseaudio", "pactl", "flite", "espeak-ng", "text2wave", "ffmpeg", "qemu-aarch64-static"} {
			program(t, filepath.Join(bin, name), "#!/bin/sh\n")
		}
		for _, voice := range []string{"kal_diphone", "ked_diphone", "cmu_us_slt_arctic_hts"} {
			program(t, filepath.Join(dir, "usr", "share/festival/voices/any", voice), "")
		}
	}
	c := testkit.Command(t, filepath.Join(bin, "sh"), filepath.Join(dir, "scripts", "setup"))
	if arg != "" {
		c.Args = append(c.Args, arg)
	}
	c.Env = []string{"PATH=" + bin, "HOME=" + dir, "EARSHOT_ROOT=" + dir}
	if environ != "" {
		c.Env = append(c.Env, environ)
	}
	if m.yes {
		c.Env = append(c.Env, "YES=1")
	}
	if m.typed != "" {
		person, terminal, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer person.Close()
		defer terminal.Close()
		if _, err := person.WriteString(m.typed); err != nil {
			t.Fatal(err)
		}
		c.Stdin = terminal
	}
	out, err := c.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// build stands in for scripts/ollama/build, scripts/llama/build and scripts/discord/build.
func (m machine) build(built bool, where string) string {
	if !built {
		where = "/nowhere"
	}
	return "#!/bin/sh\n[ \"${1:-}\" != --where ] || { echo " + where + "; exit 0; }\necho '[build]' >&2\n" + result(!m.buildFail)
}

// goProgram stands in for go. It says its own version only if it is told to
// stay what it is.
func (m machine) goProgram() string {
	return "#!/bin/sh\n" +
		"case \"$*,${GOTOOLCHAIN:-}\" in\n" +
		"'env GOVERSION,local') echo '" + m.goVersion + "' ;;\n" +
		"'version,'*) echo \"[go version, GOTOOLCHAIN=${GOTOOLCHAIN:-}]\" >&2; " + result(m.fetches) + " ;;\n" +
		"*) echo \"[go $*]\" >&2; exit 1 ;;\nesac\n"
}

func result(ok bool) string {
	if ok {
		return "exit 0"
	}
	return "exit 1"
}

func program(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestScriptsParse has the shell read every script without running it.
func TestScriptsParse(t *testing.T) {
	for _, path := range []string{"setup", "fuzz", "vulncheck", "ollama/build", "llama/build", "discord/build", "neural/build", "neural/link", "../.ci/run"} {
		if out, err := testkit.Command(t, "sh", "-n", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
}

// TestVulncheck: what was found fails the check; a database that cannot be reached does not.
func TestVulncheck(t *testing.T) {
	const unreached = "vulncheck: https://vuln.go.dev cannot be reached from here, so known vulnerabilities were not looked for\n"
	for _, tt := range []struct {
		name, curl, golang string
		fails              bool
		says               string
	}{
		{"nothing is known", "exit 0", "exit 0", false, ""},
		{"something is known", "exit 0", "echo Vulnerability 1; exit 1", true, "Vulnerability 1\n"},
		{"the packages do not build", "exit 0", "echo loading packages >&2; exit 1", true, "loading packages\n"},
		{"no network", "exit 6", "echo must not be asked; exit 1", false, unreached},
		{"the network goes", "exit 0", "echo 'govulncheck: fetching vulnerabilities: no such host' >&2; exit 1", false, unreached},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bin := t.TempDir()
			program(t, filepath.Join(bin, "curl"), "#!/bin/sh\n"+tt.curl+"\n")
			program(t, filepath.Join(bin, "go"), "#!/bin/sh\n"+tt.golang+"\n")
			check := testkit.Command(t, "./vulncheck", "./...")
			check.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "EARSHOT_VULNDB=")
			out, err := check.CombinedOutput()
			if (err != nil) != tt.fails || string(out) != tt.says {
				t.Errorf("%v, and says %q; want a failure: %v, %q", err, out, tt.fails, tt.says)
			}
		})
	}
}
