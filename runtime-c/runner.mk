# SPDX-License-Identifier: MIT OR Apache-2.0
# The runner's rules. Variables above: P3_COPIES, P3_MODULES (rewritten), P3_INPUTS (untouched), P3_RUNTIME,
# P3_CXX (1: link with the C++ compiler), P3_LLVM (its version), P3_WRAPPED (functions that the runtime replaces),
# P3_ALIGN (what addresses of data are aligned to; 0: as the linker does), P3_PASSES (options for LLVM, for modules of
# copies). All names are p3-rewrite's own; what comes from outside goes to p3-run.sh in the environment, where the shell
# sees values and not text.

first = $(firstword $(foreach c,$(1),$(shell command -v $(c) 2>/dev/null)))
ifeq ($(origin CC),default)
CC := $(or $(call first,clang-$(P3_LLVM) clang),clang)
endif
ifeq ($(origin CXX),default)
CXX := $(or $(call first,clang++-$(P3_LLVM) clang++),clang++)
endif
# $(1): a compiler; $(2): the variable that names it. Ends make if it is missing. For recipes: where all is built,
# nobody needs a compiler. Words before its name may set variables (CC="A=1 clang"), and its name may be quoted: then
# the shell looks for it.
odd = $(findstring =,$(firstword $(1)))$(findstring ",$(1))$(findstring ',$(1))$(findstring \,$(1))$(findstring `,$(1))$(findstring $$,$(1))
need = $(if $(or $(call odd,$(1)),$(call first,$(firstword $(1)))),,$(error \
    there is no compiler called $(firstword $(1)): install clang-$(P3_LLVM), or name another one (make $(2)=...)))
CFLAGS ?= -O2
LDLIBS ?= -lm -pthread -ldl
P3_PROF ?= p3-prof
PROFILE ?= profile.p3prof
# Commands are whole by V=1; else a line says what is made, unless make is silent (-s).
P3_QUIET := $(if $(filter-out 0,$(V)),,@)
# $(1): what is done; $(2): with which file
say = @$(if $(filter-out 0,$(V))$(findstring s,$(firstword -$(MAKEFLAGS))),:,echo '  $(1)  $(2)')
P3_LINKER = $(if $(filter 1,$(P3_CXX)),CXX,CC)
P3_LINK = $($(P3_LINKER))
# Folder of whoever called make: paths in STDIN and FILES are relative to it. (value: it may hold a $.)
ifeq ($(origin P3_FROM),undefined)
P3_FROM := $(value PWD)
endif
export P3_PROFILE = $(PROFILE)
export P3_TOP = $(TOP)
export ARGS STDIN FILES ALLOW_STATUS COMPARE FIXED_TIME P3_PROF P3_FROM P3_COPIES
export LAUNCH HOSTS HOSTFILE SHARED PARALLEL_FLAGS SBATCH_FLAGS
P3_RUN := sh runtime/p3-run.sh

.PHONY: all native run merge report clean help $(addprefix run-,$(P3_COPIES))
all:
	@$(P3_RUN) build '$(MAKE)' p3-all

native:
	@$(P3_RUN) build '$(MAKE)' bin/native

help:
	@echo 'make            link every copy: CC, CXX, CFLAGS, LDFLAGS'
	@echo '  LDLIBS="…"      libraries, now $(LDLIBS)'
	@echo '  P3_PASSES="…"   options for LLVM that keep counts short; empty: none, for a'
	@echo '                  compiler that does not know them'
	@echo '  V=1             show the commands'
	@echo 'make native     link the untouched input'
	@echo 'make run        run every copy, and merge; -j: side by side'
	@echo '  PROFILE=file    the merged profile (default: profile.p3prof)'
	@echo '  ARGS="…"        arguments of the program, as the shell reads them'
	@echo '  STDIN=file      its standard input (default: /dev/null); -: that of make'
	@echo '  FILES="…"       files and folders that it reads: copied to where copies run'
	@echo '  ALLOW_STATUS=n  the exit status that it has on this input, if that is not 0'
	@echo '  COMPARE=what    what must be equal in all copies: stdout (default; with the'
	@echo '                  status), status, none'
	@echo '  FIXED_TIME=1    clocks that advance by calls, and the same random numbers:'
	@echo '                  for programs that read them'
	@echo '  LAUNCH=where    where copies run: local (default); parallel (on hosts, by ssh'
	@echo '                  and GNU parallel); slurm (as an array of jobs)'
	@echo '    HOSTS="…"       for parallel: names for ssh, as in "node1 4/me@node2"'
	@echo '    HOSTFILE=file   the same, one a line'
	@echo '    SHARED=1        hosts see this folder under this name; otherwise what a'
	@echo '                    copy needs is sent'
	@echo '    PARALLEL_FLAGS="…", SBATCH_FLAGS="…"'
	@echo '                    more options for parallel, for sbatch'
	@echo 'make run-N      run copy N alone, here or on another host'
	@echo 'make merge      compare and merge what is in run/copy-*'
	@echo 'make report     print the hottest paths; TOP=n'
	@echo 'make clean      remove what was linked and run'

run:
	@$(P3_RUN) run '$(MAKE)'

$(addprefix run-,$(P3_COPIES)): run-%:
	@$(P3_RUN) run_one '$(MAKE)' $*

merge:
	@$(P3_RUN) merge

report:
	@$(P3_RUN) report

clean:
	@$(P3_RUN) clean

# For p3-rewrite --train.
.PHONY: p3-train
p3-train:
	@$(P3_RUN) train '$(MAKE)'

# What p3-run.sh makes under its lock.
.PHONY: p3-all $(addprefix p3-run-,$(P3_COPIES))
P3_PRELOAD := $(if $(filter-out 0 no,$(FIXED_TIME)),obj/fixed_time.so)
p3-all: $(patsubst %,bin/copy-%,$(P3_COPIES)) $(P3_PRELOAD)
	@:

$(addprefix p3-run-,$(P3_COPIES)): p3-run-%:
	@$(P3_RUN) copy $* run/stdin

# Whether the C library is shared, or in the program: else its functions cannot be replaced (p3_create.c).
P3_WORDS = $(CC) $(CXX) $(CFLAGS) $(LDFLAGS) $(LDLIBS)
P3_STATIC = $(findstring static,$(filter-out -static-lib%,$(P3_WORDS)))
P3_ODD_LIBC = $(filter -nostdlib -nodefaultlibs -nolibc -shared -r,$(P3_WORDS))
P3_STARTS = $(if $(P3_ODD_LIBC),,$(if $(P3_STATIC),-DP3_WRAPPED,-DP3_DYNAMIC)) $(if $(findstring -fsanitize=,$(P3_WORDS)),-DP3_SANITIZED)
P3_WRAP = $(if $(filter -DP3_WRAPPED,$(P3_STARTS)),$(addprefix -Wl$(comma)--wrap=,$(P3_WRAPPED)))
comma := ,

obj/runtime/%.o: runtime/%.c $(wildcard runtime/*.h)
	@$(call need,$(CC),CC)mkdir -p $(@D)
	$(P3_QUIET)$(CC) -std=c11 -O2 -fPIE $(P3_STARTS) -c $< -o $@

obj/align.o: runtime/first/align.c
	@$(call need,$(CC),CC)mkdir -p $(@D)
	$(P3_QUIET)$(CC) -std=c11 -O2 -fPIE -DP3_ALIGN=$(P3_ALIGN) $(if $(filter -static%,$(LDFLAGS)),-DP3_STATIC) -c $< -o $@

obj/fixed_time.so: runtime/preload/fixed_time.c
	@$(call need,$(CC),CC)mkdir -p $(@D)
	$(P3_QUIET)$(CC) -std=c11 -O2 -fPIC -shared $< -o $@

# $(1): folder below which the modules are; $(2): module
define p3_object
obj/$(1)/$(2).o: $(1)/$(2)
	@$$(call need,$$(CC),CC)mkdir -p $$(@D)
	$$(call say,CC  ,$$<)
	$$(P3_QUIET)$$(CC) $$(CFLAGS) $(if $(filter copy-%,$(1)),$$(P3_PASSES)) -Wno-override-module -x ir -c $$< -o $$@
endef

# $(1): the same; $(2): its modules; $(3): objects of the runtime; $(4): what is linked before them
define p3_program
$(foreach m,$(2),$(eval $(call p3_object,$(1),$(m))))
bin/$(1): $(4) $(patsubst %,obj/$(1)/%.o,$(2)) $(3)
	@$$(call need,$$(P3_LINK),$$(P3_LINKER))mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(P3_QUIET)$$(P3_LINK) $$(CFLAGS) $$(LDFLAGS) $(if $(filter copy-%,$(1)),$$(P3_WRAP)) $$^ $$(LDLIBS) -o $$@.part
	@mv -f $$@.part $$@
endef

P3_OBJECTS := $(patsubst %,obj/runtime/%.o,$(P3_RUNTIME))
P3_FIRST := $(if $(filter-out 0 no,$(P3_ALIGN)),obj/align.o)
$(foreach k,$(P3_COPIES),$(eval $(call p3_program,copy-$(k),$(P3_MODULES),$(P3_OBJECTS),$(P3_FIRST))))
$(eval $(call p3_program,native,$(P3_INPUTS),,))
