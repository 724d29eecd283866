# make demo   try it: judges a simulated fleet and writes homenode-report.html
# make page   writes dist/homenode.html: the analysis in one file, for a browser
# make test   everything that CI checks
# make bench  the figures of docs/evidence/performance.md

export CGO_ENABLED = 0
GO = go
# Packages that run on 32 bit in a moment.
PORTABLE = ./numa ./esxi/vnuma ./esxi/plan ./esxi/scheduler ./measure/published ./measure/compare ./source/benchmark ./source/esxtop ./source/scenario ./source/snapshot ./rules

.PHONY: build release release-twice page demo test check lint staticcheck unit check-bench check-release deps builds cross workflows site portable race fuzz bench bench-watch bench-pages bench-collect bench-capture bench-sim bench-measure same-bytes golden corpus prove docs clean

# Without symbols and debug information: a third smaller, and a panic still names its lines.
LDFLAGS = -s -w -X example.org/homenode/internal/version.release=$(shell git describe --tags --always --dirty=+ --abbrev=12 2>/dev/null) -X example.org/homenode/internal/version.pages=$(PAGES) \
	-X example.org/homenode/internal/version.built=$(shell git rev-parse --short=12 HEAD 2>/dev/null) -X example.org/homenode/internal/version.date=$(shell git log -1 --format=%cs 2>/dev/null)
# Where the pages of this commit are read, of a clone of a public host.
PAGES = $(shell git remote get-url origin 2>/dev/null | sed -nE 's#^https://([^/@]+/[^/]+/[^/]+)$$#https://\1#; s#\.git$$##; /^https:/s#$$#/blob/HEAD/#p')

build:
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/homenode ./cmd/homenode

# Archives for users without Go, and their sums, into dist/.
TARGETS = linux/amd64 linux/arm64 windows/amd64 darwin/arm64 darwin/amd64
release:
	@$(MAKE) --no-print-directory page
	@GO="$(GO)" LDFLAGS='$(LDFLAGS)' scripts/release $(TARGETS)

# A release of this commit in another folder, which has to have the sums of the first.
release-twice: release
	rm -rf bin/again && git clone -q . bin/again && git -C bin/again checkout -q "$$(git rev-parse HEAD)"
	$(MAKE) --no-print-directory -C bin/again release GO="$(GO)" TARGETS="$(TARGETS)" PAGES="$(PAGES)"
	cmp dist/SHA256SUMS bin/again/dist/SHA256SUMS && rm -rf bin/again

# homenode.html, the page that needs no server. Code that is not inlined is a third smaller; the readers of files keep their speed.
INLINED = runtime strconv bytes strings bufio sort compress/flate archive/zip example.org/homenode/source/esxtop/... example.org/homenode/source/ticks example.org/homenode/source/tables example.org/homenode/source/text example.org/homenode/capture example.org/homenode/numa example.org/homenode/esxi/vnuma
PAGE = dist/homenode.html
page:
	@mkdir -p dist bin
	GOOS=js GOARCH=wasm $(GO) build -trimpath -gcflags=all=-l $(foreach p,$(INLINED),-gcflags=$(p)=) -ldflags '$(LDFLAGS)' -o bin/page.wasm ./page/wasm
	$(GO) run -ldflags '$(LDFLAGS)' ./page/make bin/page.wasm "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" > $(PAGE)
	@ls -l $(PAGE)

# The documents as one folder of pages with a search, dist/site, and homenode.html in it. Its links are checked.
site: page
	rm -rf dist/site
	$(GO) run -C cmd/release ./site $(CURDIR) $(CURDIR)/dist/site "$(shell git describe --tags --always --dirty=+ --abbrev=12)" "$$(sed -nE 's/^const Home = "(.*)"/\1/p' internal/version/version.go)"
	@echo "open dist/site/index.html"

demo:
	@echo "building homenode: with empty caches this downloads 110 MB of modules and takes some minutes"
	@$(MAKE) --no-print-directory build
	@echo "judging a simulated vCenter with 24 hosts and 300 VMs"
	@bin/homenode assess demo || test $$? -eq 1
	@bin/homenode assess demo --format html -o homenode-report.html || test $$? -eq 1
	@echo && echo "wrote homenode-report.html: open it in a browser; make page writes dist/homenode.html, the whole analysis as one page"

test: deps check check-bench

deps:
	@scripts/test-deps

# Compilers, linters and tests keep little for long: collecting their garbage later saves a tenth to a fifth of the time.
check check-bench check-release: export GOGC = 400

# No test looks at debug information: compilers that write none are faster. go tool would compile staticcheck, and all that it imports, with it.
check check-bench: export GOFLAGS += -gcflags=all=-dwarf=false
staticcheck:
	$(GO) build -ldflags=-w -o bin/staticcheck honnef.co/go/tools/cmd/staticcheck

# All is compiled once, with its tests; then linters use the processor while tests wait.
check:
	@test -z "$$(gofmt -s -l .)" || { echo "not gofmt -s:"; gofmt -s -l .; exit 1; }
	$(GO) list -export -test ./... > /dev/null
	@$(MAKE) --no-print-directory -j2 lint unit

lint: staticcheck
	$(GO) vet ./...
	bin/staticcheck ./...
	@GO="$(GO)" scripts/supply

# Without what lint does, and without debug information, which takes long to link. Many tests wait: more packages run at a time than there are processors.
unit:
	$(GO) test -p 3 -vet=off -ldflags=-w -shuffle=on -timeout 30m ./...

# The benchmarks are a module of their own.
check-bench: staticcheck
	$(GO) vet -C cmd/bench ./...
	cd cmd/bench && ../../bin/staticcheck ./...
	$(GO) test -C cmd/bench -vet=off -ldflags=-w -shuffle=on ./...

# The tools that make a release are a module of their own too: make prove, and CI before a release, check them.
check-release: staticcheck
	$(GO) vet -C cmd/release ./...
	cd cmd/release && ../../bin/staticcheck ./...
	$(GO) test -C cmd/release -vet=off -ldflags=-w ./...

portable:
	GOARCH=386 $(GO) test $(PORTABLE)

# What needs other builds: other processors and systems. make prove runs it.
builds: portable same-bytes cross workflows check-release

cross:
	GOOS=linux GOARCH=arm64 $(GO) build -o /dev/null ./cmd/homenode
	GOOS=windows GOARCH=amd64 $(GO) vet ./...
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/homenode
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/homenode

# The files that CI of GitHub reads, by a linter at a version of its own.
workflows:
	$(GO) run github.com/rhysd/actionlint/cmd/actionlint@v1.7.7 .github/workflows/*.yml

# What runs at the same time. The race detector needs cgo and a C compiler, and makes tests slow: one package runs at a time, so that they keep their times.
# UNRACED are tests whose answers may take 0.4 s, long ones that do one thing after the other, and those of a program that runs without the detector.
UNRACED = TestWholeReadInTime|TestDamage|TestDamagedData|TestCodec|TestMergeCuts|TestMemoryIsFlat|TestCureAndPlacebo|TestNotInEffect|TestAdvice|TestPlansHold|TestNeededIsPlanned|TestKill|TestWaveKilled|TestUpgrade|TestLock|TestInterrupt|TestNobodyThere|TestNeverAsked|TestHostileNames
RACED = ./serve/... ./capture/... ./source/vsphere/... ./change/fix/... ./cmd/homenode/fix ./cmd/homenode/serve
race:
	@begin=$$(date +%s) && CGO_ENABLED=1 $(GO) test -race -vet=off -ldflags=-w -p 1 -timeout 30m -skip '^($(UNRACED))$$' $(RACED) && \
		echo "raced: $$($(GO) list $(RACED) | wc -l) packages in $$(( ($$(date +%s) - begin + 59) / 60 )) minutes"

FUZZTIME = 60s
fuzz:
	@scripts/fuzz $(FUZZTIME)

bench:
	@scripts/bench

# The collection beside govc, from a simulated vCenter (some minutes). VMS, ROUNDS.
VMS = 10000
ROUNDS = 5
bench-collect:
	$(GO) build -C cmd/bench/collect/govc -o $(CURDIR)/bin/govc .
	$(GO) build -C cmd/bench -o $(CURDIR)/bin/collectbench ./collect
	bin/collectbench -govc bin/govc -vms $(VMS) -rounds $(ROUNDS)

# How fast captures are read, beside other readers (some minutes, Linux): CAPTURE_MB,
# LONG_MB, DUCKDB_MB, CAPTURE_ROUNDS. ESX_DOCTOR=DIR is a clone of
# https://github.com/haoyifan/esx-doctor; FLAGS=-markdown prints Markdown.
CAPTURE_MB = 500
LONG_MB = 2000
DUCKDB_MB = 0
CAPTURE_ROUNDS = 5
ESX_DOCTOR =
FLAGS =
bench-capture:
	$(GO) build -trimpath -o bin/homenode ./cmd/homenode
	$(GO) build -C cmd/bench -o $(CURDIR)/bin/capturebench ./capture
	@scripts/bench-python bin/python
	bin/capturebench -mb $(CAPTURE_MB) -long-mb $(LONG_MB) -duckdb-mb $(DUCKDB_MB) -rounds $(CAPTURE_ROUNDS) \
		-homenode bin/homenode \
		-python bin/python/bin/python -esx-doctor "$(ESX_DOCTOR)" $(FLAGS)

# How fast the NUMA scheduler's twin simulates, beside CloudSim Plus (some minutes, Linux;
# Java and Maven): SIM_ROUNDS, SIM_SLOW_ROUNDS, CLOUDSIM= leaves CloudSim Plus out,
# FLAGS=-markdown prints Markdown. The Go benchmarks before it also do every phase in every step.
SIM_ROUNDS = 5
SIM_SLOW_ROUNDS = 3
CLOUDSIM = bin/cloudsim/cloudsimbench
bench-sim:
	$(GO) test -run '^$$' -bench 'Run|EveryPhase' ./esxi/scheduler
	$(GO) build -C cmd/bench -o $(CURDIR)/bin/simbench ./scheduler
	@test -z "$(CLOUDSIM)" || scripts/bench-cloudsim bin/cloudsim
	bin/simbench -rounds $(SIM_ROUNDS) -slow-rounds $(SIM_SLOW_ROUNDS) -cloudsim "$(CLOUDSIM)" $(FLAGS)

# The kernels of homenode measure beside the same in C, beside likwid-bench where it is installed, and beside
# multichase (some minutes, Linux; a C compiler): MEASURE_ROUNDS. MULTICHASE=DIR is a clone of
# https://github.com/google/multichase that was built there; FLAGS=-markdown prints Markdown.
MEASURE_ROUNDS = 15
MULTICHASE =
bench-measure:
	$(GO) build -trimpath -o bin/homenode ./cmd/homenode
	$(GO) build -C cmd/bench -o $(CURDIR)/bin/measurebench ./measure
	bin/measurebench -rounds $(MEASURE_ROUNDS) -homenode bin/homenode -multichase "$(MULTICHASE)" $(FLAGS)

# A simulation gives the same bytes on every processor.
same-bytes:
	@GO="$(GO)" scripts/same-bytes

# Rewrites golden files and generated pages: read the difference before you commit.
golden: docs
	$(GO) test ./cmd/homenode ./capture/export/openmetrics ./output/fleet ./output/recording ./output/draw/chart ./output/draw/topo ./output/format ./rules ./source/benchmark ./esxi/vnuma ./output/fix/script ./output/move/... -update

# Records the answers of the corpus anew and prints how their data differs: a commit that changes an answer shows the difference
# and gives the reason.
corpus:
	$(GO) test ./cmd/homenode -run '^TestCorpus$$' -update
	@git --no-pager diff --unified=0 -- cmd/homenode/testdata/corpus/answers.txt

# What takes too long for every change: plays every world of the published experiments, kills and fills what keeps,
# boots guests; writes the record of the experiments, docs/evidence/published-simulations.md and docs/evidence/proof.md.
# PROVE=REGEXP runs what has a match in its row of docs/evidence/proof.md alone.
prove:
	@scripts/test-deps all
ifndef PROVE
	@$(MAKE) --no-print-directory builds
	$(MAKE) --no-print-directory release-twice site
endif
ifndef PROVE
	$(GO) test ./measure/experiment -run TestWorlds -update
	$(GO) test ./output/truth -run TestPublishedExperiments -update
endif
	@GO="$(GO)" MAKE="$(MAKE)" scripts/prove '$(PROVE)'

# What watching costs: collecting 500 hosts of 40 VMs every 20 s, /metrics beside the client library, the call beside
# govmomi's, the store (about 15 minutes, Linux). WATCH_HOSTS, WATCH_MINUTES, WATCH_DAYS.
WATCH_HOSTS = 500
WATCH_MINUTES = 3
WATCH_DAYS = 30
bench-watch:
	$(GO) build -C cmd/bench -o $(CURDIR)/bin/watchbench ./watch
	bin/watchbench call 7
	bin/watchbench metrics 10000 7
	rm -rf bin/watchstore && bin/watchbench store 100 $(WATCH_DAYS) bin/watchstore; rm -rf bin/watchstore
	rm -rf bin/watchstore && bin/watchbench burst 200000 720 bin/watchstore; rm -rf bin/watchstore
	bin/watchbench collect $(WATCH_HOSTS) 40 20 $(WATCH_MINUTES)

# How soon pages come: each alone, of live pages for many viewers, and lists at a rising rate, of homenode serve that collects from a
# simulated vCenter, all on this machine (about 8 minutes, Linux): PAGES_HOSTS of 40 VMs, PAGES_VIEWERS.
PAGES_HOSTS = 250
PAGES_VIEWERS = 200
PAGES_SECONDS = 90
bench-pages:
	$(GO) build -trimpath -o bin/homenode ./cmd/homenode
	$(GO) build -C cmd/bench -o $(CURDIR)/bin/watchbench ./watch
	bin/watchbench pages $(PAGES_HOSTS) 40 $(PAGES_VIEWERS) $(PAGES_SECONDS) bin/homenode

docs:
	$(GO) test ./cmd/homenode ./output/size -run '^(TestDocs|TestPublishedCapacity)$$' -update

clean:
	rm -rf bin homenode-report.html
