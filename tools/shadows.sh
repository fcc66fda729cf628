# shadows.sh [NAME...]: programs with effects, as they are and, ROUNDS times (20), with many shadows at a time: output,
# exit status and files must be equal, and no shadow may be left. Sources and builds stay in projects/shadows/. LOAD and
# BURST: as in P3_SHADOW.
set -eu
cd "$(dirname "$0")/.."
LLVM=$(sh tools/llvm.sh main)
ROOT=$PWD
OUT=$ROOT/projects/shadows
BIN=${BIN:-${CARGO_TARGET_DIR:-$ROOT/target}/release}
ROUNDS=${ROUNDS:-20}
PATH=$BIN:$PATH
export PATH LC_ALL=C
P3_SHADOW=load=${LOAD:-4},burst=${BURST:-300k},cost=100%
export P3_SHADOW

# What a workload leaves in its folder is what is compared: run_NAME PROGRAM, in a new folder.

run_bzip2() {
    seq 1 300000 | "$1" -9 | tee archive | "$1" -d | cksum >out
    "$1" -k -5 -v archive 2>said && "$1" -t archive.bz2 2>&1
    printf 'no archive' | "$1" -d >none 2>&1 || echo "status $?" >>out
}

run_sqlite() {
    "$1" journal.db <"$ROOT/tools/corpus/effects.sql" >out 2>&1 || echo "status $?" >>out
    "$1" journal.db 'PRAGMA integrity_check' 'SELECT count(*), sum(n), max(t) FROM a' >>out
    { echo 'PRAGMA journal_mode=WAL;' && cat "$ROOT/tools/corpus/effects.sql"; } | "$1" wal.db >out-wal 2>&1 || echo "status $?" >>out-wal
    # The header of a log has random numbers, which do not stay.
    "$1" wal.db 'PRAGMA integrity_check' .dump >dump
    rm wal.db
}

run_redis() {
    "$1" --port 0 --unixsocket "$PWD/s" --appendonly yes --save '' --enable-debug-command yes >log 2>&1 &
    server=$!
    until "$beside/redis-cli" -s s ping >/dev/null 2>&1; do sleep 0.1; done
    "$beside/redis-benchmark" -s s -n "${REQUESTS:-10000}" -c 20 -q -t set,get,incr,lpush,sadd,hset,zadd,mset,lrange_100 >/dev/null 2>errors
    "$beside/redis-cli" -s s --no-raw debug digest >out
    "$beside/redis-cli" -s s dbsize >>out
    "$beside/redis-cli" -s s bgrewriteaof >/dev/null
    "$beside/redis-cli" -s s debug loadaof >>out
    "$beside/redis-cli" -s s debug digest >>out
    "$beside/redis-cli" -s s shutdown nosave >/dev/null
    wait $server && echo 'status 0' >>out || echo "status $?" >>out
    # Both have times in them.
    rm -rf log appendonlydir
}

run_lighttpd() {
    mkdir files
    for n in 1 2 3 4 5 6 7 8; do seq 1 $((n * n * 1000)) >files/$n; done
    port=$((20000 + $$ % 10000))
    sed 's/^ *//' >conf <<END
        server.document-root = "$PWD/files"
        server.port = $port
        server.bind = "127.0.0.1"
        server.modules = ("mod_indexfile", "mod_dirlisting", "mod_staticfile", "mod_accesslog")
        dir-listing.activate = "enable"
        accesslog.filename = "$PWD/log"
        accesslog.format = "%r %s %B"
END
    "$1" -D -f conf -m "$beside/.libs" 2>errors &
    server=$!
    until curl -s "http://127.0.0.1:$port/1" >/dev/null; do sleep 0.1; done
    for round in 1 2 3; do
        curl -s -Z --parallel-max 16 "http://127.0.0.1:$port/[1-9]?[1-40]" -o 'got-#1-#2' -w '%{http_code} %{size_download}\n' 2>/dev/null | sort >out-$round
        cksum got-* >>out-$round
        rm got-*
    done
    kill -INT $server
    wait $server && echo 'status 0' >>out || echo "status $?" >>out
    sort -o log log
    grep -v 'server started\|server stopped\|logfiles cycled\|graceful shutdown' errors >out-errors || true
    rm conf errors
}

run_threads() {
    "$1" threads 80000 >out || echo "status $?" >>out
    "$1" pipes 20000 >>out || echo "status $?" >>out
}

# program NAME: its source package, what builds it, where it is then, and where what it needs is
program() {
    case $1 in
    bzip2) package=bzip2 build='make bzip2' exe=bzip2 ;;
    sqlite) package=sqlite3 build='./configure --disable-tcl && make sqlite3' exe=sqlite3 ;;
    redis) package=redis build='make MALLOC=libc' exe=src/redis-server ;;
    lighttpd) package=lighttpd build='./configure --without-pcre2 --without-pcre --without-zlib --without-bzip2 && make' exe=src/lighttpd ;;
    threads) package='' build="\$CC -O2 -pthread $ROOT/testdata/shadow/calls.c -o threads" exe=threads ;;
    *) echo "shadows.sh: $1: no such program" >&2; exit 2 ;;
    esac
}

unpacked() {
    mkdir -p "$2"
    [ -z "$package" ] || tar -xf "$(ls "$OUT/src/$package"_*.orig.tar.* | grep -v '\.asc$' | head -n 1)" -C "$2" --strip-components 1
}

# Built is built. What other programs it needs are those of the native tree.
built() {
    [ -z "$package" ] || (cd "$ROOT" && sh tools/fetch.sh "$package" "$OUT/src")
    [ ! -e "$at/built" ] || return 0
    rm -rf "$at"
    unpacked "$1" "$at/native"
    (cd "$at/native" && CC=clang-$LLVM && export CC && eval "$build") >"$at/native.log" 2>&1 || { echo "$at/native.log: failed" >&2; return 1; }
    unpacked "$1" "$at/tree"
    (cd "$at/tree" && p3-rewrite build --scheme shadow -o "$at/p3" -- sh -c "$build") >"$at/build.log" 2>&1 || { echo "$at/build.log: failed" >&2; return 1; }
    : >"$at/built"
}

# ran PROGRAM FOLDER: its workload in a new folder
ran() {
    rm -rf "$2"
    mkdir "$2"
    (cd "$2" && "run_$name" "$1")
}

left() {
    for p in /proc/[0-9]*; do
        [ "$(readlink "$p/exe" 2>/dev/null)" != "$1" ] || echo "$p"
    done
}

try() {
    program "$1"
    name=$1 at=$OUT/$1
    built "$1"
    beside=$at/native/$(dirname "$exe")
    ran "$at/native/$exe" "$at/run-native"
    rm -rf "$at/raw"
    mkdir "$at/raw"
    P3_PROFILE_FILE=$at/raw/%m-%p.p3raw
    export P3_PROFILE_FILE
    round=0
    while [ $round -lt "$ROUNDS" ]; do
        round=$((round + 1))
        ran "$at/tree/$exe" "$at/run-shadowed"
        diff -r "$at/run-native" "$at/run-shadowed" >"$at/differs" || { echo "$name: round $round differs: $at/differs" >&2; return 1; }
        [ -z "$(left "$at/tree/$exe")" ] || { echo "$name: round $round left $(left "$at/tree/$exe")" >&2; return 1; }
    done
    unset P3_PROFILE_FILE
    p3-prof merge -m "$at/p3/$exe.p3/manifest.json" -o "$at/profile.p3prof" "$at"/raw/*.p3raw >"$at/merge.log" 2>&1 || { echo "$at/merge.log: failed" >&2; return 1; }
    echo "$name: $ROUNDS rounds as native; $(p3-prof show --bursts "$at/profile.p3prof" | head -n 1)"
}

[ $# -gt 0 ] || set -- bzip2 sqlite redis lighttpd threads
for name; do
    try "$name"
done
