# make test         what a newcomer runs: under 8 minutes on two cores
# make conformance  the long half: clients of other languages, long oracle runs
# make oracle N=…   compare N random commands per mode and protocol with real Redis
# make upstream     Redis' own test suite
# make bench        speed and size beside real Redis and miniredis, for docs/benchmarks.md
# make guard        the same in short, against the ratios on record
# make soak SOAK=20m  a cluster under load and everything that can happen to it
# make fuzz FUZZTIME=1m  hostile bytes into everything that reads some
# make release      archives for Linux, macOS and Windows in dist/

GO ?= go
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

# Random commands for each of cluster and standalone, RESP2 and RESP3.
N ?= 25000
ORACLE_SHORT ?= 1500
ORACLE_LONG ?= 5000
# Lua programs of each sort, mutated and generated.
LUA_ROUNDS ?= 50000

MODULE := github.com/fakecluster/fakecluster
# Packages that talk to other programs at length; the rest are unit tests.
LONG := (tests/(oracle|interop|console|scenarios|soak)|shim|layoutkit|broker|examples/shop)

.PHONY: steady sbom vuln verify licences scenarios fuzz fuzz-smoke test conformance soak oracle bench microbench check unit oracle-short oracle-long lua-fuzz upstream interop layoutkit broker bench-smoke guard redis clients shim release archives release-smoke image debian-clients console chromium

test: redis check unit oracle-short

conformance: verify vuln redis clients debian-clients oracle-long lua-fuzz fuzz-smoke steady scenarios interop console release shim layoutkit broker soak upstream bench-smoke guard

check:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

unit:
	$(GO) test -race -timeout 8m $$($(GO) list ./... | grep -Ev '$(MODULE)/$(LONG)')

oracle-short:
	ORACLE_N=$(ORACLE_SHORT) $(GO) test -count=1 -timeout 5m ./tests/oracle/...

oracle-long:
	ORACLE_N=$(ORACLE_LONG) $(GO) test -race -count=1 -timeout 20m ./tests/oracle/...

# The corpus of snippets, mutated and generated Lua programs against real Redis.
lua-fuzz:
	LUA_FUZZ_ROUNDS=$(LUA_ROUNDS) $(GO) test -count=1 -timeout 10m -v -run 'Corpus|Libraries|LibraryCalls|MutatedPrograms|GeneratedPrograms' ./lua

# Hostile bytes into every fuzz target for FUZZTIME.
FUZZTIME ?= 30s
FUZZCACHE ?= $(shell $(GO) env GOCACHE)/fuzz/$(MODULE)
fuzz:
	@GO=$(GO) FUZZTIME=$(FUZZTIME) FUZZCACHE=$(FUZZCACHE) tests/hostile/fuzz

# So many inputs rather than so long, from the committed ones and a fixed seed,
# which is the same work on any machine.
fuzz-smoke:
	@cache=$$(mktemp -d); trap 'rm -rf "$$cache"' EXIT; \
	GODEBUG=fuzzseed=1 $(MAKE) --no-print-directory fuzz FUZZTIME=1000x FUZZCACHE="$$cache"

# What must be the same a hundred times: replies and traces of one seed, and the
# tests of the fixture in any order.
FIXTURE = $(shell grep -ho '^func Test[A-Z][A-Za-z0-9]*' emulator/fixture_test.go emulator/bubble_test.go | sed 's/^func //' | grep -v '^TestMain$$' | paste -sd '|')
steady:
	@test -n '$(FIXTURE)'
	FAKECLUSTER_REPEAT=100 $(GO) test -count=1 -run TestSameSeedSameReplies ./emulator
	$(GO) test -count=100 -shuffle=on -run '^($(FIXTURE))$$' ./emulator
	$(GO) test -count=100 -shuffle=on ./examples/embed ./examples/session

oracle: redis
	ORACLE_N=$(N) $(GO) test -count=1 -timeout 0 -v -run Random ./tests/oracle

upstream:
	tests/upstream/run

# What verbs and accidents do, as logs and as histories that are checked.
scenarios:
	$(GO) test -race -count=1 -timeout 10m ./tests/scenarios

interop:
	$(GO) test -race -count=1 -timeout 20m -v ./tests/interop

# The console in a browser; pictures of it are left in $FAKECLUSTER_SCREENSHOTS.
FAKECLUSTER_SCREENSHOTS ?= $(CURDIR)/dist/screenshots
console: chromium
	FAKECLUSTER_SCREENSHOTS=$(FAKECLUSTER_SCREENSHOTS) $(GO) test -race -count=1 -timeout 15m -v ./tests/console

shim:
	$(GO) test -race -count=1 -timeout 10m ./shim/...

layoutkit:
	$(GO) test -race -count=1 -timeout 20m ./layoutkit/...

broker:
	$(GO) test -race -count=1 -timeout 20m ./broker/... ./examples/shop/...

# Against real Redis and miniredis, on a machine that does nothing else: writes
# docs/benchmarks.md. Takes most of an hour; broken off, it goes on where it was.
bench: redis
	FAKECLUSTER_BENCH=full $(GO) test -count=1 -timeout 0 -v -run Measure ./tests/bench

# The order of locks is checked by the tests of the emulator alone, since checking
# slows the soak down until there is little of it; see emulator/internal/lock.
SOAK ?= 20s
soak:
	$(GO) test -tags lockorder -count=1 -timeout 10m ./emulator ./emulator/internal/lock
	SOAK=5s $(GO) test -race -count=1 -timeout 10m ./tests/soak
	SOAK=$(SOAK) $(GO) test -count=1 -timeout $(if $(filter 20s,$(SOAK)),10m,0) -v ./tests/soak

# The benchmarks beside the code.
microbench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# What things cost beside real Redis, against the ratios on record.
guard: redis
	FAKECLUSTER_BENCH=guard $(GO) test -count=1 -timeout 10m -v -run Guard ./tests/bench

# Every benchmark once, and small: they must run, their figures do not matter.
bench-smoke:
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...
	FAKECLUSTER_BENCH=quick $(GO) test -count=1 -timeout 5m -run Measure ./tests/bench

# Real Redis, the judge. Without it the comparisons are skipped, unless
# FAKECLUSTER_REQUIRE_ORACLES=1.
redis:
	@if command -v redis-server && command -v redis-cli && command -v redis-benchmark; then exit 0; fi >/dev/null; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq redis-server redis-tools >/dev/null; \
	else \
		echo "redis-server and redis-tools are not installed: what compares with them is skipped"; \
	fi

# The JavaScript clients, for tests/interop and an example.
clients:
	@if ! { command -v node && command -v npm; } >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nodejs npm >/dev/null; \
	fi; \
	if command -v npm >/dev/null; then \
		npm ci --no-progress --prefix tests/interop/node; npm ci --no-progress --prefix examples/exec-npm; \
	else \
		echo "nodejs and npm are not installed: the JavaScript clients are skipped"; \
	fi

# The browser for tests/console.
chromium:
	@if command -v chromium; then exit 0; fi >/dev/null; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	else \
		echo "chromium is not installed: the tests of the console are skipped"; \
	fi

# Debian's clients of other languages, for tests/interop.
debian-clients:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			python3-redis php-cli php-redis ruby-redis gcc libhiredis-dev >/dev/null; \
	else \
		echo "Debian's clients are not installed here: those that are missing are skipped"; \
	fi

# Archives of the binary with checksums, built for every platform from anywhere
# with GNU tar, by this toolchain, whatever is installed. Two builds of a version
# are the same to the byte.
TOOLCHAIN := go1.26.11
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
BUILD := CGO_ENABLED=0 GOTOOLCHAIN=$(TOOLCHAIN) $(GO) build -trimpath -buildvcs=false -ldflags "-s -w -X main.stamped=$(VERSION)"

release: archives
	$(MAKE) sbom VERSION=$(VERSION)
	cd dist && sha256sum *.tar.gz *.cdx.json > SHA256SUMS
	$(MAKE) release-smoke VERSION=$(VERSION)

archives:
	rm -rf dist/fakecluster_* dist/SHA256SUMS && mkdir -p dist
	@for platform in $(PLATFORMS); do \
		os=$${platform%/*}; arch=$${platform#*/}; name=fakecluster_$(VERSION)_$${os}_$${arch}; \
		suffix=; if [ $$os = windows ]; then suffix=.exe; fi; \
		mkdir -p dist/$$name; cp LICENSE README.md dist/$$name/; \
		echo "$$name"; \
		GOOS=$$os GOARCH=$$arch $(BUILD) -o dist/$$name/fakecluster$$suffix ./cmd/fakecluster; \
		tar -C dist --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=go=u,go-w -cf - $$name | gzip -n > dist/$$name.tar.gz; \
		rm -r dist/$$name; \
	done

# What each binary is made of, for those who look for known faults in it. No time
# and no serial number is in it, so that two of a version are the same.
SBOM := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
sbom:
	@mkdir -p dist; tool=$$(mktemp -d); trap 'rm -rf "$$tool"' EXIT; \
	GOBIN="$$tool" $(GO) install $(SBOM); \
	for platform in $(PLATFORMS); do \
		os=$${platform%/*}; arch=$${platform#*/}; \
		GOOS=$$os GOARCH=$$arch CGO_ENABLED=0 "$$tool"/cyclonedx-gomod app -json -noserial -notimestamp -licenses \
			-main cmd/fakecluster -output dist/fakecluster_$(VERSION)_$${os}_$${arch}.cdx.json . 2>"$$tool/said" || { cat "$$tool/said"; exit 1; }; \
	done

# Known faults in what is used, by the release too.
vuln:
	GOTOOLCHAIN=$(TOOLCHAIN) GO=$(GO) tests/vuln/run

# The sources of all modules are what go.sum says.
verify:
	$(GO) mod verify

# Writes docs/licences.md anew; make test fails when it is out of date.
licences:
	FAKECLUSTER_UPDATE=1 $(GO) test -count=1 -run TestLicences ./cmd/fakecluster

# The archive for this machine's Linux, unpacked, is of the version and runs; its
# SBOM has all modules; a copy of the sources elsewhere makes the same archives.
release-smoke:
	cd dist && sha256sum --quiet -c SHA256SUMS
	@smoke=$$(mktemp -d); trap 'rm -rf "$$smoke"' EXIT; \
	archive=fakecluster_$(VERSION)_linux_$$($(GO) env GOARCH); \
	tar -C "$$smoke" -xzf dist/$$archive.tar.gz; \
	binary=$$smoke/$$archive/fakecluster; \
	test "$$("$$binary" --version)" = "fakecluster $(VERSION)"; \
	"$$binary" exec --masters 3 -- "$$binary" slot foo >/dev/null; \
	test "$$("$$binary" exec -- sh -c '"$$0" status --addr "$${REDIS_CLUSTER_NODES%%,*}"' "$$binary" | head -1)" = \
		"state ok, 16384 of 16384 slots owned, 3 masters, 0 replicas, 0 keys"; \
	modules=$$(CGO_ENABLED=0 GOOS=linux $(GO) list -deps -f '{{with .Module}}{{.Path}}{{end}}' ./cmd/fakecluster | sort -u); \
	for module in $${modules:?none}; do \
		grep -qF "\"name\": \"$$module\"" dist/$$archive.cdx.json || { echo "the SBOM lacks $$module"; exit 1; }; \
	done; \
	mkdir "$$smoke/again"; tar --exclude=./dist --exclude=./.git --exclude=node_modules -cf - . | tar -C "$$smoke/again" -xf -; \
	$(MAKE) -C "$$smoke/again" archives VERSION=$(VERSION) >/dev/null; \
	grep -q '^FROM golang:$(TOOLCHAIN:go%=%) ' Dockerfile || { echo "the image is not built with $(TOOLCHAIN)"; exit 1; }; \
	for archive in dist/*.tar.gz; do cmp "$$archive" "$$smoke/again/$$archive"; done; \
	echo "the Linux archive runs, its SBOM is whole, and all can be built again"

image:
	docker build --build-arg VERSION=$(VERSION) -t fakecluster:$(VERSION) .
