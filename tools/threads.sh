#!/bin/bash
# threads.sh [PROGRAM...]: what counting costs programs with threads: zstd, xz, pigz and redis from Debian's sources, and those of
# bench/threads (an OpenMP kernel, a pool of C++ threads, a crate with rayon, a server with a thread for each connection). Each is
# built natively, by --update single, atomic and $UPDATE, and does the same work with 1, 2, 4 and 8 threads (THREADS), in turns, ROUNDS
# times. Prints processor time over native by table, whether the profiles of the last two forms are equal, and the verdict.
# Sources, builds, profiles and times.tsv (program, threads, form, round, user and system seconds) stay in bench-out/threads; what
# is built there is not built again, and what is measured is appended. BIN: the folder of p3-rewrite's programs.
set -eu
cd "$(dirname "$0")/.."
ROOT=$PWD
OUT=${OUT:-$ROOT/bench-out/threads}
LLVM=$(sh tools/llvm.sh main)
BIN=${BIN:-${CARGO_TARGET_DIR:-$ROOT/target}/release}
PATH=$BIN:$PATH
ROUNDS=${ROUNDS:-5}
THREADS=${THREADS:-1 2 4 8}
UPDATE=${UPDATE:-atomic}
SCHEME=${SCHEME:-p3-hot}
FORMS='native single atomic'
case " $FORMS " in *" $UPDATE "*) ;; *) FORMS="$FORMS $UPDATE" ;; esac
export PATH

# package PROGRAM: that of its sources; nothing: they are in bench/threads
package() {
    case $1 in
    zstd) echo libzstd ;;
    xz) echo xz-utils ;;
    pigz | redis) echo "$1" ;;
    esac
}

# commands PROGRAM: what builds it by $CC and $CXX in its folder, and the program that comes out
commands() {
    case $1 in
    zstd) build='make -C programs zstd CC="$CC" CFLAGS="-O2 -w" HAVE_PTHREAD=1 HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0 ZSTD_NO_ASM=1' exe=programs/zstd ;;
    xz) build='./configure CC="$CC" CFLAGS="-O2 -w" --disable-shared --disable-assembler --disable-nls --disable-doc --disable-scripts && make -C lib && make -C src/liblzma && make -C src/xz' exe=src/xz/xz ;;
    pigz) build='make CC="$CC" CFLAGS="-O2 -w" pigz' exe=pigz ;;
    # Its rank of threads is by the configuration file; its allocator is the C library's.
    redis) build='make MALLOC=libc CC="$CC" OPTIMIZATION=-O2 redis-server' exe=src/redis-server ;;
    kernel) build='$CC -O2 -fopenmp kernel.c -o kernel' exe=kernel ;;
    pool) build='$CXX -O2 pool.cpp -o pool -pthread' exe=pool ;;
    httpd) build='$CC -O2 httpd.c -o httpd -pthread' exe=httpd ;;
    rayon) build= exe=target/release/threads ;;
    *) echo "threads.sh: $1: no such program" >&2; exit 2 ;;
    esac
}

# is_fixed PROGRAM: its paths do not depend on which thread is faster
is_fixed() { case $1 in kernel | httpd) ;; *) false ;; esac }

# unpacked PROGRAM FOLDER
unpacked() {
    rm -rf "${2:?}"
    mkdir -p "$2"
    package=$(package "$1")
    if [ -z "$package" ]; then
        cp -r bench/threads/. "$2"
        [ "$1" != rayon ] || { cp -r bench/threads/rayon/. "$2"; }
        return
    fi
    sh tools/fetch.sh "$package" "$OUT/src" || return 1
    tar -xf "$(ls "$OUT/src/$package"_*.orig.tar.* | grep -v '\.asc$' | head -n 1)" -C "$2" --strip-components 1
}

# built PROGRAM FORM: unless it is there
built() {
    at=$OUT/$1/$2
    commands "$1"
    [ ! -e "$at/done" ] || return 0
    unpacked "$1" "$at" || { echo "threads.sh: $1: no sources" >&2; return 1; }
    (
        cd "$at"
        options="-k 1 --scheme $SCHEME --update $2"
        # Not stopped by the first failure: || is behind it.
        case $1-$2 in
        rayon-native) cargo build -q --release ;;
        rayon-*) cargo p3 $options build -q --release && mkdir -p target/release &&
            cp "$(find target/p3 -path '*/release/threads' -type f | head -n 1)" target/release/ ;;
        *-native) CC=clang-$LLVM CXX=clang++-$LLVM sh -ec "$build" ;;
        *) p3-rewrite build -q $options -o p3 -- sh -ec "$build" ;;
        esac && touch done
    ) >"$OUT/$1/$2.log" 2>&1 || { echo "$1 $2: not built, see $OUT/$1/$2.log" >&2; return 1; }
}

# work PROGRAM EXE THREADS: the fixed work, timed; its output
work() {
    TIMEFORMAT='%U %S'
    case $1 in
    zstd) { time "$2" -q -13 "-T$3" -c "$OUT/data" | md5sum; } ;;
    xz) { time "$2" -q -3 "-T$3" --block-size=1MiB -c "$OUT/data" | md5sum; } ;;
    pigz) { time "$2" -6 -p "$3" -c "$OUT/data" | md5sum; } ;;
    kernel) { time OMP_NUM_THREADS=$3 "$2" 4; } ;;
    pool) { time "$2" "$3" 400; } ;;
    rayon) { time RAYON_NUM_THREADS=$3 "$2" 1500000; } ;;
    httpd)
        rm -f port
        { time "$2" port 1000; } &
        until [ -s port ]; do sleep 0.05; done
        "$OUT/client" "$(cat port)" "$3" 1000 40
        wait
        ;;
    redis)
        port=$((7000 + $$ % 1000))
        { time "$2" --port $port --bind 127.0.0.1 --save '' --io-threads "$3" --io-threads-do-reads yes --daemonize no >server.log; } &
        until redis-cli -p $port ping >/dev/null 2>&1; do sleep 0.1; done
        redis-benchmark -p $port -q -c 40 -P 16 -n 200000 -r 10000 -t set,get,incr,lpush,sadd,hset,zadd >/dev/null
        redis-cli -p $port shutdown nosave >/dev/null 2>&1
        wait
        ;;
    esac
}

# run PROGRAM FORM THREADS ROUND: appends a row to times.tsv; the profile of the last round stays.
run() {
    here=$OUT/$1/runs/$2-$3
    rm -rf "$here"
    mkdir -p "$here"
    commands "$1"
    (
        cd "$here"
        export P3_PROFILE_FILE="$here/raw/%k-%p.p3raw"
        work "$1" "$OUT/$1/$2/$exe" "$3" >output 2>times
    ) || { echo "$1 $2 with $3 threads: failed, see $here" >&2; return 1; }
    [ "$1" = redis ] || cmp -s "$here/output" "$OUT/$1/runs/native-$3/output" || echo "$1 $2 with $3 threads: other output than native" >&2
    tail -n 1 "$here/times" | awk -v row="$1	$3	$2	$4" '{ printf "%s\t%.3f\n", row, $1 + $2 }' >>"$OUT/times.tsv"
}

# folder PROGRAM FORM: that of its copies
folder() {
    case $1 in
    rayon) in=$OUT/$1/$2/target/p3/copies ;;
    *) in=$OUT/$1/$2/p3 ;;
    esac
    dirname "$(find "$in" -name manifest.json | grep "/$(basename "$exe")[^/]*\.p3/manifest.json$" | head -n 1)"
}

# verdict PROGRAM FORM THREADS: merges what it counted
verdict() {
    here=$OUT/$1/runs/$2-$3
    p3-prof merge --failure-mode warn -m "$(folder "$1" "$2")" -o "$here/profile.p3prof" "$here/raw" >"$here/merge" 2>"$here/problems" || true
    sed -n '1s/.*: //p' "$here/merge"
}

# compared PROGRAM THREADS FORM FORM: whether all counts are equal, else how many are not
compared() {
    differences=$OUT/$1/runs/differences-$2
    if p3-prof compare "$OUT/$1/runs/$3-$2/profile.p3prof" "$OUT/$1/runs/$4-$2/profile.p3prof" >"$differences" 2>&1; then
        echo equal
    else
        awk '/^… and/ { n = $3 - 1 } END { print NR + n " differ" }' "$differences"
    fi
}

# table PROGRAM: least time of each form, in percent over native
table() {
    for n in $THREADS; do
        verdicts=
        for form in $FORMS; do [ "$form" = native ] || verdicts="$verdicts $form $(verdict "$1" "$form" "$n"),"; done
        equal=$(compared "$1" "$n" single atomic)
        [ "$UPDATE" = atomic ] || equal="$equal, $UPDATE: $(compared "$1" "$n" atomic "$UPDATE")"
        is_fixed "$1" || equal="($equal)"
        awk -F '\t' -v program="$1" -v threads="$n" -v forms="$FORMS" -v last="$equal |${verdicts%,} |" '
            $1 == program && $2 == threads && (!($3 in least) || $5 < least[$3]) { least[$3] = $5 }
            END {
                n = split(forms, form, " ")
                printf "| %s | %s | %.2f |", program, threads, least["native"]
                for (i = 2; i <= n; i++) printf " %+.1f %% |", (least[form[i]] / least["native"] - 1) * 100
                print " " last
            }' "$OUT/times.tsv"
    done
}

[ $# -gt 0 ] || set -- zstd xz pigz kernel pool rayon redis httpd
mkdir -p "$OUT"
[ -e "$OUT/client" ] || clang-$LLVM -O2 -DCLIENT bench/threads/httpd.c -o "$OUT/client" -pthread
# Sources: 13 MB of text
if [ ! -e "$OUT/data" ]; then
    for package in libzstd xz-utils; do
        sh tools/fetch.sh $package "$OUT/src"
        tar -xOf "$(ls "$OUT/src/$package"_*.orig.tar.* | grep -v '\.asc$' | head -n 1)"
    done >"$OUT/data.part"
    mv "$OUT/data.part" "$OUT/data"
fi
echo "| program | threads | native s | $(echo "${FORMS#native }" | sed 's/ / | /g') | counts of single, atomic | verdict |"
echo "|---|---:|---:|$(for form in ${FORMS#native }; do printf -- '---:|'; done)---|---|"
for program; do
    mkdir -p "$OUT/$program"
    for form in $FORMS; do built "$program" "$form" || continue 2; done
    for round in $(seq "$ROUNDS"); do
        for n in $THREADS; do
            for form in $FORMS; do run "$program" "$form" "$n" "$round" || continue 4; done
        done
    done
    table "$program"
done
