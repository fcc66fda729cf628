# The runner's rules. Variables above: P3_COPIES, P3_MODULES (rewritten), P3_INPUTS (untouched),
# P3_CXX (1: link with the C++ compiler).

first = $(firstword $(foreach c,$(1),$(shell command -v $(c) 2>/dev/null)))
ifeq ($(origin CC),default)
CC := $(or $(call first,clang-19 clang),clang)
endif
ifeq ($(origin CXX),default)
CXX := $(or $(call first,clang++-19 clang++),clang++)
endif
CFLAGS ?= -O2
LDLIBS ?= -lm -pthread -ldl
P3_PROF ?= p3-prof
PROFILE ?= profile.p3prof
P3_LINK = $(if $(filter 1,$(P3_CXX)),$(CXX),$(CC))
P3_RUNTIME := $(patsubst runtime/%.c,obj/runtime/%.o,$(wildcard runtime/*.c))
# Folder of whoever called make: paths in STDIN and FILES are relative to it.
P3_FROM := $(PWD)
export ARGS STDIN FILES ALLOW_STATUS P3_FROM

.PHONY: all native run report clean help $(addprefix run-,$(P3_COPIES))
all: $(patsubst %,bin/copy-%,$(P3_COPIES))

help:
	@echo 'make            link every copy (CC, CXX, CFLAGS, LDFLAGS, LDLIBS)'
	@echo 'make native     link the untouched input'
	@echo 'make run        run every copy and merge: ARGS="…" STDIN=file FILES="…" ALLOW_STATUS=n'
	@echo 'make report     the hottest paths: TOP=n'
	@echo 'make clean      remove what was linked and run'

obj/runtime/%.o: runtime/%.c $(wildcard runtime/*.h)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -fPIE -c $< -o $@

# $(1): folder below which the modules are; $(2): module
define p3_object
obj/$(1)/$(2).o: $(1)/$(2)
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) -Wno-override-module -x ir -c $$< -o $$@
endef

# $(1): the same; $(2): its modules; $(3): objects of the runtime
define p3_program
$(foreach m,$(2),$(eval $(call p3_object,$(1),$(m))))
bin/$(1): $(patsubst %,obj/$(1)/%.o,$(2)) $(3)
	@mkdir -p $$(@D)
	$$(P3_LINK) $$(CFLAGS) $$(LDFLAGS) $$^ $$(LDLIBS) -o $$@
endef

$(foreach k,$(P3_COPIES),$(eval $(call p3_program,copy-$(k),$(P3_MODULES),$(P3_RUNTIME))))
$(eval $(call p3_program,native,$(P3_INPUTS),))
native: bin/native

run: $(addprefix run-,$(P3_COPIES))
	@sh runtime/p3-run.sh compare $(P3_COPIES)
	@command -v $(P3_PROF) >/dev/null || { echo 'p3: $(P3_PROF) not found; set P3_PROF to its path' >&2; exit 1; }
	$(P3_PROF) merge -m manifest.json -o $(PROFILE) $(patsubst %,run/copy-%,$(P3_COPIES))

.PHONY: p3-stdin
p3-stdin:
	@sh runtime/p3-run.sh input

$(addprefix run-,$(P3_COPIES)): run-%: bin/copy-% p3-stdin
	@sh runtime/p3-run.sh copy $*

report:
	$(P3_PROF) show $(PROFILE) $(if $(TOP),--top $(TOP))

clean:
	rm -rf obj bin run $(PROFILE)
