# make lists what it can do. The two to know are make run and make test.

# A Go older than go.mod asks for fetches the right one by itself, also where
# the environment forbids it; a choice of another kind is kept.
ifneq ($(filter-out local,$(GOTOOLCHAIN)),)
export GOTOOLCHAIN
else
export GOTOOLCHAIN := auto
endif

# A clone that belongs to somebody else (a container, a mounted folder) has a
# history that git will not read; it is built without its revision.
ifneq ($(shell git status >/dev/null 2>&1 && echo readable),readable)
export GOFLAGS += -buildvcs=false
endif

# How often a property is checked: 60 times in test-core (a fifth of 300, since it is
# short) and in test, 40 times in race, where that takes ten times as long, and 1000 times
# in proof, which also has the long counts of killed processes and outages.

# How long each fuzz target runs.
FUZZTIME ?= 20s

# go.work joins three modules: earshot, bench and tools. The pattern "work" means the packages
# of all three; "./..." means those of earshot alone.
#
# The helpers hold C. Where nobody wants a voice (EARSHOT_WITHOUT=voice), eyes
# (EARSHOT_WITHOUT=camera) or neural models (EARSHOT_WITHOUT=neural), they are left out.
comma := ,
WITHOUT := $(subst $(comma), ,$(EARSHOT_WITHOUT))
UNWANTED := $(if $(filter voice,$(WITHOUT)),/cmd/earshot-sound$$ /cmd/earshot-speech$$) $(if $(filter camera,$(WITHOUT)),/cmd/earshot-camera$$) $(if $(filter neural,$(WITHOUT)),/cmd/earshot-neural$$)
ifneq ($(strip $(UNWANTED)),)
PACKAGES = $$(go list work | grep -v $(foreach package,$(UNWANTED),-e '$(package)'))
else
PACKAGES = work
endif

# PortAudio's Go side keeps numbers in pointers, which the race detector's
# companion does not allow. SQLite itself is C in the shape of Go, with memory of
# its own in which there is nothing to detect; watching it takes most of the time.
RACE = -race -tags lockorder -shuffle=on -parallel 4 -timeout 40m -gcflags=github.com/gordonklaus/portaudio=-d=checkptr=0 \
	-gcflags=modernc.org/sqlite/lib=-race=false

# The longest packages come first, so that none is left alone at the end. The bench and the
# training compute for minutes and share nothing: make figures runs them alone.
LONG = earshot/cmd/earshot earshot/store earshot/internal/sound earshot/executive/room earshot/models
ALONE = earshot/bench earshot/tools/voiceprint
TESTED = $$({ printf '%s\n' $(LONG); go list $(PACKAGES); } | grep -vx $(foreach package,$(ALONE),-e '$(package)') | awk '!seen[$$0]++')

# What is said aloud is understood in real time, if nothing else has the processors.
ALOUD = '^TestAloud'
INTERLEAVINGS = '^TestInterleavings$$'

# The tests that compare the docs with the program.
DOCS = '^Test(DocsAreCurrent|House|DescriptionIsCurrent|ModelsPage)$$'

# Tests name times of day; who runs one by itself elsewhere says TZ=UTC too.
check test test-core race aloud proof: export TZ := UTC

# What follows bin/earshot run, such as ARGS='--config my.yaml'.
ARGS ?=

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run build install uninstall check test verify proof test-core figures aloud chaos race fuzz bench scenes pictures clean

help: ## list what make can do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

run: ## set up the machine if need be, build, and start earshot (ARGS=..., YES=1 installs without asking)
	@scripts/setup run
	@$(MAKE) --no-print-directory build
	@exec bin/earshot run $(ARGS)

build: ## build the programs into bin/
	@mkdir -p bin
	CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/earshot ./cmd/earshot-replay ./cmd/earshot-bus
	@if scripts/setup voice; then \
		echo CGO_ENABLED=1 go build -trimpath -o bin/ ./cmd/earshot-s...; \
		CGO_ENABLED=1 go build -trimpath -o bin/ ./cmd/earshot-s...; \
	else \
		echo 'without the helpers that hear and speak'; \
	fi
	@if scripts/setup camera; then \
		echo CGO_ENABLED=1 go build -trimpath -o bin/ ./cmd/earshot-camera; \
		CGO_ENABLED=1 go build -trimpath -o bin/ ./cmd/earshot-camera; \
	else \
		echo 'without the helper that sees'; \
	fi
	@if scripts/setup neural; then \
		echo scripts/neural/build bin; \
		scripts/neural/build bin; \
	else \
		echo 'without the helper that runs neural models'; \
	fi

install: build ## build, and install for you (PREFIX, DESTDIR)
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install put

uninstall: ## take that away again; what earshot knows is kept
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install remove

check: ## format, go vet, staticcheck, known vulnerabilities, and the docs beside the program
	@unformatted=$$("$$(go env GOROOT)/bin/gofmt" -l .); \
		[ -z "$$unformatted" ] || { printf 'not formatted with gofmt:\n%s\n' "$$unformatted" >&2; exit 1; }
	go vet $(PACKAGES)
	go tool staticcheck $(PACKAGES)
	@scripts/vulncheck $(PACKAGES)
	CGO_ENABLED=0 go test -short -run $(DOCS) ./config ./cmd/earshot ./internal/archtest

test: ## what a contributor runs: set up, check, and all tests, with real servers and devices
	@scripts/setup test
	@$(MAKE) --no-print-directory check
	CGO_ENABLED=0 go build work
	RAPID_CHECKS=60 go test -timeout 40m -skip $(ALOUD) $(TESTED)
	CGO_ENABLED=0 go test -tags lockorder -run $(INTERLEAVINGS) ./executive/room

verify: figures aloud chaos race ## what CI runs after test: the bench once, talk in real time, the race detector

proof: ## the long counts, without the race detector
	@scripts/setup test
	EARSHOT_PROOF=1 RAPID_CHECKS=1000 go test -count=1 -timeout 6h -skip $(ALOUD) $(TESTED) $(ALONE)
	cd cmd/earshot && EARSHOT_PROOF=1 go test -count=1 -timeout 6h -run $(ALOUD)
	CGO_ENABLED=0 EARSHOT_PROOF=1 go test -count=1 -timeout 6h -tags lockorder -run $(INTERLEAVINGS) ./executive/room

test-core: ## the daemon and its tests in pure Go, without devices and servers
	CGO_ENABLED=0 go build work
	CGO_ENABLED=0 EARSHOT_WITHOUT=voice,camera,neural,ollama,llama,discord,wyoming,postgres RAPID_CHECKS=300 go test -short work

figures: ## measure each figure of the bench once, and train the voice prints
	go test -timeout 40m $(ALONE)

aloud: ## the tests in which people talk, in real time: alone, and one after the other
	cd cmd/earshot && go test -timeout 40m -run $(ALOUD) # a package that is not named shows what it skips

chaos: ## twenty rounds in which daemons that share rooms are killed, stopped, cut off and given wrong clocks
	cd cmd/earshot && EARSHOT_CHAOS=20 go test -count=1 -timeout 40m -run '^TestChaos$$' .

race: ## all other tests with the race detector, in random order
	CGO_ENABLED=1 RAPID_CHECKS=40 go test $(RACE) -skip $(ALOUD) $(TESTED)

fuzz: ## every fuzz target for FUZZTIME (20s)
	@scripts/setup run
	@FUZZTIME=$(FUZZTIME) scripts/fuzz

scenes: ## perform the scenes: what was heard, what must be said
	go test -count=1 -run Scene ./...

bench: ## what it costs, as multiples of the bare thing
	go run ./bench

pictures: ## those of the documentation, on a real terminal: the monitor, and the demo as it moves
	@mkdir -p docs/pictures
	CGO_ENABLED=0 EARSHOT_PICTURES="$(CURDIR)/docs/pictures" go test -count=1 -run '^Test(Monitor|Demo)OnATerminal$$' ./cmd/earshot

clean: ## remove what was built; the Ollama server and the Discord clients of the tests stay in the user's cache
	rm -rf bin .cache
