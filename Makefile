# `make` lists the targets. All of them work on a machine with Go and git;
# `clients` also needs npm.

GO      ?= go
PREFIX  ?= $(HOME)/.local
VERSION ?= $(shell git describe --tags --always 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X main.version=$(VERSION)
BUILD    = CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)'
FUZZTIME ?= 10s

.PHONY: help build install demo test integration lint bench fuzz differ kill clients manual dist clean corpus planner-bench codex-smoke

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

build: ## both programs, into bin/
	$(BUILD) -o bin/ ./cmd/satelle ./cmd/satelle-hook

install: build ## both programs, into $(PREFIX)/bin
	install -d $(PREFIX)/bin
	install -m 0755 bin/satelle bin/satelle-hook $(PREFIX)/bin/

demo: build ## the main job in a scratch repository, told as a story
	@scripts/demo.sh

test: ## the quick tests
	$(GO) vet ./...
	$(GO) test ./...

integration: ## the tests with the race detector
	$(GO) test -race ./...

lint: ## formatting, vet and staticcheck
	@test -z "$$($(GO) tool gofumpt -l . | tee /dev/stderr)"
	$(GO) vet -tags 'bench clients codexlive differ kill' ./...
	$(GO) tool staticcheck -tags 'bench clients codexlive differ kill' ./...

bench: build ## ratios in one run: the hook, appends, verify, list
	@scripts/bench.sh

corpus: ## scores on the commands and payloads that SATELLE_CORPUS leads to
	@GO="$(GO)" scripts/corpus.sh

fuzz: ## every fuzz target for FUZZTIME each
	@scripts/fuzz.sh $(FUZZTIME)

differ: ## what commands change under real shells, against the judgement (DIFFER_COUNT, DIFFER_SEED)
	$(GO) test -tags differ -count=1 -timeout 24h -run TestDiffer -v ./hooks/shell

kill: ## durability: killed at each system call, and at random
	$(GO) test -tags kill -timeout 20m -run 'Kill|EachSystemCall|ManyWriters' ./ledger/... ./internal/engine/... ./cmd/satelle/...

clients: ## the real coding agents against scripted models (needs npm)
	@scripts/clients.sh
	$(GO) test -tags clients -count=1 -timeout 20m ./internal/clienttest/...

planner-bench: ## the planner over both transports, with scripted peers (PLANNER_BENCH=-live asks the real ones)
	$(GO) run ./tests/plannerbench $(PLANNER_BENCH)

codex-smoke: build ## the installed hook under the person's own Codex, with their login; never a part of .ci/run
	$(GO) test -tags codexlive -count=1 -v ./tests/codexlive/

manual: ## docs/manual, generated from the commands
	$(GO) test ./cmd/satelle -run TestManualIsCurrent -count=1 -update

dist: ## static, reproducible programs for linux and darwin, into dist/
	@VERSION=$(VERSION) scripts/dist.sh

clean: ## remove what was built
	rm -rf bin dist .clients bench.out
