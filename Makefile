# make reproduce   run the experiments (PROFILE=smoke|quick|full) and compare with the paper's tables
# make test        the tests to run after each change: Go alone, minutes
# make check       all other tests: race detector, faults, cluster, browser, LaTeX, LIBSVM, ...
# make agree       a fresh quick run, compared bit for bit with results/reference
# make bench       the benchmarks
# make mutants     mutation tests of the core packages: hours

GO      ?= go
PROFILE ?= quick
RESULTS ?= results
PKGS    ?= ./...
FUZZTIME ?= 60s

STATICCHECK_VERSION = v0.7.0
GREMLINS_VERSION    = v0.6.0
BENCHSTAT_VERSION   = v0.0.0-20260908200009-22c9c6c9d4da
ACTIONLINT_VERSION  = v1.7.12

# The origin that the binary reports if the go command adds no VCS data
# (-buildvcs=false). Empty outside of a git checkout.
VERSION  := $(shell git describe --tags --always --dirty --abbrev=12 2>/dev/null)
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

# If OpenBLAS is installed: the build tag with which gemm links it, as a peer in
# the benchmarks and an oracle in one test. Nothing else is built with the tag.
OPENBLAS = $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && printf 'void openblas_set_num_threads(int);int main(void){openblas_set_num_threads(1);}' \
	| $${CC:-gcc} -x c - -o /dev/null -lopenblas 2>/dev/null && echo openblas)

BENCHDIR   = $(RESULTS)/bench
BENCHCOUNT ?= 3
BENCH      = $(GO) test -run '^$$' -bench . -benchmem -count $(BENCHCOUNT) -timeout 20m

# The folders whose records 'make reference' copies.
FROM ?= $(REFERENCE)

REFERENCE = results/reference

.PHONY: all build reproduce smoke test check vet race slow stranger check-reference cluster workflows wheel image reference record agree bench stream-bench peers deploy faults fuzz data report verify lint fmt staticcheck mutants clean

all: reproduce

build:
	@$(GO) build -ldflags '$(LDFLAGS)' -o bin/runall ./cmd/runall

reproduce: build
	@bin/runall reproduce --profile $(PROFILE) --results $(RESULTS)

smoke: PROFILE = smoke
smoke: reproduce

# Needs only Go: no C compiler, no other program, no data and, once the modules
# are downloaded, no network. lint runs go vet, which takes half a minute.
test:
	$(GO) test -vet=off -timeout 15m $(PKGS)

# Each part says when it is left out because a program is missing.
check: lint workflows race slow

# The tests with the build tag check, with the real data if it is found. They run
# without the race detector, so learned models, allocations and times are those of the
# users' build. lint runs go vet. The command's tests take longest and begin first.
CHECKED = ./cmd/runall/ $(filter-out ./cmd/runall/,$(sort $(dir $(shell grep -rl --include='*_test.go' --exclude-dir='_*' '^//go:build check' .))))

slow:
	$(GO) test -tags check -run Check -vet=off -timeout 30m $(CHECKED)

# The packages that start goroutines, take a number of them or lock. -short skips the
# tests of one goroutine, which the race detector slows down tenfold. Of the baselines,
# only the training with two threads in learnertest runs; of the command, only the tests
# of two of three signals and of serve.
CONCURRENT = ./baselines/learnertest $(filter-out ./cmd/% ./baselines/%,$(sort $(dir $(shell grep -rlE --include='*.go' --exclude='*_test.go' --exclude-dir='_*' \
	'^\s*go |\.Go[^ a-z,]|sync\.[^OM]|sync\.Mutex|errgroup|atomic|Threads|Workers|threads int' .))))

race:
	@if [ -n "$(RACE)" ]; then set -x; \
	$(GO) test -short -vet=off -timeout 30m -race -run 'Killed|Interrupted|Stopped|Second|Serve' -skip Interrupted/SIGTERM ./cmd/runall & \
	$(GO) test -short -vet=off -timeout 30m -race $(CONCURRENT) && wait $$! || { wait; exit 1; }; \
	else echo "race detector: no C compiler, left out"; fi
	@if [ -n "$(OPENBLAS)" ]; then set -x; $(GO) test -tags openblas ./internal/gemm; \
	else echo "OpenBLAS: not installed, gemm is compared with gonum only"; fi

# The commit as a user gets it: a clone with nothing beside it, fresh HOME,
# module and build caches, and nothing installed but Go.
stranger:
	.ci/stranger . make test

vet:
	$(GO) vet -tags check $(PKGS)

# The tables, figures and verdicts of results/reference, remade from its records
# without data or training. Part of slow.
check-reference:
	$(GO) test -tags check -run CheckReference -v ./cmd/runall

# The examples of docs/cluster.md on this machine: the scripts for Slurm, with the variables
# that Slurm sets, and GNU parallel, the manifest for Kubernetes and the image. Part of slow.
# Each test names what it lacks: root, parallel or buildah.
cluster:
	$(GO) test -run 'TestScripts/cluster' -v ./cmd/runall
	$(GO) test -tags check -run 'Check(Kubernetes|Image)' -v ./docs

# The workflows of .github, checked with actionlint, which passes their scripts to
# shellcheck where that is installed. Left out without a network.
workflows:
	@if $(GO) list -m github.com/rhysd/actionlint@$(ACTIONLINT_VERSION) >/dev/null 2>&1; \
	then set -x; $(GO) run github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION) .github/workflows/*.yml; \
	else echo "actionlint: not reachable, left out"; fi

# Python wheels for six platforms, the programs in them and the source distribution, without a
# C compiler: docs/python.md. The same commit gives the same bytes.
DIST ?= bin/dist

wheel:
	rm -rf $(DIST)
	python3 python/build_polk.py $(DIST) all $(if $(and $(REVISION),$(filter false,$(DIRTY))),sdist)

# An OCI image of runall by buildah, which needs no daemon: docs/cluster.md.
IMAGE    ?= polk
IMAGEDIR ?= bin/image
ARCHS    ?= amd64 arm64

image:
	mkdir -p $(IMAGEDIR)/polk
	cp LICENSE /etc/ssl/certs/ca-certificates.crt $(IMAGEDIR)
	for arch in $(ARCHS); do \
	CGO_ENABLED=0 GOOS=linux GOARCH=$$arch $(GO) build -trimpath -buildvcs=false -ldflags '-s -w $(LDFLAGS)' -o $(IMAGEDIR)/runall-$$arch ./cmd/runall || exit; done
	buildah build --isolation chroot --timestamp "$$(git log -1 --format=%ct 2>/dev/null || echo 0)" --manifest $(IMAGE) \
	--platform "$$(printf ',linux/%s' $(ARCHS) | cut -c2-)" --file docs/cluster/Containerfile $(IMAGEDIR)

# Rebuilds results/reference from the records of one or more full runs:
# make reference FROM=DIR. By default it uses the reference's records, for new
# tables of the same records.
reference: build
	bin/runall seal --results $(REFERENCE) $(addprefix --from ,$(FROM))

# Rebuilds all of results/reference at this revision: takes hours, must run alone on the
# machine and needs the data. An interrupted recording resumes.
RECORD ?= $(RESULTS)/recording

record:
	results/record $(RECORD)

# A fresh quick run in a temporary folder, compared with the reference.
agree: build
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	bin/runall reproduce --profile quick --results "$$dir" --progress plain >/dev/null && \
	bin/runall verify records --results "$$dir" --with $(REFERENCE)

# The benchmarks, with a comparison of the implementations by benchstat: some
# six minutes on two idle cores. A step needs a learner of the right size, which
# is made first, so those benchmarks get a number of steps, not a time.
bench:
	@mkdir -p $(BENCHDIR)
	@{ echo "revision: $(or $(REVISION),unknown)"; echo "dirty: $(DIRTY)"; echo "go: $$($(GO) env GOVERSION)"; \
	echo "goamd64: $$($(GO) env GOAMD64)"; echo "openblas: $(or $(OPENBLAS),not linked)"; } > $(BENCHDIR)/bench.txt
	$(BENCH) -benchtime 0.2s -tags '$(OPENBLAS)' ./internal/gemm >> $(BENCHDIR)/bench.txt
	$(BENCH) -benchtime 40x -skip Project ./polk >> $(BENCHDIR)/bench.txt
	$(GO) test -run '^$$' -bench Project -benchtime 1x -timeout 20m ./polk >> $(BENCHDIR)/bench.txt
	$(BENCH) -benchtime 0.3s ./baselines/bsgd >> $(BENCHDIR)/bench.txt
	@if $(GO) list -m golang.org/x/perf@$(BENCHSTAT_VERSION) >/dev/null 2>&1; \
	then $(GO) run golang.org/x/perf/cmd/benchstat@$(BENCHSTAT_VERSION) -col /impl $(BENCHDIR)/bench.txt | tee $(BENCHDIR)/benchstat.txt; \
	else echo "bench: benchstat can't be fetched; the results are in $(BENCHDIR)/bench.txt"; fi

# Training and prediction of 10⁶ generated rows on standard input: rows a second,
# memory, and the same model from a process that resumes; one minute.
stream-bench: build
	@mkdir -p $(RESULTS)
	STREAM_ROWS=1000000 STREAM_RUNALL=$(abspath bin/runall) STREAM_OUT=$(abspath $(RESULTS))/own-data.txt \
	$(GO) test -tags check -count=1 -run CheckStream ./cmd/runall
	@cat $(RESULTS)/own-data.txt

# Compares runall train without settings with scikit-learn (Debian's python3-sklearn) on
# five splits of nineteen data sets and the published split of two: hours, most of them for scikit-learn. An
# interrupted comparison resumes.
PEERS_SETS ?=

peers: build
	@if /usr/bin/python3 -c 'import sklearn' 2>/dev/null; \
	then mkdir -p $(RESULTS) && /usr/bin/python3 online/peers/peers.py bin/runall $(RESULTS)/peers $(PEERS_SETS) && cat $(RESULTS)/peers.txt; \
	else echo "peers: python3-sklearn is not installed, left out"; fi

# Measures exported models (docs/deploy.md) in half an hour. Needs what online/export/deploy.py names;
# npm gets onnxruntime-web. Models are kept in results/deploy.
deploy: build
	@mkdir -p $(RESULTS)/deploy && npm install --prefix $(RESULTS)/deploy --no-audit --no-fund --ignore-scripts onnxruntime-web@1.17.3 >/dev/null
	@/usr/bin/python3 online/export/deploy.py bin/runall $(RESULTS)/deploy $(RESULTS)/deploy && cat $(RESULTS)/deploy.txt

# Runs every fuzz target for FUZZTIME, as many at a time as there are cores, and
# prints a line for each. A target's findings are in its testdata/fuzz.
fuzz:
	@grep -rE --include='*_test.go' '^func Fuzz' . | sed -E 's,/[^/]*:func (Fuzz[A-Za-z0-9]*).*, \1,' | \
	xargs -P "$$(getconf _NPROCESSORS_ONLN)" -n 2 sh -c 'found=none; \
	out=$$($(GO) test -run "^$$" -fuzz "^$$1$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x -parallel 1 "$$0" 2>&1) || found=FAILED; \
	echo "$$0.$$1: $$(echo "$$out" | grep -o "execs:.*" | tail -n 1), findings: $$found"; \
	[ $$found = none ] || { echo "$$out"; exit 1; }'

# Trials of fault injection. The summary is also written to SUMMARY if that is a
# file. A failure prints the command that repeats its trial. Part of slow with a seed of 1.
TRIALS  ?= 216
SEED    ?= 1
TRIAL   ?= -1
SUMMARY ?=

faults:
	$(GO) test -tags check -run CheckFaults -count=1 -v -timeout 0 ./internal/faults -args \
	-trials $(TRIALS) -seed $(SEED) -trial $(TRIAL) -summary "$(abspath $(SUMMARY))"

data: build
	bin/runall data status

report: build
	bin/runall report --results $(RESULTS) --out $(RESULTS)/report

# Checks the data files' checksums, and judges the paper's claims by the records in
# RESULTS. Fails if a claim deviates, or if a record is missing or corrupt.
verify: data
	bin/runall verify --results $(RESULTS)

lint: fmt vet staticcheck

fmt:
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "gofmt: $$files"; exit 1; fi

# Run from the module proxy, so it is not a dependency; left out without a network.
staticcheck:
	@if $(GO) list -m honnef.co/go/tools@$(STATICCHECK_VERSION) >/dev/null 2>&1; \
	then $(GO) run honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION) -tags check ./...; \
	else echo "staticcheck: not reachable, left out"; fi

# Runs a package's own tests on each of gremlins' changes to it, and prints the share of
# changes that the tests notice and the changes that they miss. Subpackages are separate
# (-E /). Run from the module proxy, so it is not a dependency; left out without a network.
# A package takes minutes (loss) to many hours (polk); MUTANTS=loss selects one. -count=1,
# because a cached run would make every mutant a timeout. Never use --test-cpu: v0.6.0 then
# calls go test with a flag that it refuses, and every mutant counts as killed.
MUTANTS   ?= polk/prune loss kernel polk record evidence/stats evidence
MUTANTDIR ?= $(RESULTS)/mutants

# A mutant's time limit, compilation included, as a multiple of the tests' time. On a busy
# machine, mutants of a package with fast tests need more, or they count as timed out.
MUTANTPATIENCE ?= 20

mutants:
	@if $(GO) list -m github.com/go-gremlins/gremlins@$(GREMLINS_VERSION) >/dev/null 2>&1; \
	then mkdir -p $(MUTANTDIR); for p in $(MUTANTS); do log=$(MUTANTDIR)/$$(echo $$p | tr / -).txt; echo "mutants of $$p: $$log"; \
	GOFLAGS='$(GOFLAGS) -count=1 -vet=off' $(GO) run github.com/go-gremlins/gremlins/cmd/gremlins@$(GREMLINS_VERSION) unleash \
	--timeout-coefficient $(MUTANTPATIENCE) -E / ./$$p > $$log || exit; \
	grep -E 'LIVED|NOT COVERED|TIMED OUT' $$log; tail -4 $$log; done; \
	else echo "mutants: gremlins is not reachable, left out"; fi

clean:
	rm -rf bin
