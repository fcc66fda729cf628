# selected.sh [kernels|functions|inputs|programs|redis]…: what it costs to count only some paths, by executed
# instructions (callgrind), as tables in Markdown. Builds and profiles stay in projects/selected/. BIN: p3-rewrite and
# p3-prof. ONLY: some of the programs.
#   kernels    testdata/kernels at -O2: residual runs, the hottest paths, everything
#   functions  Lua and three kernels: the paths of one function at a time, as after a change of that function
#   inputs     Lua, sqlite, gnugo: ten inputs, each a residual run after all before it; writes
# bench/plots/residual-PROGRAM.svg
#   programs   programs of Debian's sources by which nothing was chosen: residual runs, the hottest paths, one function
# at a time
#   redis      redis natively, with everything counted, and with the paths of a patch: builds, sizes, instructions
set -eu
cd "$(dirname "$0")/.."
ROOT=$PWD
LLVM=$(sh tools/llvm.sh main)
OUT=$ROOT/projects/selected
BIN=${BIN:-${CARGO_TARGET_DIR:-$ROOT/target}/release}
PATH=$BIN:$PATH
export PATH LC_ALL=C
. tools/kernel-arguments.sh
. tools/selected-programs.sh
. tools/selected-redis.sh
LIBRARIES='-lm -pthread -ldl'

# linked FOLDER TARGET: bin/TARGET of an output folder. Valgrind finds no symbols behind the holes of aligned addresses.
linked() {
    make -s -C "$1" "bin/$2" P3_ALIGN=0 LDLIBS="$LIBRARIES" >/dev/null
    echo "$1/bin/$2"
}

# rewritten FOLDER COPIES OPTION…: the program in $at/prog.bc, in $at/FOLDER
rewritten() {
    folder=$1 copies=$2
    shift 2
    rm -rf "${at:?}/$folder"
    p3-rewrite -q "$at/prog.bc" -k "$copies" -o "$at/$folder" "$@"
}

# instructions PROGRAM ARGUMENT…: of main and all that it calls
instructions() {
    rm -rf "$at/count" && mkdir "$at/count"
    strip -g -o "$at/count/bare" "$1"
    shift
    P3_PROFILE_FILE=$at/count/raw/%p.p3raw valgrind -q --tool=callgrind --toggle-collect=main --toggle-collect=work \
        --callgrind-out-file="$at/count/of" "$at/count/bare" "$@" <"${stdin:-/dev/null}" >/dev/null 2>&1 || true
    sed -n 's/^totals: //p' "$at/count/of"
}

# profiled FOLDER PROFILE PROGRAM ARGUMENT…: runs it and merges what it counted
profiled() {
    folder=$1 profile=$2
    shift 2
    rm -rf "$at/raw"
    P3_PROFILE_FILE=$at/raw/%p.p3raw "$@" <"${stdin:-/dev/null}" >/dev/null 2>&1 || true
    p3-prof merge -m "$at/$folder/manifest.json" -o "$profile" "$at/raw" --force >/dev/null 2>&1
}

# whole ARGUMENT…: native and a copy that counts everything, their instructions, the profile
whole() {
    rewritten sbl 1 --scheme sbl
    native=$(linked "$at/sbl" native) counted=$(linked "$at/sbl" copy-0)
    profiled sbl "$at/whole.p3prof" "$counted" "$@"
    base=$(instructions "$native" "$@") everything=$(instructions "$counted" "$@")
}

# over N: percent over native
over() { awk -v n="$1" -v base="$base" 'BEGIN { printf "%+.2f %%", (n / base - 1) * 100 }'; }

# selected COPIES SPEC ARGUMENT…: instructions of the slowest copy
selected() {
    copies=$1
    rewritten some "$copies" --paths "$2"
    shift 2
    slowest=0
    for copy in $(seq 0 $((copies - 1))); do
        n=$(instructions "$(linked "$at/some" "copy-$copy")" "$@")
        [ "$n" -le "$slowest" ] || slowest=$n
    done
    echo "$slowest"
}

# The functions that ran, by name.
ran_functions() {
    p3-prof show "$at/whole.p3prof" --format json | jq -r '.functions[] | select(.executed_paths > 0) | .name' | sort
}

# spread N: N of the lines, equally far apart, or all of them
spread() { awk -v n="$1" '{ line[NR] = $0 } END { if (n > NR) n = NR; for (i = 0; i < n; i++) print line[int((i + 0.5) * NR / n) + 1] }'; }

# compiled_kernel NAME
compiled_kernel() {
    source=$(ls testdata/kernels/"$1".c*) compiler=clang-$LLVM LIBRARIES='-lm -pthread -ldl'
    case $source in *.cpp) compiler=clang++-$LLVM LIBRARIES="$LIBRARIES -lstdc++" ;; esac
    mkdir -p "$at"
    $compiler -O2 -g -emit-llvm -c "$source" -o "$at/prog.bc"
}

# From Debian's sources, without its patches, which need generated headers; with a fixed seed and no hashing of
# addresses.
compiled_lua() {
    LIBRARIES='-lm -ldl'
    [ ! -e "$at/prog.bc" ] || return 0
    sh tools/fetch.sh lua5.4 "$OUT/src"
    rm -rf "$at" && mkdir -p "$at/tree"
    tar -xf "$OUT"/src/lua5.4_*.orig.tar.gz -C "$at/tree" --strip-components 1
    sed -i 's/^#define point2uint(p).*/#define point2uint(p) ((void)(p), 0u)/' "$at/tree/src/llimits.h"
    for source in "$at"/tree/src/*.c; do
        [ "${source##*/}" != luac.c ] || continue
        "clang-$LLVM" -O2 -g -w -std=gnu99 -DLUA_COMPAT_5_3 -DLUA_USE_POSIX '-Dluai_makeseed(L)=42' -emit-llvm -c "$source" -o "${source%.c}.bc"
    done
    "llvm-link-$LLVM" "$at"/tree/src/*.bc -o "$at/prog.bc"
}

kernels() {
    echo '| kernel | native, millions | everything | new, one copy | new, slowest of four | top=20 | share=90% |'
    echo '|---|---:|---:|---:|---:|---:|---:|'
    for name in ${ONLY:-$(ls testdata/kernels | sed 's/\..*//')}; do
        at=$OUT/$name
        arguments=$(kernel_arguments "$name")
        arguments=${arguments#*,}
        compiled_kernel "$name"
        whole $arguments
        row="| $name | $((base / 1000000)) | $(over "$everything")"
        for which in "1 new:" "4 new:" "1 top=20:" "1 share=90%:"; do
            row="$row | $(over "$(selected "${which% *}" "${which#* }$at/whole.p3prof" $arguments)")"
        done
        echo "$row |"
    done
}

# One function at a time of those that ran: all of a kernel's, and every eighth of Lua's by name.
functions() {
    echo '| program | function | over native |'
    echo '|---|---|---:|'
    for name in ${ONLY:-queens parser compress lua}; do
        at=$OUT/$name
        case $name in
        lua)
            compiled_lua
            arguments=$ROOT/tools/corpus/lua/05-patterns.lua every=8
            ;;
        *)
            compiled_kernel "$name"
            arguments=$(kernel_arguments "$name") every=1
            arguments=${arguments#*,}
            ;;
        esac
        whole $arguments
        ran_functions | awk -v every=$every 'NR % every == 1 % every' |
            while read -r function; do
                n=$(selected 1 "through=$function" $arguments </dev/null)
                echo "| $name | \`$function\` | $(over "$n") |"
            done
    done
}

# compiled_sqlite: the library and its shell, from Debian's sources
compiled_sqlite() {
    LIBRARIES=-lm
    [ ! -e "$at/prog.bc" ] || return 0
    sh tools/fetch.sh sqlite3 "$OUT/src"
    rm -rf "$at" && mkdir -p "$at/tree"
    tar -xf "$OUT"/src/sqlite3_*.orig.tar.xz -C "$at/tree" --strip-components 1
    (cd "$at/tree" && ./configure -q && make -s sqlite3.c shell.c) >"$at/build.log" 2>&1
    for source in sqlite3 shell; do
        "clang-$LLVM" -O2 -g -w -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_ENABLE_WINDOW_FUNCTIONS \
            -emit-llvm -c "$at/tree/$source.c" -o "$at/tree/$source.bc"
    done
    "llvm-link-$LLVM" "$at/tree/sqlite3.bc" "$at/tree/shell.bc" -o "$at/prog.bc"
}

# compiled_for_inputs NAME: its bitcode in $at/prog.bc; $LIBRARIES.
compiled_for_inputs() {
    case $1 in
    gnugo) compiled_program gnugo ;;
    *) "compiled_$1" ;;
    esac
}

# given FILE: how a program of tools/corpus is run with one of its inputs: $arguments, and $stdin.
given() {
    arguments= stdin=/dev/null
    case $1 in
    *.lua) arguments=$1 ;;
    *.sql) arguments='-batch :memory:' stdin=$1 ;;
    *.gtp) arguments="--quiet --seed 1 --level 1 --mode gtp --gtp-input $1" ;;
    esac
}

# Each input runs natively, with everything counted, and with what is new after all inputs before it; JOBS inputs at a
# time.
inputs() {
    for program in ${ONLY:-lua sqlite gnugo}; do
        at=$OUT/$program
        compiled_for_inputs "$program"
        rewritten sbl 1 --scheme sbl
        linked "$at/sbl" native >/dev/null
        linked "$at/sbl" copy-0 >/dev/null
        rm -rf "$at/runs" && mkdir -p "$at/runs"
        for input in tools/corpus/"$program"/*; do
            given "$input"
            name=${input##*/}
            profiled sbl "$at/runs/${name%.*}.p3prof" "$at/sbl/bin/copy-0" $arguments
        done
        ls tools/corpus/"$program"/* | xargs -P "${JOBS:-1}" -n 1 sh tools/selected.sh input
        compare_new
        cat "$at"/runs/*.tsv >"$at/inputs.tsv"
        echo "| run of $program | input | native, millions | everything | new paths only | new paths |"
        echo '|---:|---|---:|---:|---:|---:|'
        while read -r run name everything residual new millions; do
            echo "| $run | \`$name\` | $millions | $everything % | $residual % | $new |"
        done <"$at/inputs.tsv"
        awk '$1 > 1 { n++; all += $3; new += $4 } END { printf "| **mean of runs 2 to %d** | | | %+.2f %% | %+.2f %% | |\n\n", n + 1, all / n, new / n }' \
            "$at/inputs.tsv"
        plot "$at/inputs.tsv" >"bench/plots/residual-$program.svg"
    done
}

# listed: the function, id and count of each path in a table
listed() { tail -n +2 | cut -d, -f2-4 | sort; }

# compare_new: what the residual runs in $at called new must be the paths of the whole run without those of the whole
# runs before it, with the same counts.
compare_new() {
    : >"$at/known-ids"
    for run in "$at"/runs/*.p3prof; do
        name=$(basename "$run" .p3prof)
        p3-prof show "$run" --format csv 2>/dev/null | listed |
            awk -F, -v file="$at/known-ids" 'BEGIN { while ((getline line <file) > 0) known[line] = 1 } !(($1 "," $2) in known)' >"$at/expected"
        p3-prof coverage "$at/$name/run.p3prof" --new --all --format csv 2>/dev/null | listed >"$at/found"
        cmp "$at/expected" "$at/found" || { echo "$name: new paths differ from those of whole runs" >&2; return 1; }
        cut -d, -f1-2 "$at/expected" >>"$at/known-ids"
    done
}

# input FILE: the line of one of them
input() {
    program=$(basename "$(dirname "$1")") name=$(basename "${1%.*}")
    runs=$OUT/$program/runs
    at=$OUT/$program
    compiled_for_inputs "$program"
    at=$OUT/$program/$name
    given "$1"
    rm -rf "$at" && mkdir -p "$at/known"
    ln -s ../prog.bc "$at/prog.bc"
    for known in "$runs"/*.p3prof; do
        case ${known##*/} in "$name.p3prof") break ;; esac
        cp "$known" "$at/known/"
    done
    base=$(instructions "$OUT/$program/sbl/bin/native" $arguments)
    everything=$(instructions "$OUT/$program/sbl/bin/copy-0" $arguments)
    n=$(selected 1 "new:$at/known/" $arguments)
    profiled some "$at/run.p3prof" "$at/some/bin/copy-0" $arguments
    # After nothing all paths are new.
    new=$(p3-prof coverage "$at/run.p3prof" --new --format json | jq '.new | length')
    printf '%d\t%s\t%s\t%s\t%d\t%d\n' "$((1${name%%-*} - 100))" "${name#*-}" "$(over "$everything")" "$(over "$n")" "$new" \
        "$((base / 1000000))" | sed 's/ %//g' >"$runs/$name.tsv"
}

# plot FILE: of lines of run, input, two overheads in percent, new paths, a picture in SVG. The same file gives the same
# picture.
plot() { awk -f tools/selected.awk "$1"; }

mkdir -p "$OUT" bench/plots
if [ "${1-}" = input ]; then
    input "$2"
    exit
fi
[ $# -gt 0 ] || set -- kernels functions inputs
for part; do
    "$part"
    echo
done
