# Targets for people; everything else is cargo.

CARGO ?= cargo
OUT ?= target/demo
# The versions of LLVM for which engines are built: those that are here, at least one. LLVM='19 22' installs what is missing.
LLVM = $(shell sh tools/llvm.sh found)
# The one that tests and tools are run with
MAIN := $(shell sh tools/llvm.sh main)
APT = $(shell sh tools/llvm.sh packages $(MAIN)) zlib1g-dev libzstd-dev g++ make util-linux
TOOLS = $(shell sh tools/llvm.sh tools $(MAIN)) g++ setarch
# clang's library of OpenMP. Those of two versions exclude each other.
OPENMP = /usr/lib/llvm-$(MAIN)/lib/libomp.so
# What opens exported profiles
VIEWERS = genhtml dot callgrind_annotate go npm chromium
# Build systems that projects come with
BUILDERS = cmake meson ninja pkg-config mlir-opt-$(MAIN)
BUILDERS_APT = cmake meson ninja-build pkgconf mlir-$(MAIN)-tools
# What counts instructions for p3-bench
COUNTERS = qemu-x86_64 valgrind
COUNTERS_APT = qemu-user valgrind
# What runs copies elsewhere
LAUNCHERS = parallel ssh /usr/sbin/sshd rsync sbatch /usr/sbin/slurmctld /usr/sbin/slurmd /usr/sbin/munged ip mpicc mpirun
LAUNCHERS_APT = parallel openssh-client openssh-server rsync slurm-wlm munge iproute2 openmpi-bin libopenmpi-dev
VIEWERS_APT = lcov graphviz valgrind golang-go chromium $(if $(shell command -v npm),,npm)

# Where cargo puts release builds. Scripts change folders, so the name is to be absolute.
ifdef CARGO_TARGET_DIR
export CARGO_TARGET_DIR := $(abspath $(CARGO_TARGET_DIR))
endif
RELEASE = $(abspath $(or $(CARGO_TARGET_DIR),target))/release

.PHONY: help setup setup-all setup-tests setup-viewers setup-builders setup-launchers setup-engines build demo test test-viewers test-builds test-launchers test-tutorial lint corpus programs projects shadows kernels residual bench cost bench-selected fuzz peers cross engines test-engines test-others cached book man deb test-deb test-docker coverage-peers screens clean
help:
	@echo 'make demo           set up, build, profile a small program with 4 copies, show'
	@echo '                    its hottest paths'
	@echo 'make test           set up, run all tests but those of viewers; where several'
	@echo '                    LLVMs are, what engines do by each of them'
	@echo 'make test-others    the part of make test that runs by the engines of other'
	@echo '                    versions than the main one'
	@echo 'make test-viewers   open exported profiles by genhtml, callgrind_annotate,'
	@echo '                    pprof, speedscope, dot, and pages in a browser'
	@echo 'make screens        take the pictures of the page in docs/images again, by a'
	@echo '                    browser'
	@echo 'make tour           write docs/images/tour.svg again, from the commands of'
	@echo '                    docs/TUTORIAL.md and the lines under them'
	@echo 'make test-builds    a project built by make, CMake and Meson with p3-cc, its'
	@echo '                    tests run in every copy'
	@echo 'make test-threads-long'
	@echo '                    threads by the thousand, kills by the hundred, against'
	@echo '                    their own counts (minutes; UPDATE=single for another way)'
	@echo 'make test-launchers copies on hosts by ssh and GNU parallel, and by Slurm, on'
	@echo '                    this machine (as root: namespaces)'
	@echo 'make test-tutorial  every command of docs/EXAMPLES.md and docs/SELECTED.md:'
	@echo '                    libyaml from Debian sources, profiled and made faster'
	@echo '                    (minutes)'
	@echo 'make lint           formatting, clippy, links of the documentation'
	@echo 'make corpus         profile bzip2, lua and sqlite3 from Debian sources, check'
	@echo '                    the profiles (minutes)'
	@echo 'make fuzz           random programs and damaged files for SECONDS (default 600)'
	@echo 'make peers          LLVM tests and csmith programs (SAMPLE and CSMITH of them,'
	@echo '                    JOBS at a time) through every scheme'
	@echo 'make programs BENCH=folder'
	@echo '                    profile programs given as'
	@echo '                    prog/NAME/{prog.bc,link.sh,run-train.sh}'
	@echo 'make projects       real projects, built by p3-rewrite build and tested by'
	@echo '                    p3-rewrite suite (minutes each; ONLY="gzip lua")'
	@echo 'make shadows        programs with effects under many shadows, 20 rounds each;'
	@echo '                    1,000 shadows for each treated system call (an hour;'
	@echo '                    ONLY="sqlite redis")'
	@echo 'make residual       ten runs of five programs, each against those before it'
	@echo '                    (--paths new:), beside runs that count all paths'
	@echo 'make kernels        what shadows cost and find in small programs of the usual'
	@echo '                    kinds, one run of ten seconds of each (RUNS=5; ONLY="queens'
	@echo '                    events")'
	@echo 'make cross          the runtime with gcc 12, clang 14 and newer, and a program'
	@echo '                    by each engine, for x86-64, aarch64 and RISC-V under qemu'
	@echo "make build LLVM='19 22'"
	@echo "                    release builds with an engine for each of these versions,"
	@echo "                    installing what is missing (as it is: for those that are"
	@echo "                    here)"
	@echo 'make engines        an engine for each LLVM that is here, in'
	@echo '                    target/debug/engines, for tests; make test-engines tries'
	@echo '                    them (a quarter of an hour)'
	@echo 'make book           docs/ as a book in target/book (mdBook, by cargo where it is'
	@echo '                    missing), after a test of the commands in it'
	@echo 'make man            man pages and completions in target/share (p3-rewrite'
	@echo '                    manual)'
	@echo 'make deb            a Debian package in target/debian (cargo-deb, by cargo where'
	@echo '                    it is missing); make test-deb tries it in a clean Debian 12'
	@echo '                    (as root)'
	@echo 'make test-docker    the image of the Dockerfile, built by buildah and used (as'
	@echo '                    root; a quarter of an hour)'
	@echo 'make coverage-peers branches, MC/DC, prime paths, pairs and paths of the same'
	@echo '                    runs, by clang, gcc 15 and p3-prof (as root; minutes)'
	@echo 'make bench-selected what counting only some paths costs, with callgrind: tables,'
	@echo '                    and the plot of bench/FIGURES.md (an hour; PARTS="kernels'
	@echo '                    functions inputs", or "programs redis"; ONLY="queens life")'
	@echo 'make bench-threads  processor time of programs with threads, natively and by'
	@echo '                    each --update, and whether their counts are equal (an'
	@echo '                    hour; ROUNDS=1 ONLY="zstd kernel", UPDATE=…)'
	@echo 'make bench-start    what a start, fork and exec of programs of 1, 100 and 400'
	@echo '                    modules take (a quarter of an hour; ONLY="1 100")'
	@echo 'make cost           executed instructions of small programs beside LLVM edge'
	@echo '                    counters alone, in two halves (COST=folder, ONLY=names)'
	@echo 'make bench          what profiling costs on real programs, bench/FIGURES.md'
	@echo '                    (hours; ROUNDS=1 ONLY=bzip2 is short)'

setup:
	@sh tools/setup.sh "$(TOOLS)" "$(APT)"
setup-tests:
	@sh tools/setup.sh "$(TOOLS) ccache z3 $(OPENMP)" "$(APT) ccache z3 libomp-$(MAIN)-dev"
setup-viewers:
	@sh tools/setup.sh "$(TOOLS) $(VIEWERS)" "$(APT) $(VIEWERS_APT)"
	@sh tools/lcov2.sh target/lcov2

setup-builders:
	@sh tools/setup.sh "$(TOOLS) $(BUILDERS)" "$(APT) $(BUILDERS_APT)"

# All of it by one call of apt.
setup-all:
	@sh tools/setup.sh "$(TOOLS) z3 $(VIEWERS) $(BUILDERS) $(LAUNCHERS)" "$(APT) z3 $(VIEWERS_APT) $(BUILDERS_APT) $(LAUNCHERS_APT)"
	@sh tools/lcov2.sh target/lcov2

setup-launchers:
	@sh tools/setup.sh "$(TOOLS) $(LAUNCHERS)" "$(APT) $(LAUNCHERS_APT)"

setup-engines:
	@LLVM="$(LLVM)" sh tools/setup.sh "$(shell sh tools/llvm.sh tools $(LLVM)) g++ setarch" "$(shell sh tools/llvm.sh packages $(LLVM)) zlib1g-dev libzstd-dev g++ make util-linux"

# All programs with the first version's engine; that of each other one.
build: setup-engines
	$(CARGO) build --release --locked --no-default-features --features estimates,llvm$(firstword $(LLVM)) --bins
	LLVM="$(wordlist 2,99,$(LLVM))"; [ -z "$$LLVM" ] || LLVM="$$LLVM" sh tools/engines.sh build $(RELEASE) --release

# Engines of other versions than the one that tests are compiled with, where `cargo test` does not find them by itself.
engines: setup setup-engines
	LLVM="$(filter-out $(MAIN),$(LLVM))"; [ -z "$$LLVM" ] || LLVM="$$LLVM" sh tools/engines.sh build target/debug/engines

# Modules of every clang and rustc that is here through the engines; and groups of tests by each version other than the main one, as a whole.
test-engines: engines
	$(CARGO) build --locked --bins
	LLVM="$(LLVM)" sh tools/engines.sh try target/debug/engines
	LLVM="$(LLVM)" sh tools/engines.sh test oracle_trace:: oracle_pgo:: left:: peers:: fuzz:: hits:: edge:: thread_counts::

# What an engine does is seen in these: whole programs against their traces, annotated modules against clang's, functions that
# exceptions and exits leave, modules that others wrote, random programs. Programs that are not optimised are left to test-engines.
# Conditions are quoted as each clang places them, but for assertions, whose macro clang 22 looks into
# (docs/READING.md).
ENGINE_TESTS = conditions:: truth:: oracle_trace:: oracle_pgo::demo left:: peers:: fuzz::first_round \
	--skip ::unoptimised --skip truth::assertion

# By each engine but the main one.
test-others: cached setup-engines
	LLVM="$(LLVM)" $(CACHED) sh tools/engines.sh test $(ENGINE_TESTS)

# With debug information, so that the report names source lines.
# Built to be there soon, not to be fast; with the first version's engine.
QUICK = $(abspath $(or $(CARGO_TARGET_DIR),target))/quick
demo:
	@$(MAKE) --no-print-directory setup-engines LLVM=$(firstword $(LLVM))
	$(CARGO) build --profile quick --locked --no-default-features --features llvm$(firstword $(LLVM)) --bin p3-rewrite --bin p3-prof
	@mkdir -p $(OUT)
	clang-$(firstword $(LLVM)) -O1 -g -finline-hint-functions -emit-llvm -c testdata/programs/demo.c -o $(OUT)/demo.bc
	$(QUICK)/p3-rewrite $(OUT)/demo.bc -k 4 -o $(OUT)/out
	$(MAKE) -s -C $(OUT)/out run ARGS=100000 P3_PROF=$(QUICK)/p3-prof
	$(MAKE) -s -C $(OUT)/out report TOP=2 P3_PROF=$(QUICK)/p3-prof

# Most of what tests compile is the C runtime, the same each time: ccache, under the names by which clang is called.
CACHED = CCACHE_DIR="$(CURDIR)/target/ccache" PATH="$(CURDIR)/target/ccache/bin:$$PATH"
cached: setup-tests
	@mkdir -p target/ccache/bin
	@for v in $(LLVM); do for name in clang-$$v clang++-$$v; do ln -sf "$$(command -v ccache)" target/ccache/bin/$$name; done; done

test: cached
	$(CACHED) $(CARGO) test --locked --workspace
	$(MAKE) test-others

# Exported profiles, opened by the tools that they are for: a browser is among them.
test-viewers: setup-viewers
	$(CARGO) test --locked --test it -- viewers:: pages:: --ignored

# The pictures of the page in README.md and docs/PAGE.md.
screens: build
	@sh tools/setup.sh "$(TOOLS) chromium pngquant" "$(APT) chromium pngquant"
	sh tools/screens.sh $(RELEASE)

# The tutorial's own test runs its commands, and looks for the lines that the film shows.
.PHONY: tour
tour: setup
	INSTA_UPDATE=always $(CARGO) test --locked --test it -- book::tour book::tutorial

# The example project of docs/BUILD.md, by every build system.
test-builds: setup-builders
	$(CARGO) test --locked --test it -- build:: compilers:: inputs:: --ignored

# The commands of docs/EXAMPLES.md and docs/SELECTED.md, with libyaml from Debian's sources.
test-tutorial:
	@sh tools/setup.sh "$(TOOLS) cmake valgrind patch" "$(APT) cmake valgrind patch"
	$(CARGO) test --locked --test it -- book::outside --ignored

# Programs with threads against their own counts, by --update $(UPDATE): more threads and rounds than make test has, and Rust's
# threads, which need the engine of rustc's LLVM.
UPDATE ?= $(shell sed -n 's/^const UPDATE: .* = "\(.*\)";/\1/p' tests/it/thread_counts/mod.rs)
.PHONY: test-threads-long
test-threads-long: cached engines
	P3_THREADS_LONG=1 P3_UPDATE=$(UPDATE) P3_ENGINES=$(CURDIR)/target/debug/engines:$(CURDIR)/target/debug \
	    $(CACHED) $(CARGO) test --locked --test it thread_counts:: -- --include-ignored

# The daemons run in namespaces of their own, which takes root.
test-launchers: setup-launchers
	$(CARGO) test --locked --test it -- launch:: shadow::faults::full_disk --ignored

# A control group with a limit of memory, which only root can make.
.PHONY: test-limits test-forms
test-limits: cached
	$(CACHED) $(CARGO) test --locked --test it shadow::faults -- --ignored

# The forms that need no LLVM, with estimates and without.
test-forms:
	sh tools/forms.sh

# There are no examples. But where some could be, cargo gives crates the features that tests ask for, and so takes those
# that are compiled already; else it compiles syn, and all macros that use it, once more for each set of features.
AS_TESTED = --examples

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) clippy --locked --no-default-features --bins $(AS_TESTED) -- -D warnings
	$(CARGO) clippy --locked --no-default-features --features estimates --bins $(AS_TESTED) -- -D warnings
	$(CARGO) clippy --locked --no-default-features --features llvm$(MAIN) --bins $(AS_TESTED) -- -D warnings
	RUSTDOCFLAGS='-D warnings -A rustdoc::private-intra-doc-links' \
	    $(CARGO) doc --locked --no-deps --lib --bins $(AS_TESTED)

corpus: build setup-tests
	sh tools/corpus.sh

# BENCH: the folder of programs that were built by the recipes
programs: build
	sh tools/programs.sh $(BENCH)

# Their own builds and test suites
projects: build
	sh tools/projects.sh $(ONLY)

# With many shadows at a time. Redis, lighttpd, sqlite and bzip2 from Debian's sources
shadows: build
	TMPDIR=$$(df /dev/shm >/dev/null 2>&1 && [ -w /dev/shm ] && echo /dev/shm || echo /tmp) P3_SHADOWS=$${P3_SHADOWS:-1000} $(CARGO) test --locked --test it shadow:: -- --nocapture --test-threads 1
	sh tools/shadows.sh $(ONLY)

# Fifteen small programs, against exact profiles, on a machine that nobody else uses
kernels: build
	sh tools/kernels.sh $(ONLY)

# Ten runs of five programs, each against those before it (--paths new:), beside runs that count all paths
residual: build
	sh tools/residual.sh $(ONLY)

# Executed instructions: other load on the machine does not matter
bench-selected: build
	@sh tools/setup.sh "$(TOOLS) valgrind jq patch tclsh" "$(APT) valgrind jq patch tcl"
	ONLY="$(ONLY)" sh tools/selected.sh $(PARTS)

SECONDS ?= 600
fuzz: setup
	P3_FUZZ_SECONDS=$(SECONDS) P3_FUZZ_SEED=$${P3_FUZZ_SEED:-$$(date +%s)} $(CARGO) test --release --locked --test it fuzz:: -- --nocapture

# All of LLVM's tests take hours.
SAMPLE ?= 1000
CSMITH ?= 50
JOBS ?= 0
peers: setup
	sh tools/peers.sh $(SAMPLE) $(CSMITH) $(JOBS)

# Measured before is not measured again: bench-out/programs/results.json
BENCH ?= bench-out/recipes
bench: build
	@sh tools/setup.sh '$(COUNTERS)' '$(COUNTERS_APT)'
	sh tools/bench.sh $(BENCH)

# Processor time of native, single, atomic and UPDATE, side by side, by 1, 2, 4 and 8 threads (ROUNDS of them)
.PHONY: bench-threads
bench-threads: build
	@sh tools/setup.sh "$(TOOLS) redis-benchmark tclsh $(OPENMP)" "$(APT) redis-tools tcl libomp-$(MAIN)-dev"
	UPDATE="$(UPDATE)" bash tools/threads.sh $(ONLY)

# Start, fork and exec of programs of many modules, on a machine that nobody else uses
.PHONY: bench-start
bench-start: build
	bash tools/start.sh $(ONLY)

# Small inputs: half of the programs are for choosing rules, half for reporting (bench/src/cost.rs)
COST ?= bench-out/cost
cost: build
	@sh tools/setup.sh '$(COUNTERS)' '$(COUNTERS_APT)'
	[ -d $(COST)/prog ] || bash bench/recipes/cost.sh $(COST)
	$(CARGO) run -q --release --locked -p p3-bench -- --out $(COST) cost $(COST) $(if $(ONLY),--only $(ONLY))

book:
	$(CARGO) test --locked --test it book::
	command -v mdbook >/dev/null || $(CARGO) install --locked mdbook
	ln -sf INDEX.md docs/SUMMARY.md
	PATH="$$PATH:$${CARGO_HOME:-$$HOME/.cargo}/bin" mdbook build || { rm docs/SUMMARY.md; exit 1; }
	rm docs/SUMMARY.md

man: build
	$(RELEASE)/p3-rewrite manual -o target/share --force

deb: setup-engines
	@sh tools/setup.sh dpkg-shlibdeps dpkg-dev
	LLVM="$(LLVM)" sh tools/deb.sh build

# Installed where nothing else is: by mmdebstrap, in namespaces.
test-deb: deb
	@sh tools/setup.sh "$(TOOLS) mmdebstrap" "$(APT) mmdebstrap"
	LLVM="$(LLVM)" sh tools/deb.sh try

# The image of the Dockerfile, by buildah in a chroot, without a registry of images.
test-docker:
	@sh tools/setup.sh "$(TOOLS) mmdebstrap buildah" "$(APT) mmdebstrap buildah"
	sh tools/docker.sh

coverage-peers: build
	bash tools/coverage-peers.sh

clean:
	$(CARGO) clean

# The runtime with other compilers and for other machines, under qemu-user.
cross: setup
	sh tools/cross.sh
