package archtest

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// may lists which of our packages each part of the program may import, besides internal/field,
// internal/lazyregexp, internal/mailbox and its own branch. "." is the root, "x" is x alone, "x/..." is
// x and everything below it, and "x/*" is each folder in x with everything below it, as a part of its
// own. The longest matching entry is the rule for a package. A package without a matching entry fails
// the test: a new folder is a decision, not an accident.
var may = map[string]string{
	".":                              "", // only the standard library
	"internal/field":                 "",
	"internal/mailbox":               "",
	"internal/lazyregexp":            "",
	"internal/acceptance":            "", // it reads the tests, but imports none
	"internal/archtest":              "",
	"internal/testkit":               ".",
	"internal/testkit/pgtest":        "internal/testkit",
	"internal/testkit/netlab":        "internal/testkit",
	"internal/audio":                 "",
	"internal/audio/arbiter":         "internal/audio",
	"internal/helper/...":            "",
	"internal/terminal":              ".",
	"internal/terminal/terminaltest": "internal/terminal",
	"internal/picture":               "",
	"internal/atomicfile":            "",
	"internal/download":              "internal/english",
	"internal/english":               "",
	"examples/...":                   ". config daemon providers",
	"internal/completion":            "api internal/terminal",
	"internal/firststart":            "config internal/login internal/probe internal/progress internal/terminal llm store",
	"internal/export":                ". daemon/access internal/terminal internal/transcript participants store",
	"internal/login":                 ". participants internal/terminal",
	"internal/progress":              "api internal/english internal/terminal llm/...",
	"internal/sceneplayer":           ". config daemon daemon/access internal/terminal internal/transcript llm/... models/voiceprint outlets/console participants providers/... daemon/admin executive/room store",
	"internal/systemd":               "config internal/atomicfile",
	"internal/transcript":            ". conversation internal/english internal/terminal outlets/console participants/... store",
	"internal/probe":                 ". api bus bus/nats config satellite/pairing llm/... store server/... participants/... speakers conversation executive models/catalog models/engine models/neural models/see models/sets providers/... outlets/... internal/...",
	"internal/redact":                ".",
	"internal/keyfile":               "internal/atomicfile",
	"internal/sdnotify":              "",
	"internal/logfile":               "internal/redact internal/terminal",
	"internal/lockorder":             "",
	"internal/trial":                 ". internal/audio internal/english internal/terminal language models/catalog models/neural models/sense models/stt providers/microphone",
	"internal/metrics":               ".",
	"internal/supervise":             ". internal/wait",
	"internal/usage":                 "api",
	"internal/wait":                  "",
	"internal/power":                 "",
	"internal/sound/...":             ". internal/audio internal/helper internal/supervise",
	"internal/codec":                 "internal/audio internal/helper",
	"bus":                            "internal/field internal/mailbox",
	"bus/...":                        "bus internal/atomicfile internal/field internal/helper internal/keyfile internal/mailbox satellite", // whose rights it keeps
	"cluster":                        "bus internal/atomicfile internal/field internal/keyfile",
	"internal/testkit/history":       "",
	"satellite/...":                  ". bus internal/audio internal/codec internal/field internal/helper internal/mailbox internal/sound/... internal/supervise models/see/wire models/stt",
	"satellite/pairing":              ". internal/field internal/keyfile satellite",
	"internal/playback/...":          ". internal/audio internal/sound models/tts",
	"internal/discord":               "", // only a comment, no code
	"internal/discord/gateway":       ". internal/supervise",
	"internal/discord/calls":         ". internal/audio internal/codec internal/sound/... internal/supervise internal/discord/gateway internal/discord/voice providers",
	"internal/discord/compose":       "",
	"internal/discord/posts":         "internal/discord/compose internal/discord/gateway",
	"internal/discord/roster":        ". internal/discord/compose internal/discord/gateway",
	"internal/discord/interaction":   ". internal/discord/compose internal/discord/gateway",
	"internal/discord/voice":         "internal/discord/dave",
	"internal/discord/dave":          "internal/discord/mls", // these two may become libraries one day
	"internal/discord/mls":           "",
	"internal/discord/davetest":      "internal/discord/mls",
	"internal/discord/discordtest":   "internal/discord/davetest",
	"internal/discord/discordtest/*": "",
	"internal/discord/peers":         "",
	"internal/scenetest":             "./...",
	"llm/...":                        "", // engines know about words, not about us
	"interrupt":                      ".",
	"language":                       "",
	"language/phones":                "",
	"participants/...":               ".",
	"participants/agents":            ". internal/field language participants", // to find the address that somebody meant
	"api":                            ". participants",                         // for who somebody is
	"store":                          ". internal/search",
	"store/postgres":                 "internal/lazyregexp",
	"store/journal":                  ".", // from here on, each may import some of those above it
	"store/index":                    ". internal/search store/journal",
	"store/salvage":                  ". store/journal",
	"store/views":                    ". store/index store/journal store/vectors",
	"store/vectors":                  ". internal/search store/journal",
	"store/edit":                     ". store/journal",
	"store/retention":                ". store/edit store/journal",
	"store/transfer":                 ". store/edit store/journal",
	"store/backup":                   ". store/index store/journal",
	"internal/search":                ".",
	"conversation":                   ". language/... participants/...",
	"models/...":                     ". language internal/audio internal/helper internal/supervise internal/wait",
	"models/sets":                    "internal/atomicfile internal/download models/catalog",
	"models/neural":                  "language/phones models/catalog models/wire internal/atomicfile internal/helper",
	"speakers":                       ". models/voiceprint",
	"providers":                      ".",
	"providers/*":                    ". language providers models/... internal/...",
	"outlets":                        ".",
	"outlets/*":                      ". outlets models/tts internal/...",
	"executive/...":                  ". api interrupt conversation language participants/... speakers llm internal/lockorder",
	"executive/room":                 ". api executive/... interrupt conversation participants/... speakers llm internal/lockorder",
	"executive/notice":               ". executive/... participants/... internal/lockorder internal/supervise",
	"server/...":                     ". api participants/... providers internal/atomicfile internal/keyfile internal/search", // for the senses of an attached terminal
	"replay":                         ". config executive/... interrupt llm participants/... speakers internal/english internal/terminal internal/transcript",
	"monitor/...":                    ". api interrupt participants/... executive/... providers server/... internal/search internal/terminal",
	"config":                         ". api bus cluster executive/... language participants/... speakers store server providers/... outlets/... models/... internal/atomicfile internal/logfile",
	"daemon":                         "./...",
	"daemon/admin":                   ". api internal/english internal/terminal participants/... speakers executive/scene",
	"daemon/cameras":                 ". api executive/... internal/helper internal/probe internal/redact models/see participants providers providers/webcam daemon/admin internal/atomicfile",
	"daemon/backup":                  "config daemon/erase daemon/health internal/atomicfile internal/discord/bot internal/english internal/terminal satellite/pairing server/token speakers store",
	"daemon/console":                 ". api internal/login internal/terminal outlets/console participants providers providers/console server server/client config daemon/access executive/room",
	"daemon/diagnosis":               ". api config internal/logfile internal/redact participants",
	"internal/discord/bot":           ". config daemon/access executive/... internal/... models/... outlets/discord participants providers/... store",
	"daemon/health":                  ". api config llm internal/atomicfile internal/english internal/metrics internal/power internal/probe internal/sdnotify internal/terminal internal/usage daemon/admin",
	"daemon/buslink":                 ". api bus bus/... config daemon/section internal/field internal/helper internal/wait satellite satellite/pairing",
	"daemon/membership":              ". api bus cluster config daemon/buslink internal/metrics internal/usage internal/wait satellite/pairing store/postgres",
	"daemon/roomset":                 ". executive internal/wait",
	"daemon/section":                 ". api internal/supervise",
	"daemon/access":                  ". config executive participants/... server/... store",
	"daemon/devices":                 ". api bus bus/natsserver bus/stream config daemon/buslink daemon/section internal/audio/... internal/english internal/helper internal/probe internal/sound internal/supervise internal/wait models/... outlets/loudspeaker participants providers providers/microphone satellite/...",
	"daemon/engines":                 ". config executive/command internal/probe internal/supervise llm/... participants",
	"daemon/erase":                   ". api bus daemon/buslink internal/wait executive executive/command executive/record executive/tool/workspace internal/atomicfile internal/english internal/search participants/... server/token speakers store",
	"cmd/...":                        "./...",
	"scripts":                        "",
	"bench":                          "./...", // a module of its own, like the tools
	"tools/*":                        ". internal/audio language/phones models models/hear models/voiceprint/... models/voicing speakers",
}

// tried lists what the tests of a package may import in addition, to run it on the real thing.
var tried = map[string]string{
	"daemon/devices":      "speakers",
	"executive/memory":    "store",
	"executive/recall":    "store",
	"executive/remind":    "store",
	"executive/task":      "store",
	"executive/schedule":  "store",
	"participants/agents": "store",
	"cluster":             "internal/testkit/pgtest store/postgres",                                                                                  // which has the leases
	"store":               "cluster executive/memory executive/remind executive/schedule executive/task internal/testkit/pgtest participants/agents", // whose tables it keeps

	"server": "bus bus/stream", // by which requests are passed on

	"satellite/client": "bus/nats bus/natsserver models/see models/wire providers/microphone", // which carry its sessions, and hear at the hub
	"satellite/hub":    "models/wire",                                                         // in which a helper answers

	"models/neural":       "internal/audio models/stt models/tts", // whose clients it has
	"outlets/loudspeaker": "models models/catalog models/neural",  // whose voices have rates of their own

	"internal/discord/gateway": "internal/discord/calls internal/discord/voice", // the calls that a session carries

	"internal/discord/calls": "internal/helper models/hear models/stt models/tts providers/discord providers/microphone", // with which the bot makes its ears
}

// doubles may be imported only by test files, by each other, and by programs that are themselves
// tests.
var doubles = []string{
	"bus/bustest",
	"bus/nats/natstest",
	"internal/archtest",
	"internal/discord/davetest",
	"internal/discord/discordtest",
	"internal/discord/discordtest/wire",
	"internal/discord/peers",
	"internal/helper/helpertest",
	"internal/playback/playbacktest",
	"internal/sound/soundtest",
	"internal/testkit",
	"internal/testkit/history",
	"internal/testkit/pgtest",
	"internal/testkit/netlab",
	"internal/terminal/terminaltest",
	"internal/scenetest",
	"llm/llmtest",
	"llm/ollama/ollamatest",
	"llm/openai/llamatest",
	"models/hear/heartest",
	"models/wyoming/wyomingtest",
	"models/modeltest",
	"models/see/seetest",
	"providers/providertest",
}

// also lists who else may import a double.
var also = map[string]string{
	"llm/llmtest":                  "llm/engine cmd/... internal/probe internal/sceneplayer internal/scenetest bench", // the scripted model is part of the program
	"llm/ollama/ollamatest":        "internal/scenetest bench",
	"internal/testkit":             "internal/scenetest bench",
	"internal/discord/discordtest": "bench",
	"internal/discord/peers":       "bench",
	"internal/sound/soundtest":     "bench",
	"models/hear/heartest":         "bench",
	"models/modeltest":             "bench",
	"models/see/seetest":           "bench",
	"internal/scenetest":           "cmd/... bench", // earshot demo and replay perform scenes
}

// bubbles lists who else may import package testing, and why.
var bubbles = map[string]string{
	"cmd/earshot-replay": "its clock is that of a bubble of testing/synctest, for which it is a program of its own",
}

// runs lists who may import the daemon, which is above all other packages.
const runs = "cmd/... daemon/... examples/... internal/discord/bot internal/export internal/sceneplayer internal/scenetest bench replay"

// linked are the doubles that a command may link; so they must not import testing.
var linked = []string{"llm/llmtest", "internal/scenetest"}

// fits reports whether pattern covers the package in dir, and which branch of the tree it means
// there.
func fits(pattern, dir string) (branch string, ok bool) {
	if pattern == "./..." {
		return ".", true
	}
	if root, all := strings.CutSuffix(pattern, "/..."); all {
		return root, dir == root || strings.HasPrefix(dir, root+"/")
	}
	if root, each := strings.CutSuffix(pattern, "/*"); each {
		rest, ok := strings.CutPrefix(dir, root+"/")
		child, _, _ := strings.Cut(rest, "/")
		return path.Join(root, child), ok
	}
	return pattern, pattern == dir
}

// fitsAny reports whether one of the patterns in list covers dir.
func fitsAny(list, dir string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(pattern string) bool {
		_, ok := fits(pattern, dir)
		return ok
	})
}

// ruleFor returns the entry of may for the package in dir.
func ruleFor(dir string) (allowed, branch string, ok bool) {
	longest := ""
	for pattern, list := range may {
		b, fit := fits(pattern, dir)
		if fit && (!ok || len(pattern) > len(longest)) {
			longest, allowed, branch, ok = pattern, list, b, true
		}
	}
	return allowed, branch, ok
}

// imports reports every import that the table does not allow.
func imports(h *house) (complaints []string) {
	for _, dir := range h.dirs() {
		if _, _, ok := ruleFor(dir); !ok {
			complaints = append(complaints, fmt.Sprintf("%s: no entry of the import table fits this folder", dir))
		}
	}
	for _, f := range h.files {
		for _, imported := range f.imports {
			if why := forbidden(f, imported); why != "" {
				complaints = append(complaints, fmt.Sprintf("%s: imports %s: %s", f.path, imported, why))
			}
		}
	}
	return complaints
}

// forbidden returns why f may not import the package, or "".
func forbidden(f *file, imported string) string {
	target, ok := ours(imported)
	if !ok {
		return forbiddenForeign(f, imported)
	}
	allowed, branch, known := ruleFor(f.dir)
	own := func(dir string) bool {
		return branch != "." && (dir == branch || strings.HasPrefix(dir, branch+"/"))
	}
	switch {
	case !known || target == f.dir: // reported already, or the external tests of the package itself
		return ""
	case target == "cmd" || strings.HasPrefix(target, "cmd/"):
		return "nobody imports cmd"
	case (target == "daemon" || strings.HasPrefix(target, "daemon/")) && !fitsAny(runs, f.dir):
		return "the daemon is for commands, and for what performs a day or a scene in it"
	case fitsAny("bench/... tools/...", target):
		return "it belongs to a module that requires this one"
	case slices.Contains(doubles, target):
		if f.test || slices.Contains(doubles, f.dir) || fitsAny(also[target], f.dir) {
			return ""
		}
		return "it is for tests only"
	case f.dir == ".":
		return "the root imports nothing of ours"
	case fitsAny("internal/field internal/lazyregexp internal/mailbox", target) || own(target) || fitsAny(allowed, target) || f.test && fitsAny(tried[f.dir], target):
		return ""
	}
	return fmt.Sprintf("may import only %q", allowed)
}

// forbiddenForeign returns why f may not import a package that is not ours, or "".
func forbiddenForeign(f *file, imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case f.test:
		return ""
	case f.dir == "." && strings.Contains(first, "."):
		return "the root is made of the standard library alone"
	case f.dir == "api" && strings.Contains(first, "."):
		return "the types of the API need the standard library alone"
	case first == "testing" && bubbles[f.dir] == "" && (!slices.Contains(doubles, f.dir) || slices.Contains(linked, f.dir)):
		return "it would be linked into the program"
	}
	return ""
}

// deepest is how many of our packages may follow one another by imports, so that somebody who reads
// one knows how much there can be below it. The bench and the tools are modules of their own.
const deepest = 10

// importDepth reports the longest chain of imports if it is too long.
func importDepth(h *house) []string {
	below := make(map[string][]string)
	for _, f := range h.files {
		if f.test || strings.HasPrefix(f.dir, "bench") || strings.HasPrefix(f.dir, "tools/") {
			continue
		}
		for _, imported := range f.imports {
			if dir, ours := strings.CutPrefix(imported, "."); ours {
				below[f.dir] = append(below[f.dir], cmp.Or(strings.TrimPrefix(dir, "/"), "."))
			}
		}
	}
	chains := make(map[string][]string)
	var chain func(dir string) []string
	chain = func(dir string) []string {
		if known, ok := chains[dir]; ok {
			return known
		}
		var longest []string
		for _, next := range below[dir] {
			if c := chain(next); len(c) > len(longest) {
				longest = c
			}
		}
		chains[dir] = append([]string{dir}, longest...)
		return chains[dir]
	}
	var worst []string
	for _, dir := range slices.Sorted(maps.Keys(below)) {
		if c := chain(dir); len(c) > len(worst) {
			worst = c
		}
	}
	if len(worst) <= deepest {
		return nil
	}
	return []string{fmt.Sprintf("%d packages follow one another by imports, and at most %d may: %s", len(worst), deepest, strings.Join(worst, " → "))}
}
