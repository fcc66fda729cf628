# kernels.sh [NAME...]: small programs of the usual kinds (testdata/kernels) under shadows, as by default: a table of
# what shadows cost and find. Builds and exact profiles stay in projects/kernels/. BIN: p3-rewrite and p3-prof. RUNS:
# runs of ten seconds of each (1). STEPS: what of "build count exact run" is to be done.
set -eu
cd "$(dirname "$0")/.."
LLVM=$(sh tools/llvm.sh main)
ROOT=$PWD
OUT=$ROOT/projects/kernels
BIN=${BIN:-${CARGO_TARGET_DIR:-$ROOT/target}/release}
RUNS=${RUNS:-1}
STEPS=${STEPS:-build count exact run}
PATH=$BIN:$PATH
export PATH LC_ALL=C

. tools/kernel-arguments.sh

# Threads race where counts are not atomic, and the exact profile would be refused.
updates() { [ "$scheme:$name" != sbl:threads ] || echo '--update atomic'; }

# build NAME: native, with shadows, and exact, each in a folder of its own.
build() {
    source=$(ls "$ROOT/testdata/kernels/$1".c*)
    case $source in *.cpp) cc=clang++-$LLVM ;; *) cc=clang-$LLVM ;; esac
    mkdir -p "$at"
    $cc -O2 -emit-llvm -c "$source" -o "$at/prog.bc"
    $cc -O2 -pthread "$at/prog.bc" -o "$at/native"
    for scheme in shadow sbl; do
        rm -rf "$at/$scheme"
        p3-rewrite -q --scheme $scheme $(updates) "$at/prog.bc" -o "$at/$scheme"
        mkdir "$at/$scheme/o"
        (cd "$at/$scheme/o" && clang-$LLVM -O2 -c "$at/$scheme"/runtime/*.c)
        $cc -O2 -pthread "$at/$scheme/copy-0/m0.bc" "$at/$scheme"/o/*.o -o "$at/$scheme/program"
    done
}

# instructions PROGRAM ARGUMENTS: of main, or what threads begin with, and all that it calls.
instructions() {
    rm -f "$at/callgrind"
    P3_SHADOW=off P3_PROFILE_FILE=$at/counted.p3raw valgrind -q --tool=callgrind --toggle-collect=main --toggle-collect=work --callgrind-out-file="$at/callgrind" "$@" >/dev/null 2>&1
    sed -n 's/^totals: //p' "$at/callgrind"
}

count() {
    echo "$(instructions "$at/native" $short) $(instructions "$at/shadow/program" $short)" >"$at/instructions"
}

exact() {
    rm -f "$at/exact.p3raw"
    P3_PROFILE_FILE=$at/exact.p3raw "$at/sbl/program" $long >/dev/null
    p3-prof merge -m "$at/sbl/manifest.json" -o "$at/exact.p3prof" "$at/exact.p3raw" >/dev/null 2>&1
}

run() {
    : >"$at/rows"
    n=0
    while [ $n -lt "$RUNS" ]; do
        n=$((n + 1))
        rm -f "$at"/run-$n.p3raw
        P3_PROFILE_FILE=$at/run-$n.p3raw "$at/shadow/program" $long >/dev/null
        p3-prof merge -m "$at/shadow/manifest.json" -o "$at/run-$n.p3prof" "$at/run-$n.p3raw" >/dev/null 2>&1
        p3-prof show --format json "$at/run-$n.p3prof" >"$at/run-$n.json"
        p3-prof accuracy "$at/run-$n.p3prof" --against "$at/exact.p3prof" --format json >"$at/against-$n.json"
        jq -rs \
            '[.[0].processor_time / 1e6, .[0].counting, .[0].untimed] + ([.[1].hot[0,2] | .paths, .found, .in_interval]) | @tsv' \
            "$at/run-$n.json" "$at/against-$n.json" >>"$at/rows"
    done
}

# The mean over runs of processor times and bursts, and sums over runs of paths.
table() {
    awk -v name="$name" -v counts="$(cat "$at/instructions" 2>/dev/null || echo '1 1')" '
        { ms += $1; bursts += $2; untimed += $3; for (i = 4; i <= 9; i++) sum[i] += $i }
        END {
            split(counts, n, " ")
            printf "| %s | %+.1f %% | %.1f | %.0f | %.0f | %d of %d | %d of %d | %d of %d |\n", name, (n[2] / n[1] - 1) * 100,
                ms / 1000 / NR, bursts / NR, untimed / NR, sum[5], sum[4], sum[6], sum[4], sum[9], sum[7]
        }' "$at/rows"
}

[ $# -gt 0 ] || set -- $(ls testdata/kernels | sed 's/\..*//')
echo '| kernel | instructions | seconds | bursts | untimed | above 2 %: found | held | above 0.5 %: held |'
echo '|---|---:|---:|---:|---:|---:|---:|---:|'
for name; do
    at=$OUT/$name both=$(kernel_arguments "$name")
    long=${both%,*} short=${both#*,}
    case $STEPS in *build*) build "$name" ;; esac
    case $STEPS in *count*) count ;; esac
    case $STEPS in *exact*) exact ;; esac
    case $STEPS in *run*) run && table ;; esac
done
