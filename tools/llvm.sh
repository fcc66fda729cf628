#!/bin/sh
# llvm.sh: what scripts and the Makefile know of versions of LLVM, from the table in src/base/llvm.rs.
# llvm.sh all            versions for which an engine can be built, oldest first
# llvm.sh main           the one that tests and tools are run with
# llvm.sh found          those whose headers are here; the main one where none is
# llvm.sh tools V...     the programs that building for these versions takes
# llvm.sh packages V...  Debian's packages of them
# llvm.sh missing V...   what of headers and libraries is not here
set -eu
cd "$(dirname "$0")/.."

rows=$(sed -n 's/^    version(\([0-9]*\), "\(LLVM_SYS_[0-9]*_PREFIX\)"),$/\1 \2/p' src/base/llvm.rs)
all=$(echo "$rows" | cut -d' ' -f1 | tr '\n' ' ')
main=${all%% *}

# The folder of a version: that which its variable names.
prefix() {
    variable=$(echo "$rows" | sed -n "s/^$1 //p")
    [ -n "$variable" ] || { echo "llvm.sh: LLVM $1: there are engines for $all" >&2; exit 2; }
    eval "echo \"\${$variable:-/usr/lib/llvm-$1}\""
}

has_headers() { at=$(prefix "$1") && [ -x "$at/bin/llvm-config" ] && [ -d "$at/include/llvm-c" ]; }

what=$1
shift
case $what in
all) echo "$all" ;;
main) echo "$main" ;;
found)
    found=
    for v in $all; do
        ! has_headers "$v" || found="$found $v"
    done
    echo ${found:-$main}
    ;;
tools)
    for v; do echo "clang-$v llvm-config-$v"; done
    # Tests call these.
    case " $* " in *" $main "*) echo "opt-$main llvm-profdata-$main ld.lld-$main" ;; esac
    ;;
packages)
    for v; do echo "clang-$v llvm-$v llvm-$v-dev libclang-rt-$v-dev"; done
    case " $* " in *" $main "*) echo "libpolly-$main-dev lld-$main" ;; esac
    ;;
missing)
    for v; do
        has_headers "$v" || echo "llvm-$v-dev"
        at=$(prefix "$v")
        # Tests of each version compare with what its clang counts; clang's package does not bring the runtime of that.
        ls "$at/lib/clang/$v/lib"/*/libclang_rt.profile* >/dev/null 2>&1 || echo "libclang-rt-$v-dev"
        [ "$v" != "$main" ] || [ -e "$at/lib/libPolly.a" ] || echo "libpolly-$v-dev"
    done
    ;;
*) echo 'llvm.sh all|main|found|tools|packages|missing [V...]' >&2 && exit 2 ;;
esac
