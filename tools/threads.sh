#!/bin/bash
# threads.sh [PROGRAM...]: what counting costs programs with threads, and whether it is exact: zstd, xz, pigz and
# redis from Debian's sources, those of bench/threads (an OpenMP kernel, a pool of C++ threads, a crate with rayon, a
# server with a thread for each connection), and the tests of redis and rayon. Each is built natively, by --update
# single, atomic and $UPDATE, and does the same work with 1, 2, 4 and 8 threads (THREADS), in turns, ROUNDS times.
# Prints processor time over native, whether the profiles of the last two forms are equal, and the verdicts; of all
# programs that were ever measured in $OUT. Exit status 1: something is not as it has to be.
#
# Sources, builds, profiles and times.tsv (program, threads, form, round, user and system seconds) stay in
# bench-out/threads. What is there is not built and measured again, until p3-rewrite changes. BIN: the folder of
# p3-rewrite's programs.
set -eu
cd "$(dirname "$0")/.."
ROOT=$PWD
OUT=${OUT:-$ROOT/bench-out/threads}
LLVM=$(sh tools/llvm.sh main)
BIN=${BIN:-${CARGO_TARGET_DIR:-$ROOT/target}/release}
PATH=$BIN:$PATH
ROUNDS=${ROUNDS:-3}
THREADS=${THREADS:-1 2 4 8}
UPDATE=${UPDATE:-auto}
SCHEME=${SCHEME:-p3-hot}
FORMS=${FORMS:-native single atomic}
case " $FORMS " in *" $UPDATE "*) ;; *) FORMS="$FORMS $UPDATE" ;; esac
PROGRAMS='zstd xz pigz kernel pool rayon redis httpd rayon-tests redis-tests'
export PATH

# package PROGRAM: Debian's, of its sources; nothing: they are elsewhere
package() {
    case $1 in
    zstd) echo libzstd ;;
    xz) echo xz-utils ;;
    pigz | redis) echo "$1" ;;
    esac
}

# commands PROGRAM: prepare and build it in its folder, by $CC and $CXX; the program that comes out
commands() {
    prepare=
    case $1 in
    zstd) build='make -j2 -C programs zstd CC="$CC" CFLAGS="-O2 -w" HAVE_PTHREAD=1 HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0 ZSTD_NO_ASM=1' exe=programs/zstd ;;
    xz)
        # Once: p3-rewrite build has this compiler under its name.
        prepare="./configure CC=clang-$LLVM CFLAGS='-O2 -w' --disable-shared --disable-assembler --disable-nls --disable-doc --disable-scripts"
        build='make -C lib && make -j2 -C src/liblzma && make -C src/xz' exe=src/xz/xz
        ;;
    # With zlib in it, which does most of its work.
    pigz)
        build='(cd zlib && $CC -O2 -w -DHAVE_UNISTD_H -c ./*.c && ar rc libz.a ./*.o) && make CC="$CC" CFLAGS="-O2 -w -Izlib" LIBS="zlib/libz.a -lm -lpthread" pigz'
        exe=pigz
        ;;
    # Its number of threads is an option; its allocator is the C library's.
    redis) build='make -j2 MALLOC=libc CC="$CC" OPTIMIZATION=-O2 redis-server' exe=src/redis-server ;;
    kernel) build='$CC -O2 -fopenmp kernel.c -o kernel' exe=kernel ;;
    pool) build='$CXX -O2 pool.cpp -o pool -pthread' exe=pool ;;
    httpd) build='$CC -O2 httpd.c -o httpd -pthread' exe=httpd ;;
    rayon) build='' exe=target/release/threads ;;
    *) echo "threads.sh: $1: no such program" >&2; exit 2 ;;
    esac
}

# scheduled PROGRAM: functions whose paths depend on which thread is faster, by their names
scheduled() {
    case $1 in
    zstd) echo '^(AIO_|POOL_|ZSTDMT_)' ;;
    # The main thread writes what is ready, and takes memory for one block more where none is.
    xz) echo '^(worker_|threads_|stream_encode_mt|mythread_|lzma_(outq_|code$|bufcpy$|alloc$)|coder_run$|io_|message_)' ;;
    # Those with a _ are of yarn.c, its layer for threads. longest_match compares bytes behind the end of its block: they
    # are of the block that this thread compressed before.
    pigz) echo '^(compress_thread|write_thread|parallel_compress|get_space|reenter|(free|new)_pool|longest_match|.*_)$' ;;
    pool) echo '^_ZN(K?St|4Pool)' ;;
    # What is split, and how often, depends on who steals; and with it what maps are joined.
    rayon) echo 'rayon|crossbeam|_ZN(4core|5alloc|3std)' ;;
    *) echo '^$' ;;
    esac
}

# unpacked PACKAGE FOLDER
unpacked() {
    sh tools/fetch.sh "$1" "$OUT/src" && mkdir -p "$2" &&
        tar -xf "$(ls "$OUT/src/$1"_*.orig.tar.* | grep -v '\.asc$' | head -n 1)" -C "$2" --strip-components 1
}

# prepared PROGRAM: its sources, once, in a folder that is copied for each form
prepared() {
    sources=$OUT/$1/sources
    [ ! -e "$sources" ] || return 0
    rm -rf "$sources.part"
    mkdir -p "$sources.part"
    package=$(package "$1")
    case $1 in
    rayon) cp -r bench/threads/rayon/. "$sources.part" ;;
    *)
        if [ -z "$package" ]; then
            cp bench/threads/*.c* "$sources.part"
        else
            unpacked "$package" "$sources.part" || return 1
            [ "$1" != pigz ] || unpacked zlib "$sources.part/zlib" || return 1
        fi
        ;;
    esac
    (cd "$sources.part" && eval "$prepare") >"$OUT/$1/prepared.log" 2>&1 || return 1
    mv "$sources.part" "$sources"
}

# built PROGRAM FORM: unless it is there
built() {
    at=$OUT/$1/$2
    commands "$1"
    [ ! -e "$at/done" ] || return 0
    prepared "$1" || { echo "threads.sh: $1: no sources, see $OUT/$1/prepared.log" >&2; return 1; }
    rm -rf "$at"
    cp -a "$OUT/$1/sources" "$at"
    (
        cd "$at" || exit
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
    zstd) { time "$2" -q -9 "-T$3" -c "$OUT/data" | md5sum; } ;;
    xz) { time "$2" -q -1 "-T$3" --block-size=1MiB -c "$OUT/data" | md5sum; } ;;
    pigz) { time "$2" -6 -p "$3" -c "$OUT/data" | md5sum; } ;;
    kernel) { time OMP_NUM_THREADS=$3 "$2" 3; } ;;
    pool) { time "$2" "$3" 130; } ;;
    rayon) { time RAYON_NUM_THREADS=$3 "$2" 700000; } ;;
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
        redis-benchmark -p $port -q -c 40 -P 16 -n 60000 -r 10000 -t set,get,incr,lpush,sadd,hset,zadd >/dev/null
        redis-cli -p $port shutdown nosave >/dev/null 2>&1
        wait
        ;;
    esac
}

# is_measured PROGRAM FORM THREADS ROUND
is_measured() {
    [ -e "$OUT/$1/times.tsv" ] && awk -F '\t' -v f="$2" -v n="$3" -v r="$4" '$2 == n && $3 == f && $4 == r { found = 1 } END { exit !found }' "$OUT/$1/times.tsv"
}

# run PROGRAM FORM THREADS ROUND: appends a row to times.tsv; the profile of the last round stays.
run() {
    ! is_measured "$@" || return 0
    here=$OUT/$1/runs/$2-$3
    rm -rf "$here"
    mkdir -p "$here"
    commands "$1"
    (
        cd "$here"
        export P3_PROFILE_FILE="$here/raw/%k-%p.p3raw"
        work "$1" "$OUT/$1/$2/$exe" "$3" >output 2>times
    ) || { fail "$1 $2 with $3 threads: failed, see $here"; return 1; }
    [ "$1" = redis ] || cmp -s "$here/output" "$OUT/$1/runs/native-$3/output" || fail "$1 $2 with $3 threads: other output than native"
    tail -n 1 "$here/times" | awk -v row="$1	$3	$2	$4" '{ printf "%s\t%.3f\n", row, $1 + $2 }' >>"$OUT/$1/times.tsv"
}

fail() {
    echo "$1" >&2
    failed=1
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

# calls FILE: how often each command that clients were told to send ran
calls() {
    p3-prof show --format csv --top 1000000 --function '^(set|get|incr|lpush|sadd|hset|zadd)Command$' "$1" |
        awk -F, '$9 == "entry" { calls[$2] += $4 } END { for (f in calls) print f, calls[f] }' | sort
}

# compared PROGRAM THREADS: the counts of atomic and $UPDATE, function by function
compared() {
    one=$OUT/$1/runs/atomic-$2/profile.p3prof two=$OUT/$1/runs/$UPDATE-$2/profile.p3prof
    differences=$OUT/$1/runs/differences-$2
    if [ "$1" = redis ]; then # which of its paths run depends on what has come when it looks
        if [ "$(calls "$one")" = "$(calls "$two")" ]; then echo 'calls of commands equal'; else echo 'DIFFER: calls of commands'; fi
        return
    fi
    p3-prof compare --max 1000000 "$one" "$two" >"$differences" 2>&1 || true
    names=$(sed -n 's/, [^,]*: [0-9]* against [0-9]*$//p' "$differences" | sort -u)
    wrong=$(echo "$names" | grep -Ev "$(scheduled "$1")|^\$" || true)
    if [ -z "$names" ]; then
        echo equal
    elif [ -z "$wrong" ]; then
        echo "equal but for $(echo "$names" | wc -l) that wait"
    else
        echo "DIFFER: $(echo "$wrong" | head -n 3 | tr '\n' ' ')"
    fi
}

# table PROGRAM: least time of each form, in percent over native
table() {
    commands "$1"
    for n in $THREADS; do
        verdicts=
        for form in $FORMS; do
            [ "$form" != native ] || continue
            is=$(verdict "$1" "$form" "$n")
            verdicts="$verdicts $is,"
            # With the other forms, threads that outlive main are incomplete.
            [ "$form" != "$UPDATE" ] || [ "$is" = ok ] || fail "$1 $form with $n threads: ${is:-no profile}"
        done
        equal=$(compared "$1" "$n")
        case $equal in DIFFER*) fail "$1 with $n threads: $equal" ;; esac
        awk -F '\t' -v program="$1" -v threads="$n" -v forms="$FORMS" -v last="$equal |${verdicts%,} |" '
            $2 == threads && (!($3 in least) || $5 < least[$3]) { least[$3] = $5 }
            END {
                n = split(forms, form, " ")
                printf "| %s | %s | %.2f |", program, threads, least["native"]
                for (i = 2; i <= n; i++) printf " %+.1f %% |", (least[form[i]] / least["native"] - 1) * 100
                print " " last
            }' "$OUT/$1/times.tsv"
    done >"$OUT/$1/table"
}

# measured PROGRAM: in all forms, with all numbers of threads, in turns
measured() {
    for form in $FORMS; do built "$1" "$form" || return 1; done
    for round in $(seq "$ROUNDS"); do
        for n in $THREADS; do
            for form in $FORMS; do run "$1" "$form" "$n" "$round" || return 1; done
        done
    done
    table "$1"
}

# tested PROGRAM: its own tests by $UPDATE; how many passed, and the verdict
tested() {
    here=$OUT/$1
    rm -rf "$here/raw" "$here/table"
    case $1 in
    redis-tests)
        commands redis
        built redis "$UPDATE" || return 1
        src=$OUT/redis/$UPDATE/src
        for tool in cli benchmark; do ln -sf "$(command -v redis-$tool)" "$src/redis-$tool"; done
        groups=
        for group in type/string type/hash multi lazyfree aofrw other; do groups="$groups --single unit/$group"; done
        (
            cd "$src/.."
            export P3_PROFILE_FILE="$here/raw/%k-%p.p3raw"
            ./runtest --clients 2 $groups --config io-threads 4 --config io-threads-do-reads yes
        ) >"$here/output" 2>&1 || { fail "$1: tests failed, see $here/output"; return 1; }
        passed=$(sed 's/\x1b\[[0-9;]*m//g' "$here/output" | grep -c '^\[ok\]')
        p3-prof merge --failure-mode warn -m "$(folder redis "$UPDATE")" -o "$here/profile.p3prof" "$here/raw" >"$here/merge" 2>"$here/problems" || true
        ;;
    rayon-tests)
        cargo fetch -q --manifest-path bench/threads/rayon/Cargo.toml
        crate=$(cargo metadata --format-version 1 --manifest-path bench/threads/rayon/Cargo.toml | tr ',' '\n' |
            sed -n 's/.*"manifest_path":"\(.*\/rayon-[0-9.]*\)\/Cargo.toml".*/\1/p')
        [ -e "$here/crate" ] || cp -r "$crate" "$here/crate"
        (cd "$here/crate" && unset RUST_TEST_THREADS && cargo p3 -k 1 --scheme "$SCHEME" --update "$UPDATE" test --release --lib) >"$here/output" 2>&1 ||
            { fail "$1: tests failed, see $here/output"; return 1; }
        passed=$(sed -n 's/^test result: ok. \([0-9]*\) passed.*/\1/p' "$here/output" | head -n 1)
        sed -n 's/^.*\.p3prof: \(.*\)/\1/p' "$here/output" >"$here/merge"
        ;;
    esac
    is=$(sed -n '1s/.*: //p' "$here/merge")
    [ "$is" = ok ] || fail "$1: ${is:-no profile}"
    echo "| $1 | |$(for form in $FORMS; do printf ' |'; done) $passed passed | $is |" >"$here/table"
}

# What p3-rewrite is changes what is built, and makes earlier figures those of something else.
renewed() {
    stamp=$(cat "$BIN"/p3-rewrite* "$BIN/p3-cc" "$BIN/cargo-p3" 2>/dev/null | md5sum)
    [ "$(cat "$OUT/stamp" 2>/dev/null)" != "$stamp" ] || return 0
    for program in $PROGRAMS; do
        rm -rf "$OUT/$program"/{runs,times.tsv,table}
        for form in $FORMS; do [ "$form" = native ] || rm -f "$OUT/$program/$form/done"; done
    done
    echo "$stamp" >"$OUT/stamp"
}

failed=0
[ $# -gt 0 ] || set -- $PROGRAMS
mkdir -p "$OUT"
renewed
[ -e "$OUT/client" ] || clang-$LLVM -O2 -DCLIENT bench/threads/httpd.c -o "$OUT/client" -pthread
# Sources: 13 MB of text
if [ ! -e "$OUT/data" ]; then
    for package in libzstd xz-utils; do
        sh tools/fetch.sh $package "$OUT/src"
        tar -xOf "$(ls "$OUT/src/$package"_*.orig.tar.* | grep -v '\.asc$' | head -n 1)"
    done >"$OUT/data.part"
    mv "$OUT/data.part" "$OUT/data"
fi
for program; do
    mkdir -p "$OUT/$program"
    case $program in
    *-tests) tested "$program" || failed=1 ;;
    *) measured "$program" || failed=1 ;;
    esac
done
echo "| program | threads | native s | $(echo "${FORMS#native }" | sed 's/ / | /g') | counts of atomic and $UPDATE | verdicts |"
echo "|---|---:|---:|$(for form in ${FORMS#native }; do printf -- '---:|'; done)---|---|"
for program in $PROGRAMS; do [ ! -e "$OUT/$program/table" ] || cat "$OUT/$program/table"; done
exit $failed
