# make reproduce   run the experiments (PROFILE=smoke|quick|full) and compare with the paper's tables
# make test        everything that can fail
# make bench       the benchmarks
# make faults      processes of runall killed, starved and disturbed in TRIALS ways

GO      ?= go
PROFILE ?= quick
RESULTS ?= results
PKGS    ?= ./...
COUNT   ?= 1
FUZZTIME ?= 60s

STATICCHECK_VERSION = v0.7.0

# What the binary says of its origin where the go command adds no VCS facts
# (-buildvcs=false). Empty outside of a git checkout.
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null)
REVISION := $(shell git rev-parse HEAD 2>/dev/null)
DIRTY    := $(if $(shell git status --porcelain 2>/dev/null),true,false)
LDFLAGS   = -X polkrepro/harness.linkedVersion=$(VERSION) \
            -X polkrepro/harness.linkedRevision=$(REVISION) \
            -X polkrepro/harness.linkedDirty=$(DIRTY)

# go test runs every test in its own folder, so the data folder's path has to
# be absolute.
ifneq ($(or $(POLK_DATA_DIR),$(wildcard ../shared/data)),)
export POLK_DATA_DIR := $(abspath $(or $(POLK_DATA_DIR),../shared/data))
endif

# The race detector needs a C compiler.
RACE := $(shell command -v $${CC:-gcc} >/dev/null 2>&1 && [ "$$($(GO) env CGO_ENABLED)" = 1 ] && echo -race)

# Where OpenBLAS is installed: the build tag with which gemm links it, as a peer
# in the benchmarks and an oracle in one test. Nothing else is built with it.
OPENBLAS = $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && printf 'void openblas_set_num_threads(int);int main(void){openblas_set_num_threads(1);}' \
	| $${CC:-gcc} -x c - -o /dev/null -lopenblas 2>/dev/null && echo openblas)

BENCHDIR   = $(RESULTS)/bench
BENCHCOUNT ?= 3
BENCH      = $(GO) test -run '^$$' -bench . -benchmem -count $(BENCHCOUNT) -timeout 20m

# The folders whose records 'make reference' copies.
FROM ?= $(REFERENCE)

REFERENCE = results/reference

.PHONY: all build reproduce smoke test vet unit golden check-reference slurm kubernetes reference agree bench stream-bench faults fuzz data report verify lint fmt staticcheck clean

all: reproduce

build:
	@$(GO) build -ldflags '$(LDFLAGS)' -o bin/runall ./cmd/runall

reproduce: build
	@bin/runall reproduce --profile $(PROFILE) --results $(RESULTS)

smoke: PROFILE = smoke
smoke: reproduce

test: vet unit golden kubernetes

vet:
	$(GO) vet ./...
	$(GO) vet -tags golden ./...

unit:
	@echo "unit tests$(if $(RACE), with the race detector,; no C compiler: without the race detector)"
	$(GO) test -timeout 20m $(RACE) -count=$(COUNT) $(PKGS)
	@if [ -n "$(OPENBLAS)" ]; then echo "gemm against OpenBLAS"; $(GO) test -tags openblas -count=$(COUNT) ./internal/gemm; \
	else echo "OpenBLAS is not installed: gemm is tested against gonum only"; fi

# What the race detector leaves out or cuts short, without it: golden figures of
# learned models, which are those of the build that users run; that steps and
# products allocate nothing; and the whole of the tests that shorten themselves
# under the detector.
NORACE = Golden|Oracle|Alloc|Algorithm2|NearDependence|WriteDraws|ForeignKernel|TooLargeToSave

golden:
	$(GO) test -timeout 30m -tags golden -run '$(NORACE)' -count=$(COUNT) $(PKGS)

# The tables, figures and verdicts of results/reference made anew from its
# records, without data or training; golden does so too.
check-reference:
	$(GO) test -tags golden -run GoldenReference -count=$(COUNT) -v ./cmd/runall

# A job array on a Slurm of its own, with a node that loses its power in the
# middle; golden runs it too. It needs root and Debian's slurm-wlm and munge.
slurm:
	$(GO) test -tags golden -run GoldenSlurm -count=$(COUNT) -v ./cluster/slurmtest

# The Jobs that runall plan writes, checked by the API server's own code. It is
# of the module proxy, hundreds of packages, so a module of its own; left out
# without a network, but not if the module itself can't be read.
kubernetes:
	@$(GO) -C cluster/_kubernetes list -m >/dev/null
	@if $(GO) -C cluster/_kubernetes mod download k8s.io/kubernetes >/dev/null; \
	then echo "kubernetes.yaml against Kubernetes' validation"; $(GO) -C cluster/_kubernetes test -count=$(COUNT) .; \
	else echo "kubernetes: its modules are not reachable, left out"; fi

# results/reference made anew of the records of a full run,
# make reference FROM=DIR, or of several; by default of its own, for new tables
# of the same records.
reference: build
	bin/runall seal --results $(REFERENCE) $(addprefix --from ,$(FROM))

# A fresh quick run in a folder of its own, compared with the reference.
agree: build
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	bin/runall reproduce --profile quick --results "$$dir" --progress plain >/dev/null && \
	bin/runall agree --results "$$dir" --with $(REFERENCE)

# The benchmarks that give ratios, then their tables and the scaling plot: some
# six minutes on two idle cores. A step has a learner of the right size to be
# made first, so those benchmarks get a number of steps, not a time.
bench:
	@mkdir -p $(BENCHDIR)
	@{ echo "revision: $(or $(REVISION),unknown)"; echo "dirty: $(DIRTY)"; echo "go: $$($(GO) env GOVERSION)"; \
	echo "goamd64: $$($(GO) env GOAMD64)"; echo "openblas: $(or $(OPENBLAS),not linked)"; } > $(BENCHDIR)/bench.txt
	$(BENCH) -benchtime 0.2s -tags '$(OPENBLAS)' ./internal/gemm >> $(BENCHDIR)/bench.txt
	$(BENCH) -benchtime 40x -skip 'Project|PeakMemory' ./polk >> $(BENCHDIR)/bench.txt
	$(GO) test -run '^$$' -bench 'Project|PeakMemory' -benchtime 1x -timeout 20m ./polk >> $(BENCHDIR)/bench.txt
	$(BENCH) -benchtime 0.3s ./baselines/bsgd >> $(BENCHDIR)/bench.txt
	$(GO) run ./internal/benchtables -out $(BENCHDIR) $(BENCHDIR)/bench.txt
	@cat $(BENCHDIR)/bench.md

# Training and prediction of 10⁶ generated rows on standard input: rows a second,
# memory, and the same model from a process that goes on; one minute.
stream-bench: build
	@mkdir -p $(RESULTS)
	STREAM_ROWS=1000000 STREAM_RUNALL=$(abspath bin/runall) STREAM_OUT=$(abspath $(RESULTS))/own-data.txt \
	$(GO) test -tags golden -count=1 -run GoldenStream ./cmd/runall
	@cat $(RESULTS)/own-data.txt

# Every fuzz target there is, FUZZTIME each, as many at a time as there are
# cores, then a table of them. What a target found is in its testdata/fuzz.
fuzz:
	$(GO) run ./internal/fuzzall -time $(FUZZTIME) $(PKGS)

# Trials of fault injection, their summary written to SUMMARY too if that is a
# file; what a failure prints repeats its trial. Part of golden with a seed of 1.
TRIALS  ?= 216
SEED    ?= 1
TRIAL   ?= -1
SUMMARY ?=

faults:
	$(GO) test -tags golden -run GoldenFaults -count=1 -v -timeout 0 ./internal/faults -args \
	-trials $(TRIALS) -seed $(SEED) -trial $(TRIAL) -summary "$(abspath $(SUMMARY))"

data: build
	bin/runall data status
	bin/runall data verify

report: build
	bin/runall report --results $(RESULTS) --out $(RESULTS)/report

# The data files' sums, and the verdicts that the records in RESULTS give on the
# paper's claims; fails if one deviates, or a record is missing or damaged.
verify: data
	bin/runall verify --results $(RESULTS)

lint: fmt vet staticcheck

fmt:
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "gofmt: $$files"; exit 1; fi

# Run from the module proxy, so it is no dependency; left out without a network.
staticcheck:
	@if $(GO) list -m honnef.co/go/tools@$(STATICCHECK_VERSION) >/dev/null 2>&1; \
	then $(GO) run honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION) ./...; \
	else echo "staticcheck: not reachable, left out"; fi

clean:
	rm -rf bin
