package archtest

import (
	"strings"
	"testing"
	"testing/fstest"
)

// A rule is one property of the code that is enforced, with a small tree that violates it.
type rule struct {
	name  string
	check func(*house) []string
	wrong tree
	want  []string // the complaints about wrong
}

// A tree is a repository: the text of each file by its path.
type tree map[string]string

var rules = []rule{
	{"imports", imports, tree{
		"api/x.go":                       "package api\nimport (\"time\"; \"earshot\"; \"earshot/participants\"; \"earshot/executive/room\"; \"example.org/x\")",
		"attic/x.go":                     "package attic",
		"earshot.go":                     "package earshot\nimport \"earshot/internal/field\"",
		"event.go":                       "package earshot\nimport \"example.org/x\"",
		"providers/a/a.go":               "package a\nimport (\"earshot/providers/b\"; \"earshot\"; \"earshot/providers\"; \"earshot/internal/audio\")",
		"providers/a/deep/a.go":          "package deep\nimport \"earshot/providers/a\"",
		"providers/a/a_test.go":          "package a_test\nimport (\"testing\"; \"earshot/providers/a\"; \"earshot/providers/providertest\")",
		"providers/b/b.go":               "package b\nimport (\"earshot/llm\"; \"earshot/internal/scenetest\"; \"earshot/executive\")",
		"llm/x/x.go":                     "package x\nimport (\"earshot/llm\"; \"earshot/internal/field\"; \"earshot\")",
		"executive/turn/turn.go":         "package turn\nimport (\"earshot/executive/scene\"; \"earshot/store\"; \"testing\"; \"earshot/internal/testkit\")",
		"executive/turn/tagged.go":       "//go:build never\n\npackage turn\nimport \"earshot/server\"",
		"server/s.go":                    "package server\nimport (\"earshot/cmd/earshot\"; \"earshot/bench\")",
		"cmd/earshot/main.go":            "package main\nimport (\"earshot/store\"; \"earshot/llm/llmtest\"; \"earshot/internal/testkit\")",
		"llm/llmtest/script.go":          "package llmtest\nimport \"testing\"",
		"internal/testkit/await.go":      "package testkit\nimport \"testing\"",
		"llm/ollama/ollamatest/start.go": "package ollamatest\nimport (\"testing\"; \"earshot/internal/testkit\")",
	}, []string{
		"attic: no entry of the import table fits this folder",
		`api/x.go: imports ./executive/room: may import only ". participants"`,
		"api/x.go: imports example.org/x: the types of the API need the standard library alone",
		"cmd/earshot/main.go: imports ./internal/testkit: it is for tests only",
		"earshot.go: imports ./internal/field: the root imports nothing of ours",
		"event.go: imports example.org/x: the root is made of the standard library alone",
		`executive/turn/tagged.go: imports ./server: may import only ". api interrupt conversation language participants/... speakers llm internal/lockorder"`,
		`executive/turn/turn.go: imports ./store: may import only ". api interrupt conversation language participants/... speakers llm internal/lockorder"`,
		"executive/turn/turn.go: imports testing: it would be linked into the program",
		"executive/turn/turn.go: imports ./internal/testkit: it is for tests only",
		"llm/llmtest/script.go: imports testing: it would be linked into the program",
		`llm/x/x.go: imports .: may import only ""`,
		`providers/a/a.go: imports ./providers/b: may import only ". language providers models/... internal/..."`,
		`providers/b/b.go: imports ./llm: may import only ". language providers models/... internal/..."`,
		"providers/b/b.go: imports ./internal/scenetest: it is for tests only",
		`providers/b/b.go: imports ./executive: may import only ". language providers models/... internal/..."`,
		"server/s.go: imports ./cmd/earshot: nobody imports cmd",
		"server/s.go: imports ./bench: it belongs to a module that requires this one",
	}},
	{"import depth", importDepth, tree{
		"p1/p.go":       "package p1\nimport (\"fmt\"; \"earshot/p2\")",
		"p2/p.go":       "package p2\nimport (\"fmt\"; \"earshot/p3\")",
		"p3/p.go":       "package p3\nimport (\"fmt\"; \"earshot/p4\")",
		"p4/p.go":       "package p4\nimport (\"fmt\"; \"earshot/p5\")",
		"p5/p.go":       "package p5\nimport (\"fmt\"; \"earshot/p6\")",
		"p6/p.go":       "package p6\nimport (\"fmt\"; \"earshot/p7\")",
		"p7/p.go":       "package p7\nimport (\"fmt\"; \"earshot/p8\")",
		"p8/p.go":       "package p8\nimport (\"fmt\"; \"earshot/p9\")",
		"p9/p.go":       "package p9\nimport (\"fmt\"; \"earshot/p10\")",
		"p10/p.go":      "package p10\nimport (\"fmt\"; \"earshot/p11\")",
		"p11/p.go":      "package p11",
		"p11/p_test.go": "package p11\nimport \"earshot/p12\"",
		"bench/b.go":    "package main\nimport \"earshot/p1\"",
	}, []string{"11 packages follow one another by imports, and at most 10 may: p1 → p2 → p3 → p4 → p5 → p6 → p7 → p8 → p9 → p10 → p11"}},
	{"one package comment", onePackageComment, tree{
		"a/a.go":         "// Package a is one.\npackage a",
		"a/b.go":         "// Package a is two.\npackage a",
		"b/b.go":         "package b",
		"b/b_test.go":    "// Package b is only told in a test.\npackage b",
		"c/c.go":         "// This is c.\npackage c",
		"cmd/x/main.go":  "// Package main is a program.\npackage main",
		"cmd/y/main.go":  "// Command y is right.\npackage main",
		"d/only_test.go": "// Package d is right too.\npackage d",
	}, []string{
		"a: has 2 package comments, not one",
		"b: has 0 package comments, not one",
		`c/c.go: the package comment does not begin with "Package c "`,
		`cmd/x/main.go: the package comment does not begin with "Command x "`,
	}},
	{"no init", noInit, tree{
		"a.go":      "package a\nfunc init() {}\ntype t int\nfunc (t) init() {}",
		"a_test.go": "package a\n\nfunc init() {}",
	}, []string{"a.go:2: an init function", "a_test.go:3: an init function"}},
	{"no sleep in tests", noSleep, tree{
		"a_test.go":                 "package a\nimport \"time\"\nfunc f() { time.Sleep(1) }",
		"b_test.go":                 "package a\nimport (t \"time\")\nfunc g() { t.Sleep(1) }",
		"c_test.go":                 "package a\nimport (\"time\"; \"testing/synctest\")\nvar _ = synctest.Wait\nfunc h() { time.Sleep(1) }",
		"llm/llmtest/s.go":          "package llmtest\nimport \"time\"\nfunc f() { time.Sleep(1) }", // it is part of the program
		"internal/testkit/other.go": "package testkit\nimport \"time\"\nfunc f() { time.Sleep(1) }",
		"internal/testkit/await.go": "package testkit\nimport \"time\"\nfunc f() { time.Sleep(1) }",
	}, []string{
		"a_test.go:3: sleeps in real time; see testing/synctest and internal/testkit",
		"b_test.go:3: sleeps in real time; see testing/synctest and internal/testkit",
		"internal/testkit/other.go:3: sleeps in real time; see testing/synctest and internal/testkit",
	}},
	{"waits are bounded", waitsAreBounded, tree{
		"a_test.go": "package a\nimport \"testing\"\nfunc TestA(t *testing.T) {\n<-done\nif err := <-done; err != nil {}\n" +
			"t.Run(\"\", func(t *testing.T) {\n<-done\n})\ngo func() { <-done }()\n<-ctx.Done()\n<-time.After(1)\n<-tick.C\n" +
			"select {\ncase <-done:\n<-done\ncase v := <-late:\n}\ntestkit.Receive(t, 1, \"\", done)\n}\nfunc fake() { <-done }\n" +
			"func helper(t testing.TB) { <-done }",
		"b_test.go": "package a\nimport (\"testing\"; \"testing/synctest\")\nfunc TestB(t *testing.T) {\n<-done\nsynctest.Wait()\n" +
			"synctest.Test(t, func(t *testing.T) { <-done })\nt.Run(\"\", func(t *testing.T) { <-done })\n}\n" +
			"func helper(t testing.TB) { <-done }",
		"c.go": "package a\nfunc f() { <-done }",
		"d_test.go": "package a\nimport \"testing\"\nfunc TestD(t *testing.T) {\ncmd.Wait()\ndefer all.Wait()\ndefer func() { <-done }()\n" +
			"t.Cleanup(func() {\nstop()\n<-done\n})\ngo func() { cmd.Wait() }()\ntestkit.Finish(t, 1, \"\", cmd.Wait)\n" +
			"select {\ncase <-done:\ncase at := <-time.After(1):\n}\nselect {\ncase <-done:\ndefault:\n}\nf := func() { <-done }\n}",
		"e_test.go": "package a\nimport \"testing\"\nfunc TestE(t *testing.T) {\ns := httptest.NewServer(nil)\ndefer s.Close()\nt.Cleanup(s.Close)\n" +
			"defer testkit.Finish(t, 1, \"\", s.Close)\ndefer f.Close()\ns.Close()\nexec.CommandContext(t.Context(), \"true\").Run()\n}",
	}, []string{
		"a_test.go:4: waits without a bound; see internal/testkit.Receive, Finish and Command",
		"a_test.go:5: waits without a bound; see internal/testkit.Receive, Finish and Command",
		"a_test.go:7: waits without a bound; see internal/testkit.Receive, Finish and Command",
		"a_test.go:13: waits without a bound; see internal/testkit.Receive, Finish and Command",
		"a_test.go:15: waits without a bound; see internal/testkit.Receive, Finish and Command",
		"a_test.go:21: waits without a bound; see internal/testkit.Receive, Finish and Command",
		"b_test.go:4: waits without a bound; see internal/testkit.Receive, Finish and Command",
		"d_test.go:4: waits without a bound; see internal/testkit.Receive, Finish and Command",
		"d_test.go:5: waits without a bound; see internal/testkit.Receive, Finish and Command",
		"d_test.go:6: waits without a bound; see internal/testkit.Receive, Finish and Command",
		"d_test.go:9: waits without a bound; see internal/testkit.Receive, Finish and Command",
		"e_test.go:5: waits without a bound; see internal/testkit.Receive, Finish and Command",
		"e_test.go:6: waits without a bound; see internal/testkit.Receive, Finish and Command",
		"e_test.go:9: waits without a bound; see internal/testkit.Receive, Finish and Command",
		"e_test.go:10: waits without a bound; see internal/testkit.Receive, Finish and Command",
	}},
	{"the API is typed", theAPIIsTyped, tree{
		"server/a.go": "package server\ntype Backend interface {\nState() (any, error)\nlive() any\nSay(string) error\n}\n" +
			"func Get(into any) error { return nil }\nfunc ask(into any) error { return nil }\nfunc Sorted[T any](all []T) {}\n" +
			"func (c *Client) Look() map[string]interface{} { return nil }\ntype Server struct {\nReload func() (any, error)\nlog func(any)\nin any\n}\n" +
			"type hook func(any)\ntype Hook func(any)\nfunc (h hidden) Tell(any) {}",
		"server/a_test.go":        "package server\nfunc Get2(into any) {}",
		"server/remote/r.go":      "package remote\nfunc Dial() ([]any, error) { return nil, nil }",
		"server/openapi/o.go":     "package openapi\nfunc Of(v any) {}",
		"internal/metrics/any.go": "package metrics\nfunc Set(v any) {}",
	}, []string{
		"server/a.go:3: State has any in its signature; say which type it is, such as one of package api",
		"server/a.go:7: Get has any in its signature; say which type it is, such as one of package api",
		"server/a.go:10: Look has any in its signature; say which type it is, such as one of package api",
		"server/a.go:12: Reload has any in its signature; say which type it is, such as one of package api",
		"server/a.go:17: Hook has any in its signature; say which type it is, such as one of package api",
		"server/a.go:18: Tell has any in its signature; say which type it is, such as one of package api",
		"server/remote/r.go:2: Dial has any in its signature; say which type it is, such as one of package api",
	}},
	{"names are found", namesAreFound, tree{
		"a/a.go":      "package a\ntype gaze struct{}\ntype (\nLarynx int\nlook int\n)\nfunc choir() { type crowd int }\nvar lens int",
		"a/a_test.go": "package a\ntype choir struct{}",
	}, []string{
		"a/a.go:2: the type gaze has a name that nobody would search for; take the word of the field",
		"a/a.go:4: the type Larynx has a name that nobody would search for; take the word of the field",
	}},
	{"talk is run", talkIsRun, tree{
		"a_test.go":             "package a\nfunc TestA() {}\nfunc TestAloud() {}",
		"cmd/earshot/b_test.go": "package main\nfunc TestAloudB() {}",
	}, []string{"a_test.go:3: make race leaves it out, and make aloud does not run it; give it another name"}},
	{"C only in helpers", cOnlyInHelpers, tree{
		"a.go":                     "//go:build cgo\n\npackage a\nimport \"C\"",
		"cmd/earshot-sound/a.go":   "//go:build cgo\n\n// Command earshot-sound.\npackage main\nimport \"C\"",
		"cmd/earshot-sound/b.go":   "package main",
		"cmd/earshot-camera/b.go":  "//go:build !cgo\n\npackage main",
		"cmd/earshot-camera/c.go":  "//go:build linux && cgo\n\npackage main",
		"cmd/earshot-camera/d.go":  "package main\n//go:build cgo",
		"cmd/earshot-unknown/e.go": "//go:build cgo\n\npackage main\nimport \"C\"",
	}, []string{
		"a.go: C lives in helper processes",
		"cmd/earshot-camera/b.go: must say //go:build cgo",
		"cmd/earshot-camera/d.go: must say //go:build cgo",
		"cmd/earshot-sound/b.go: must say //go:build cgo",
		"cmd/earshot-unknown/e.go: C lives in helper processes",
	}},
	{"servers outside the daemon", serversOutside, tree{
		"a.go":                      "package a\nimport \"github.com/nats-io/nats-server/v2/server\"",
		"b.go":                      "package a\nimport (\"github.com/nats-io/nats.go\"; \"github.com/nats-io/nats-servers\")",
		"cmd/earshot-bus/server.go": "package main\nimport \"github.com/nats-io/nats-server/v2/server\"",
	}, []string{"a.go: imports github.com/nats-io/nats-server/v2/server: only cmd/earshot-bus holds it"}},
	{"print only in commands", printOnlyInCommands, tree{
		"a.go":          "package a\nimport (\"fmt\"; \"os\")\nfunc f() {\nfmt.Println()\nfmt.Fprintln(os.Stderr)\nprintln()\n}",
		"b.go":          "package a\nimport \"log\"\nvar _ = log.Println",
		"c.go":          "package a\nimport \"log/slog\"\nvar _ = slog.New\nfunc g() { slog.Info(\"\") }",
		"cmd/x/main.go": "package main\nimport \"fmt\"\nfunc main() { fmt.Println() }",
		"d_test.go":     "package a\nimport \"fmt\"\nfunc h() { fmt.Println() }",
	}, []string{
		"a.go:4: prints; only commands do",
		"a.go:5: takes the program's own output; it is passed in",
		"a.go:6: prints; only commands do",
		"b.go: logs by itself; the logger is passed in",
		"c.go:4: logs by itself; the logger is passed in",
	}},
	{"a context is passed", contextIsPassed, tree{
		"a.go":          "package a\nimport \"context\"\nvar x = context.Background()\nvar y = context.TO" + "DO()",
		"a_test.go":     "package a\nimport \"context\"\nvar z = context.Background()",
		"cmd/x/main.go": "package main\nimport \"context\"\nvar x = context.Background()",
	}, []string{
		"a.go:3: makes a context; it is passed in",
		"a.go:4: makes a context; it is passed in",
	}},
	{"a context is not stored", contextIsNotStored, tree{
		"a.go": "package a\nimport \"context\"\ntype t struct {\nctx context.Context\nend context.CancelFunc\nrun func(context.Context)\n}",
	}, []string{"a.go:4: stores a context; it is passed"}},
	{"leaks are sought", leaksAreSought, tree{
		"a/a.go":      "package a\nfunc f() { go f() }",
		"a/a_test.go": "package a",
		"e/e.go":      "package e\nfunc f() { go f() }",
		"b/b.go":      "package b\nfunc f() { g.Go(f) }",
		"b/b_test.go": "package b\nfunc TestMain() {}",
		"c/c.go":      "package c\nfunc f() { go f() }",
		"c/c_test.go": "package c\nimport \"go.uber.org/goleak\"\nfunc TestMain(m *testing.M) { goleak.VerifyTestMain(m) }",
		"d/d.go":      "package d\nfunc f() {}",
	}, []string{
		"a/a.go:2: starts a goroutine, and no test of the package calls goleak.VerifyTestMain or goleak.Find",
		"b/b.go:2: starts a goroutine, and no test of the package calls goleak.VerifyTestMain or goleak.Find",
	}},
	{"nothing left open", nothingLeftOpen, tree{
		"a.md":           "one\nTO" + "DO: two",
		"b.go":           "package b // FIX" + "ME later",
		"c.txt":          "TO" + "DOS is a word",
		"bin/d.txt":      "TO" + "DO",
		"testdata/e.txt": "TO" + "DO",
	}, []string{
		`a.md:2: "TO` + `DO" promises something; do it, or write an issue`,
		`b.go:1: "FIX` + `ME" promises something; do it, or write an issue`,
		`testdata/e.txt:1: "TO` + `DO" promises something; do it, or write an issue`,
	}},
	{"no machine paths", noMachinePaths, tree{
		"a.go":   "package a\nvar x = \"/ro" + "ot/go\"\nvar y = \"/u_7/agent/home/x\"",
		"b.sh":   "cd /ho" + "me/somebody && cat </tm" + "p/x\ncd $HOME/tmp/x ${X}/tmp/",
		"c.yaml": "path: /tm" + "p\nrest: /homely /tmpfs ~/work/ ../work/",
	}, []string{
		`a.go:2: "\"/ro` + `ot/" names a path of one machine`,
		`b.sh:1: "/ho` + `me/" names a path of one machine`,
		`c.yaml:1: "/tm` + `p" names a path of one machine`,
	}},
	{"no replace", noReplace, tree{
		"go.mod":       "module earshot\n\nreplace a => b\nreplace earshot => ../",
		"bench/go.mod": "module earshot/bench\n\nreplace earshot => ../\nreplace a => ../",
	}, []string{
		"go.mod:3: replaces a module",
		"go.mod:4: replaces a module",
		"bench/go.mod:4: replaces a module",
	}},
	{"modules agree", modulesAgree, tree{
		"go.mod":       "module earshot\n\nrequire (\n\texample.org/a v1.0.0\n\texample.org/b v1.0.0 // indirect\n)\n",
		"go.work":      "use (\n\t.\n\t./bench\n)\n",
		"bench/go.mod": "module earshot/bench\n\nrequire (\n\tearshot v0.0.0\n\texample.org/a v1.0.0\n\texample.org/b v1.1.0\n)\n",
		"tools/go.mod": "module earshot/tools\n\nrequire example.org/c v1.0.0\n",
	}, []string{
		"bench/go.mod: requires example.org/b v1.1.0, another module v1.0.0; require the newest in each",
		"go.work: does not use ./tools",
	}},
	{"dependencies are licensed", dependenciesAreLicensed, tree{
		"x/go.mod": "module earshot/x\n\nrequire example.org/f v1.0.0\n\nrequire example.org/d v1.2.3\n",
		"go.mod":   "module earshot\n\ngo 1.26.0\n\nrequire (\n\texample.org/a v1.0.0\n\texample.org/b/v2 v2.1.0 // indirect\n\texample.org/C v0.1.0\n)\n\nrequire example.org/d v1.2.3\n\ntool example.org/a/cmd/x\n",
		thirdParty: "| module | licence |\n|---|---|\n| `example.org/a` | MIT | |\n| `example.org/C` | |\n| `example.org/e` | MIT |\n| `example.org/a` | ISC |\n| `speexdsp` | BSD |\n",
	}, []string{
		"THIRD_PARTY.md: example.org/C has no licence; read that of the module",
		"THIRD_PARTY.md: example.org/a is listed twice",
		"THIRD_PARTY.md: example.org/b/v2 is in go.mod and not listed; add it with its licence",
		"THIRD_PARTY.md: example.org/d is in go.mod and not listed; add it with its licence",
		"THIRD_PARTY.md: example.org/f is in x/go.mod and not listed; add it with its licence",
		"THIRD_PARTY.md: example.org/e is in no go.mod any more; remove it",
	}},
	{"links lead somewhere", linksLead, tree{
		"README.md":        "[a](docs/a.md) [b](docs/b.md#two-words) [c](docs/a.md#gone) [d](https://example.org/x) [e](x)\n```\n[f](gone.md)\n```\n`[g](gone.md)` ![h](docs/pictures/h.svg)\n`two\n[g](gone.md) lines` [i](lost.md)",
		"docs/README.md":   "[a](a.md) [home](../README.md) [c](c/)",
		"docs/a.md":        "# One\n\n## Two `words`, here!\n\n## One\n\n[1](#one-1) [2](#two-words-here) [3](#one-2) [4](../x/)",
		"docs/b.md":        "```\n## Two words\n```\n[a](README.md)",
		"docs/c/d.md":      "[a](../a.md#one)",
		"x/x.go":           "package x // see docs/a.md, docs/gone.md and https://example.org/docs/gone.md",
		"x/x_test.go":      "package x\nconst page = \"../docs/lost.md\"",
		"docs/openapi.txt": "",
	}, []string{
		"README.md:1: docs/b.md#two-words leads to no heading",
		"README.md:1: docs/a.md#gone leads to no heading",
		"README.md:5: docs/pictures/h.svg leads to no file",
		"README.md:7: lost.md leads to no file",
		"docs/a.md:7: #one-2 leads to no heading",
		"x/x.go:1: there is no docs/gone.md",
		"x/x_test.go:2: there is no docs/lost.md",
		"docs/README.md: does not link docs/b.md",
		"docs/README.md: does not link docs/c/d.md",
	}},
	{"what can be installed is", installed, tree{
		"daemon/d.go":         "package daemon\ntype Daemon int\nfunc (d Daemon) InstallVoice() {}\nfunc (d Daemon) InstallCameras() {}",
		"cmd/earshot/main.go": "package main\nfunc run(d interface{ InstallVoice() }) { d.InstallVoice() }",
	}, []string{"daemon/d.go:4: nothing in cmd/earshot calls it, so what it installs never starts; call it in cmd/earshot/run.go"}},
	{"parts agree", partsAgree, tree{
		"providers/console/c.go":      "package console",
		"providers/webcam/c.go":       "package webcam",
		"providers/replay/c.go":       "package replay",
		"providers/providertest/c.go": "package providertest",
		"outlets/console/c.go":        "package console",
		"config/c.go":                 "package config\ntype Providers struct { Console int `yaml:\"console\"` }\ntype Outlets struct { Console int `yaml:\"console\"` }",
		"cmd/earshot/main.go":         "package main\nimport (\"earshot/providers/console\"; \"earshot/providers/webcam\"; \"earshot/providers/replay\")",
		"docs/status.md":              "| Sense | state |\n|---|---|\n| `console` | works |\n| `webcam` | works |\n| ears | later |\n\n| Outlet | state |\n|---|---|\n| `console` | works |\n| `printer` | works |\n",
	}, []string{
		`the struct config.Providers names ["console"], but the folders in providers are ["console" "webcam"]`,
		`what cmd/earshot, daemon and internal/discord/bot import names [], but the folders in outlets are ["console"]`,
		`the table Outlet in docs/status.md names ["console" "printer"], but the folders in outlets are ["console"]`,
	}},
}

// TestHouse checks the rules in this repository.
func TestHouse(t *testing.T) {
	h := home(t)
	if len(h.files) < 10 || h.texts["go.mod"] == "" {
		t.Fatalf("found only %d files; this is not the repository", len(h.files))
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, complaint := range r.check(h) {
				t.Error(complaint)
			}
		})
	}
}

// TestRules checks that each rule finds the violations in its own tree.
func TestRules(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			fsys := make(fstest.MapFS)
			for name, text := range r.wrong {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			h, err := load(fsys)
			if err != nil {
				t.Fatal(err)
			}
			got, want := strings.Join(r.check(h), "\n"), strings.Join(r.want, "\n")
			if got != want {
				t.Errorf("complained:\n%s\n\nwant:\n%s", got, want)
			}
		})
	}
}
