# make test         what a newcomer runs: under 8 minutes on two cores
# make conformance  the long half: clients of other languages, long oracle runs
# make oracle N=…   compare N random commands per mode and protocol with real Redis
# make upstream     Redis' own test suite
# make bench        benchmarks

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
LONG := (tests/(oracle|interop|chaos|console)|shim)

.PHONY: test conformance oracle bench check unit oracle-short oracle-long lua-fuzz upstream interop bench-smoke redis clients shim console chromium

test: redis check unit oracle-short

conformance: redis clients oracle-long lua-fuzz interop shim upstream bench-smoke

check:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

unit:
	$(GO) test -race -timeout 8m $$($(GO) list ./... | grep -Ev '$(MODULE)/$(LONG)')

oracle-short:
	ORACLE_N=$(ORACLE_SHORT) $(GO) test -count=1 -timeout 5m ./tests/oracle/...

oracle-long:
	ORACLE_N=$(ORACLE_LONG) $(GO) test -count=1 -timeout 15m ./tests/oracle/...

# The corpus of snippets, mutated and generated Lua programs against real Redis.
lua-fuzz:
	LUA_FUZZ_ROUNDS=$(LUA_ROUNDS) $(GO) test -count=1 -timeout 10m -v -run 'Corpus|Libraries|LibraryCalls|MutatedPrograms|GeneratedPrograms' ./lua

oracle: redis
	ORACLE_N=$(N) $(GO) test -count=1 -timeout 0 -v -run Random ./tests/oracle

upstream:
	tests/upstream/run

interop:
	$(GO) test -count=1 -timeout 10m -v ./tests/interop

# The console in a browser; pictures of it are left in $FAKECLUSTER_SCREENSHOTS.
console: chromium
	$(GO) test -count=1 -timeout 10m -v ./tests/console

shim:
	$(GO) test -race -count=1 -timeout 10m ./shim/...

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# One round of every benchmark: they must run, their figures do not matter.
bench-smoke:
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

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
