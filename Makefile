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
run_benches = set -o pipefail && $(GO) test -run '^$$' -bench '$(BENCHES)' -benchtime 50ms -count 6 $(BENCHED) | grep -v '^PASS\|^ok\|no test files'

# Everything is pure Go, but for the race detector and make native.
export CGO_ENABLED := 0
# No symbols for debuggers, which a program without them (stamp) doesn't hold anyway: a fifth of the compiler's work.
# Without the paths of this folder, what one clone has compiled serves another one (.ci/bare), and scripts/release.
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS) -trimpath -gcflags=all=-dwarf=false)
# HiGHS, the solver of linear models, is one file, fetched once. Where it can't be had its script says
# how to get it by hand, and all else works.
with_highs = scripts/highs >/dev/null || true;

.PHONY: help build native web site highs demo test check fmt vet staticcheck types race slow release release-check python portable nightly kubernetes scheduler karpenter fuzz ablation audit faults bench bench-baseline bench-compare reproduce clean

help: ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

# The go command records the commit itself, but not in a git worktree.
commit := $(shell git describe --always --exclude='*' --abbrev=10 --dirty=+dirty 2>/dev/null)
# -s -w leaves out what debuggers ask for: a panic's stack is whole without it. The tag has the library
# of commands print help without text/template, for which the linker would keep each method of each type.
light := urfave_cli_no_template
stamp := -ldflags "-s -w -X github.com/gapwise/gapwise.commit=$(commit)"

build: ## bin/gapwise
	@$(with_highs) $(GO) build -tags $(light) $(stamp) -o bin/gapwise ./cmd/gapwise

native: ## bin/gapwise with lanl, too: the libhighs that pkg-config finds, as a second opinion
	@pkg-config --exists 'highs >= 1.10' || { echo "make native: pkg-config finds no highs.pc of HiGHS 1.10 or later; scripts/tools --native compiles one and says where" >&2; exit 1; }
	@$(with_highs) CGO_ENABLED=1 $(GO) build -tags native $(stamp) -o bin/gapwise ./cmd/gapwise

web: ## the playground: web/dist, and bin/gapwise with it (gapwise web)
	@$(GO) run ./scripts/web
	@$(GO) build -tags playground,$(light) $(stamp) -o bin/gapwise ./cmd/gapwise

site: ## the documents as static pages with a search, in dist/site; with web/dist the playground, too
	@$(GO) run ./scripts/site

highs: # as it was called when HiGHS was compiled
	@echo "make highs: HiGHS isn't compiled any more: scripts/highs fetches it, make native links a libhighs of your own" >&2; exit 1

demo: build ## a picture of each of the six problems
	@scripts/demo bin/gapwise

# EVERYDAY= runs all tests: after make check they come from the cache. vet is make check's own, and programs of tests have no
# symbols: both cost a new machine a minute.
EVERYDAY ?= -short
tested := -timeout 30m -vet=off -ldflags "-s -w"
test: ## the everyday tests, in a minute or two
	@$(with_highs) $(GO) test $(tested) $(EVERYDAY) ./...

check: fmt size vet staticcheck types race slow ## formatting, vet, staticcheck, types of the page, everyday tests with the race detector, all tests

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); [ -z "$$out" ] || { echo "not gofmt-ed: $$out"; exit 1; }
	@scripts/spdx --check

size: ## statements by room: none has more than scripts/size/rooms.txt allows
	@$(GO) run ./scripts/size

corpus: ## what every algorithm does on some 2,000 instances, against scripts/corpus/corpus.txt (PART=K/N: some groups)
	@$(with_highs) $(GO) run ./scripts/corpus -part $(or $(PART),1/1)

vet:
	@$(GO) vet ./...

types:
	@scripts/web/types

staticcheck:
	@GOGC=400 $(GO) tool staticcheck ./...

# The packages that start goroutines, or lock what others share (and wire, by channels alone). What they run at
# once of the other packages, the detector sees: TestConformanceAtOnce runs every
# algorithm so. Pictures, and most scripts of the command, take the detector minutes
# and run one thing at a time. So do instances, but for files that they share, and
# internal/app/papers and internal/app/runs, which make values once, for benchmarks.
concurrent := {{range .Imports}}{{if or (eq . "sync") (eq . "sync/atomic") (eq . "golang.org/x/sync/errgroup")}}{{$$.ImportPath}}{{"\n"}}{{end}}{{end}}
race:
	@$(with_highs) export CGO_ENABLED=1; $(GO) test $(tested) -race -short $$($(GO) list -f '$(concurrent)' ./... | sort -u | grep -v '/draw$$\|/cmd/gapwise$$\|/gapwise$$\|/instances$$\|/internal/app/papers$$\|/internal/app/runs$$') ./heuristics/online/wire && \
	  $(GO) test $(tested) -race -short -run 'AtOnce|Session' . ./instances && \
	  $(GO) test $(tested) -race -short -run 'TestTerm|TestScripts/(interrupt|bench|results|solve|shard)' ./cmd/gapwise

slow: ## all tests, the slow ones too
	@$(with_highs) $(GO) test $(tested) ./...

PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
release: ## archives of all platforms, packages, licences, a list of what is linked and checksums, in dist
	@$(GO) run ./scripts/release $(if $(DIRTY),-dirty)

python: ## this machine's wheel, in bin/wheel, installed in an environment of its own and tried
	@python/check
	@$(GO) run ./scripts/release -wheel -o bin/wheel
	@python/check bin/wheel/*.whl

release-check: ## one platform twice, the second with a build cache of its own: the same bytes; installs the package
	@scripts/release/check

portable: ## builds for six platforms
	@for p in $(PLATFORMS); do echo "$$p"; GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build ./... || exit 1; done

# NATIVE=: without lanl, where no C++ compiler is.
NATIVE ?= yes
nightly: ## what is too long for every change: four times the random draws, public files, Grid Engine, OAR and Slurm as they run, fuzzing, the audit, planted faults, all six platforms, a release built twice, HiGHS through both bindings
	@$(MAKE) --no-print-directory fuzz FUZZTIME=30s
	@$(MAKE) --no-print-directory audit AUDIT=30m SEED="$$(date +%Y%m%d)"
	@$(MAKE) --no-print-directory faults
	@$(GO) run ./scripts/realfiles
	@scripts/daemons bin/gapwise
	@$(MAKE) --no-print-directory portable release-check
	@$(with_highs) GAPWISE_ROUNDS=4 $(GO) test $(tested) -timeout 2h ./...
	@CGO_ENABLED=0 GAPWISE_RULE="100000,1000000,3000000,10000000 1000 10000 100000" $(GO) test -count=1 -timeout 10h -run TestAutoRule .
	@CGO_ENABLED=0 GAPWISE_RULE="3000000,10000000 1000000" $(GO) test -count=1 -timeout 10h -run 'TestAutoRule/batch' .
	@[ -z "$(NATIVE)" ] || { pc=$$(scripts/tools --native) && export CGO_ENABLED=1 PKG_CONFIG_PATH="$$pc" && \
	  $(GO) vet -tags native ./... && $(GO) test -tags native -count=1 ./model/milp/... && $(GO) test -tags native -count=1 -run 'External|Formulations' .; }

kubernetes: ## tests on a real control plane, whose programs lie in GAPWISE_KUBERNETES; RUNS=small:default:1-8 records such drains
	@GAPWISE_KUBERNETES=$$(realpath $${GAPWISE_KUBERNETES:-../shared/kubernetes}) $(GO) test -count=1 -timeout 40m -v ./internal/app/kubernetes $(if $(RUNS),-run LiveTable -runs $(RUNS) -update,-run Live)

scheduler: ## kube-scheduler's own filters (scripts/scheduler) on fresh drawn clusters; RECORD=1 writes what the everyday tests compare with
	@cd scripts/scheduler && GOFLAGS=-trimpath $(GO) build -buildvcs=false -ldflags '-X k8s.io/component-base/version.gitVersion=v1.37.2' -o ../../bin/scheduler .
	@GAPWISE_SCHEDULER=$(CURDIR)/bin/scheduler $(GO) test -count=1 -timeout 1h -v ./internal/app/kubernetes $(if $(RECORD),-run 'TestFeasible$$' -update,-run LiveFilters)

karpenter: ## Karpenter beside a drain on the same clusters, a quarter of an hour, as root: GAPWISE_KARPENTER is its program
	@$(GO) test -c -o bin/kubernetes.test ./internal/app/kubernetes && cd internal/app/kubernetes && \
	  GAPWISE_KUBERNETES=$$(realpath $${GAPWISE_KUBERNETES:-../../../shared/kubernetes}) unshare -n bash -c 'ip link set lo up && exec ../../bin/kubernetes.test -test.run LiveKarpenter -test.v -update'

fuzz: ## every fuzz target for FUZZTIME
	@$(with_highs) for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$p || exit 1; done; done

ablation: ## runs each search without each of its devices, for docs/results/ablation (an hour)
	@$(with_highs) rm -f results/ablation-*.jsonl && $(GO) run ./scripts/reproduce $(if $(DIRTY),-dirty) \
	  ablation-dag ablation-reservation ablation-vcsched ablation-tvc ablation-batch

audit: ## claims held against each other for AUDIT (1m, 10m, ...), from the seed SEED
	@$(with_highs) $(GO) build -tags $(light) $(stamp) -o bin/gapwise ./cmd/gapwise
	@bin/gapwise audit --time $(AUDIT) --seed $(SEED) --workers $$(nproc) -o results/audit

# FAULTS=K/N is the K-th of N shares of them.
FAULTS ?= 1/1
faults: ## plants known faults and has the audit find them
	@$(with_highs) GAPWISE_FAULTS=$(FAULTS) $(GO) test -count=1 -timeout 20m -run TestPlantedFaults -v ./internal/app/audit

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
