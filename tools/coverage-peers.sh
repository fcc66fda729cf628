#!/bin/bash
# coverage-peers.sh [NAME...]: what one workload covers of a program at -O0, as gcc 15 (prime paths), clang 19
# (branches, MC/DC) and p3-prof (paths, pairs) tell it, and what each takes: the tables of docs/PEERS.md. As root: gcc
# 15 is from Debian unstable, in a folder of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
LLVM=$(sh tools/llvm.sh main)
ROOT=$PWD
OUT=$ROOT/target/coverage-peers
GCC_AT=${GCC_AT:-$OUT/unstable}
BIN=${BIN:-${CARGO_TARGET_DIR:-$ROOT/target}/release}
export LC_ALL=C TIMEFORMAT=%U

# program NAME: its sources in the working folder, options, libraries, and what runs it ($1 is the program)
program() {
    flags='' libs='' run='"$1" >out.txt || true'
    case $1 in
    conditions) sources=conditions.cpp package= ;;
    loops | demo | switches) sources=$1.c package= ;;
    bzip2) package=bzip2 sources='blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c bzip2.c' flags=-D_FILE_OFFSET_BITS=64 ;;
    gzip) package=gzip sources='bits.c deflate.c gzip.c inflate.c trees.c unlzh.c unlzw.c unpack.c unzip.c util.c zip.c version.c' flags='-I. -Ilib -DHAVE_CONFIG_H' libs=lib/libgzip.a ;;
    lua) package=lua5.4 sources="$(cd "$OUT/lua5.4/src" && ls l*.c | sed '/^luac.c$/d; s|^|src/|')" flags='-std=gnu99 -DLUA_COMPAT_5_3 -DLUA_USE_POSIX -Isrc' libs=-lm run='"$1" work.lua >out.txt' ;;
    sqlite) package=sqlite3 sources='sqlite3.c shell.c' flags='-DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION' libs=-lm run='"$1" :memory: <work.sql >out.txt 2>&1 || true' ;;
    *) echo "coverage-peers.sh: $1: no such program" >&2 && exit 2 ;;
    esac
    case $1 in bzip2 | gzip) run='"$1" -9c <input >packed && "$1" -dc <packed >out.txt && cmp input out.txt' ;; esac
}

unpacked() {
    [ -d "$OUT/$1" ] && return
    sh tools/fetch.sh "$1" "$OUT/src" 2>/dev/null
    mkdir -p "$OUT/$1"
    tar -xf "$(ls "$OUT/src/$1"_*.orig.tar.?z | head -n 1)" -C "$OUT/$1" --strip-components 1
    case $1 in
    gzip) (cd "$OUT/$1" && ./configure -q CC=clang-$LLVM && make -s -C lib && make -s version.c version.h) ;;
    sqlite3) (cd "$OUT/$1" && ./configure -q && make -s sqlite3.c shell.c) ;;
    esac >/dev/null 2>&1
    case $1 in bzip2 | gzip) (cd "$OUT/$1" && for _ in $(seq 20); do cat ./*.c; done >input) ;; esac
    cp tools/corpus/work.* "$OUT/$1"
}

timed() { { time "$@" >>log 2>&1; } 2>&1 | tail -n 1; }
# Code alone: debug information and tables aside
code() { size -A "$1" | awk '$1 == ".text" { printf "code %.0f kB", $2 / 1e3 }'; }
runs() { bash -c "$run" run "$1"; }
inside() { chroot "$GCC_AT" bash -c "cd /tmp/$name; export LC_ALL=C; $1"; }
inside_timed() { inside "TIMEFORMAT=%U; time { $1 >>log 2>&1; }" 2>&1 | tail -n 1; }

try() {
    name=$1
    # Lua's sources are listed once they are there.
    case $name in lua) unpacked lua5.4 ;; esac
    program "$name"
    at=$OUT/work/$name
    rm -rf "$at" "${GCC_AT:?}/tmp/$name"
    mkdir -p "$OUT/work"
    if [ -n "$package" ]; then
        unpacked "$package"
        cp -r "$OUT/$package" "$at"
    else
        mkdir "$at"
        cp "testdata/programs/$sources" "$at"
    fi
    cp -r "$at" "$GCC_AT/tmp/$name"
    cd "$at"
    cc='' ours=p3-cc gcc=gcc-15
    case $sources in *.cpp) cc=++ ours=p3-cxx gcc=g++-15 ;; esac
    # shellcheck disable=SC2086
    {
        "clang${cc}-$LLVM" -O0 -g -w $flags $sources -o native $libs
        native=$(timed runs ./native)

        made=$(timed "clang${cc}-$LLVM" -O0 -g -w -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc $flags $sources -o llvm $libs)
        ran=$(LLVM_PROFILE_FILE=llvm-%p.profraw timed runs ./llvm)
        llvm-profdata-$LLVM merge llvm-*.profraw -o llvm.profdata
        llvm-cov-$LLVM export -summary-only -instr-profile llvm.profdata ./llvm >llvm.json 2>>log
        whole=$(sed 's/.*"totals"://' llvm.json)
        part() { echo "$whole" | sed "s/.*\"$1\":{\"count\":\([0-9]*\),\"covered\":\([0-9]*\).*/\2 of \1/"; }
        echo "$name: llvm-cov: branches $(part branches), MC/DC $(part mcdc); compiled $made s, $(code llvm), ran $ran s (native $native s, $(code native))"

        made=$(P3_COPIES=1 P3_FLAGS='--scheme sbl' timed "$BIN/$ours" -O0 -g -w $flags $sources -o ours $libs)
        ran=$(timed runs ./ours)
        "$BIN/p3-prof" merge -m ours.p3/manifest.json ours.p3/raw -o ours.p3prof >>log 2>&1
        shown=$(timed sh -c "\"$BIN/p3-prof\" coverage ours.p3prof --format json >ours.json")
        all=$(sed 's/.*"total"://' ours.json)
        one() { echo "$all" | sed "s/.*\"$1\":\"*\([0-9]*\).*/\1/"; }
        cut=$({ grep -o '"status":"cut' ours.json || true; } | wc -l)
        echo "$name: p3: paths $(one executed) of $(one feasible), pairs $(one executed_pairs) of $(one pairs), $(grep -o '"status"' ours.json | wc -l) functions, $cut cut;" \
            "compiled $made s, $(code ours), ran $ran s, coverage $shown s"
    }

    made=$(inside_timed "$gcc --coverage -fpath-coverage -O0 $(echo $flags) $(echo $sources) -o gcc $libs")
    given_up=$(grep -c 'Wcoverage-too-many-paths' "$GCC_AT/tmp/$name/log" || true)
    inside "$gcc -O0 -w $(echo $flags) $(echo $sources) -o plain $libs"
    plain=$(inside_timed "run() { $run; }; run ./plain")
    ran=$(inside_timed "run() { $run; }; run ./gcc")
    # Shares of each file, of which it says two decimals: `--json-format` lists every path, and takes gigabytes.
    told=$(inside_timed "gcov-15 -e -n *.gcda")
    found=$(inside 'gcov-15 -e -n *.gcda' | awk -F'[:% ]+' '
        /^File/ { own = $0 !~ /\047\// }
        own && /^Prime paths covered/ { total += $NF; covered += $4 * $NF / 100; own = 0 }
        END { printf "%.0f of %d", covered, total }')
    echo "$name: gcc: prime paths $found, $given_up given up; compiled $made s," \
        "$(code "$GCC_AT/tmp/$name/gcc"), ran $ran s (native $plain s, $(code "$GCC_AT/tmp/$name/plain")), gcov $told s"
    cd "$ROOT"
}

if [ ! -x "$GCC_AT/usr/bin/gcc-15" ]; then
    mkdir -p "$GCC_AT"
    command -v mmdebstrap >/dev/null || apt-get install -q -y mmdebstrap
    mmdebstrap --quiet --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' --include=gcc-15,g++-15,libc6-dev unstable "$GCC_AT"
fi
[ $# -gt 0 ] || set -- conditions loops demo switches bzip2 gzip lua sqlite
for one; do try "$one"; done
