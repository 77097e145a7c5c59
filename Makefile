# gapwise. The two commands to know: make demo, make test.
SHELL := /bin/bash
GO := $(shell command -v go || echo /usr/local/go/bin/go)
FUZZTIME ?= 10s
AUDIT ?= 1m
SEED ?= 1
BENCHTIME ?= 200ms
BASELINE ?= benchmarks/baseline/$(shell sed -n 's/^const Version = "\(.*\)"/\1/p' gapwise.go).txt

# What a release is compared by: some of each room, six runs each, a few minutes.
BENCHED := ./heuristics/... ./bounds/... ./exact/... ./verify ./instances/internal/swf .
BENCHES := HEFT/tasks=10000$$|Replay/fair/tasks=(100|1000)$$|MCB8/hosts=(64|640)$$/jobs=(500|5000)$$|Find/sizes=32/PE_W/live=(100|10000)$$/fast|Search/hosts=[48]$$|Sweep/jobs=[24]0|PackingBound/tasks=[15]00$$|ReservationBounds/./accepted/requests=1000$$|Verify$$/tasks=1000$$|VerifyReservation/scattered/bookings=1000$$|^BenchmarkRead$$/plain|^BenchmarkRead$$/requests=10000$$
run_benches = set -o pipefail && $(with_highs) $(GO) test -run '^$$' -bench '$(BENCHES)' -benchtime 50ms -count 6 $(BENCHED) | grep -v '^PASS\|^ok\|no test files'

# HiGHS is built on first use (see scripts/highs); its path is asked for once.
export CGO_ENABLED := 1
with_highs = pc=$$(scripts/highs) && export PKG_CONFIG_PATH="$$pc$${PKG_CONFIG_PATH:+:$$PKG_CONFIG_PATH}" &&

.PHONY: help build web site highs demo test check fmt vet staticcheck types race slow release release-check python portable kubernetes karpenter fuzz ablation audit faults bench bench-baseline bench-compare reproduce clean

help: ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

# The go command records the commit itself, but not in a git worktree.
commit := $(shell git describe --always --exclude='*' --abbrev=10 --dirty=+dirty 2>/dev/null)
stamp := -ldflags "-X github.com/gapwise/gapwise.commit=$(commit)"

build: ## bin/gapwise
	@$(with_highs) $(GO) build $(stamp) -o bin/gapwise ./cmd/gapwise

web: ## the playground: web/dist, and bin/gapwise with it (gapwise web)
	@$(GO) run ./scripts/web
	@$(with_highs) $(GO) build -tags playground $(stamp) -o bin/gapwise ./cmd/gapwise

site: ## the documents as static pages with a search, in dist/site; with web/dist the playground, too
	@CGO_ENABLED=0 $(GO) run ./scripts/site

highs: ## the solver library alone
	@scripts/highs

demo: ## a picture of each of the five problems, in a minute, while HiGHS compiles beside it
	@GO="$(GO)" scripts/demo

# EVERYDAY= runs all tests: after make check they come from the cache.
EVERYDAY ?= -short
test: ## the everyday tests, in a minute or two
	@$(with_highs) $(GO) test -timeout 30m $(EVERYDAY) ./...

check: fmt vet staticcheck types race slow ## formatting, vet, staticcheck, types of the page, everyday tests with the race detector, all tests

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); [ -z "$$out" ] || { echo "not gofmt-ed: $$out"; exit 1; }
	@scripts/spdx --check

vet:
	@$(with_highs) $(GO) vet ./...

types:
	@scripts/web/types

staticcheck:
	@$(with_highs) $(GO) tool staticcheck ./...

# The packages that start goroutines, or lock what others share (and wire, by channels alone). What they run at
# once of the other packages, the detector sees: TestConformanceAtOnce runs every
# algorithm so. Pictures, and most scripts of the command, take the detector minutes
# and run one thing at a time. So do instances, but for files that they share, and
# internal/papers and internal/runs, which make values once, for benchmarks.
concurrent := {{range .Imports}}{{if or (eq . "sync") (eq . "sync/atomic") (eq . "golang.org/x/sync/errgroup")}}{{$$.ImportPath}}{{"\n"}}{{end}}{{end}}
race:
	@$(with_highs) $(GO) test -race -short $$($(GO) list -f '$(concurrent)' ./... | sort -u | grep -v '/draw$$\|/cmd/gapwise$$\|/gapwise$$\|/instances$$\|/internal/papers$$\|/internal/runs$$') ./heuristics/online/wire && \
	  $(GO) test -race -short -run 'AtOnce|Session' . ./instances && \
	  $(GO) test -race -short -run 'TestTerm|TestScripts/(interrupt|bench|results|solve|shard)' ./cmd/gapwise

slow: ## all tests, the slow ones too
	@$(with_highs) $(GO) test -timeout 30m ./...

# Packages that need no linear program are the same with and without HiGHS.
linear := {{if and .ForTest (not .Standard)}}{{range .Deps}}{{if eq . "github.com/gapwise/gapwise/model/milp/highs"}}{{$$.ForTest}}{{"\n"}}{{end}}{{end}}{{end}}
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
release: ## archives of all platforms, packages, licences, a list of what is linked and checksums, in dist
	@CGO_ENABLED=0 $(GO) run ./scripts/release $(if $(DIRTY),-dirty)

python: ## this machine's wheel, in bin/wheel, installed in an environment of its own and tried
	@python/check
	@CGO_ENABLED=0 $(GO) run ./scripts/release -wheel -o bin/wheel
	@python/check bin/wheel/*.whl

release-check: ## one platform twice, the second with a build cache of its own: the same bytes; installs the package
	@scripts/release/check

portable: ## builds without cgo for six platforms, and tests what is different without HiGHS
	@for p in $(PLATFORMS); do echo "$$p"; CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build ./... || exit 1; done
	@CGO_ENABLED=0 $(GO) test -short -vet=off -skip 'TestConformanceHard|TestLimits/(batch|consolidation|dag|reservation)' ./model/milp/... ./bounds/... ./exact/tvc ./exact/vcsched \
	  ./heuristics/vcsched ./benchmarks $$($(GO) list -test -f '$(linear)' ./internal/... | sort -u) .
	@CGO_ENABLED=0 $(GO) test -short -vet=off -run 'TestScripts/(nohighs|solve|all|output|version|dag|reservation)' ./cmd/gapwise

kubernetes: ## tests on a real control plane, whose programs lie in GAPWISE_KUBERNETES; RUNS=small:default:1-8 records such drains
	@$(with_highs) GAPWISE_KUBERNETES=$$(realpath $${GAPWISE_KUBERNETES:-../shared/kubernetes}) $(GO) test -count=1 -timeout 40m -v ./internal/kubernetes $(if $(RUNS),-run LiveTable -runs $(RUNS) -update,-run Live)

karpenter: ## Karpenter beside a drain on the same clusters, a quarter of an hour, as root: GAPWISE_KARPENTER is its program
	@$(with_highs) $(GO) test -c -o bin/kubernetes.test ./internal/kubernetes && cd internal/kubernetes && \
	  GAPWISE_KUBERNETES=$$(realpath $${GAPWISE_KUBERNETES:-../../../shared/kubernetes}) unshare -n bash -c 'ip link set lo up && exec ../../bin/kubernetes.test -test.run LiveKarpenter -test.v -update'

fuzz: ## every fuzz target for FUZZTIME
	@$(with_highs) for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$p || exit 1; done; done

ablation: ## runs each search without each of its devices, for docs/results/ablation (an hour)
	@$(with_highs) rm -f results/ablation-*.jsonl && $(GO) run ./scripts/reproduce $(if $(DIRTY),-dirty) \
	  ablation-dag ablation-reservation ablation-vcsched ablation-tvc ablation-batch ablation-consolidation

audit: ## claims held against each other for AUDIT (1m, 10m, ...), from the seed SEED
	@$(with_highs) $(GO) build $(stamp) -o bin/gapwise ./cmd/gapwise
	@bin/gapwise audit --time $(AUDIT) --seed $(SEED) --workers $$(nproc) -o results/audit

# FAULTS=K/N is the K-th of N shares of them.
FAULTS ?= 1/1
faults: ## plants known faults and has the audit find them
	@$(with_highs) GAPWISE_FAULTS=$(FAULTS) $(GO) test -count=1 -timeout 20m -run TestPlantedFaults -v ./internal/audit

bench: ## the benchmarks, for BENCHTIME each
	@$(with_highs) $(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) ./...

bench-baseline: ## keeps the release's benchmarks in benchmarks/baseline, on a quiet machine
	@mkdir -p $(dir $(BASELINE)) && $(run_benches) >$(BASELINE) && $(GO) tool benchstat $(BASELINE)

bench-compare: ## the benchmarks beside the newest release's
	@mkdir -p results && $(run_benches) >results/bench.txt && \
	  $(GO) tool benchstat $$(ls benchmarks/baseline/*.txt | sort -V | tail -n 1) results/bench.txt

reproduce: ## the runs behind docs/results/summary.md and docs/results/performance.md (an hour or two)
	@$(with_highs) $(GO) run ./scripts/reproduce

clean: ## what the build made (HiGHS stays in the cache)
	rm -rf bin results web/dist
