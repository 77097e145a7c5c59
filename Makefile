# gapwise. The two commands to know: make demo, make test.
SHELL := /bin/bash
GO := $(shell command -v go || echo /usr/local/go/bin/go)
FUZZTIME ?= 10s
AUDIT ?= 1m
SEED ?= 1
BENCHTIME ?= 200ms

# HiGHS is built on first use (see scripts/highs); its path is asked for once.
export CGO_ENABLED := 1
with_highs = pc=$$(scripts/highs) && export PKG_CONFIG_PATH="$$pc$${PKG_CONFIG_PATH:+:$$PKG_CONFIG_PATH}" &&

.PHONY: help build highs demo test check fmt vet staticcheck race fuzz audit faults bench reproduce clean

help: ## what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

build: ## bin/gapwise
	@$(with_highs) $(GO) build -o bin/gapwise ./cmd/gapwise

highs: ## the solver library alone
	@scripts/highs

demo: build ## solve, verify and tabulate real instances, in a minute
	@scripts/demo bin/gapwise

test: ## the everyday tests
	@$(with_highs) $(GO) test ./...

check: fmt vet staticcheck race ## formatting, vet, staticcheck, short tests with the race detector

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); [ -z "$$out" ] || { echo "not gofmt-ed: $$out"; exit 1; }

vet:
	@$(with_highs) $(GO) vet ./...

staticcheck:
	@$(with_highs) $(GO) tool staticcheck ./...

race:
	@$(with_highs) $(GO) test -race -short ./...

fuzz: ## every fuzz target for FUZZTIME
	@$(with_highs) for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; done; done

audit: ## claims held against each other for AUDIT (1m, 10m, ...), from the seed SEED
	@$(with_highs) $(GO) build -buildvcs=auto -o bin/gapwise ./cmd/gapwise
	@bin/gapwise audit --time $(AUDIT) --seed $(SEED) --workers $$(nproc) -o results/audit

faults: ## plants known faults and has the audit find them
	@$(with_highs) GAPWISE_FAULTS=1 $(GO) test -count=1 -timeout 20m -run TestPlantedFaults -v ./audit

bench: ## the benchmarks, for BENCHTIME each
	@$(with_highs) $(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) ./...

reproduce: build ## the runs behind docs/reproduction.md and docs/performance.md (an hour or two)
	@$(with_highs) $(GO) run ./scripts/reproduce

clean: ## what the build made (HiGHS stays in the cache)
	rm -rf bin results
