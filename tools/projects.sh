# projects.sh [NAME...]: real projects from Debian's sources, each built by p3-rewrite build and tested by p3-rewrite
# suite, by four copies and by one that counts everything; both profiles of each program must be equal and without
# violations. Sources and builds stay in projects/; a line for each project and figures of its programs go to
# projects/NAME/found.
set -eu
cd "$(dirname "$0")/.."
LLVM=$(sh tools/llvm.sh main)
ROOT=$PWD
OUT=$ROOT/projects
BIN=${BIN:-${CARGO_TARGET_DIR:-$ROOT/target}/release}
PATH=$BIN:$PATH
export PATH

LEVELDB='coding_test log_test table_test bloom_test write_batch_test dbformat_test'

# project PACKAGE BUILD CHECK: its source package, what builds it, what tests it.
project() {
    options=
    case $1 in
    gzip) package=gzip build='./configure && make' check='make check' ;;
    zlib) package=zlib build='./configure && make' check='make check' ;;
    lz4) package=lz4 build='make && make -C tests fuzzer frametest' check='make -C tests test-lz4-basic test-lz4-multiple' ;;
    zstd) package=libzstd options='--update atomic' build='make -C programs zstd && make -C tests datagen' check='cd tests && ./playTests.sh' ;;
    jsoncpp) package=libjsoncpp build='cmake -S . -B b && cmake --build b' check='cd b && ctest' ;;
    # It seeds its hashes by the address of a function, which no two copies have in common.
    lua) package=lua5.4 build="echo '#define luai_makeseed(L) 1' >>src/luaconf.h && make linux" check='src/lua -e "for i=1,200000 do t = {i, tostring(i)} end print(#t)"' ;;
    sqlite) package=sqlite3 build='./configure --disable-tcl && make sqlite3' check="sed 's/^\\./-- ./' $ROOT/tools/corpus/work.sql | ./sqlite3 :memory: || [ \$? = 1 ]" ;;
    # The parts that run in one thread, by the sources of googletest that Debian has a package of.
    leveldb) package=leveldb build="rmdir third_party/googletest && cp -r /usr/src/googletest third_party && sed -i '/third_party.benchmark/d' CMakeLists.txt &&
            cmake -S . -B b -DLEVELDB_BUILD_BENCHMARKS=OFF && cmake --build b --target $(echo $LEVELDB)" check="cd b && GTEST_PRINT_TIME=0 GTEST_RANDOM_SEED=17 ctest -R '^($(echo $LEVELDB | tr ' ' '|'))\$'" ;;
    # A server under its own tests. It works by the clock, so that no two runs are alike.
    redis) package=redis build='make MALLOC=libc' check='./runtest --clients 1 --single unit/type/hash --single unit/type/set --single unit/keyspace' ;;
    bzip2) package=bzip2 build='make' check='make test' ;;
    *) echo "projects.sh: $1: no such project" >&2; exit 2 ;;
    esac
}

# unpacked NAME: its folder, new
unpacked() {
    rm -rf "$OUT/$1/tree"
    mkdir -p "$OUT/$1/tree"
    tar -xf "$(ls "$OUT/src/$package"_*.orig.tar.* | grep -v '\.asc$' | head -n 1)" -C "$OUT/$1/tree" --strip-components 1
    cd "$OUT/$1/tree"
}

# timed LOG COMMAND...: runs it; the seconds it took
timed() {
    log=$1
    shift
    begin=$(date +%s)
    "$@" >"$log" 2>&1 || { echo "$log: failed" >&2; return 1; }
    echo $(($(date +%s) - begin))
}

try() {
    project "$1"
    (cd "$ROOT" && sh tools/fetch.sh "$package" "$OUT/src")
    at=$OUT/$1
    unpacked "$1"
    b0=$(CC=clang-$LLVM CXX=clang++-$LLVM timed "$at/native.log" sh -c "$build")
    c0=$(timed "$at/native-check.log" sh -c "$check")
    times="native: build $b0 s, check $c0 s"
    for scheme in p3 sbl; do
        unpacked "$1"
        b=$(timed "$at/$scheme.log" p3-rewrite build -k 4 --scheme $scheme $options -o "$at/$scheme" -- sh -c "$build")
        # What the first run builds by running the programs, it builds once.
        timed "$at/$scheme-first.log" sh -c "$check" >/dev/null
        c=$(timed "$at/$scheme-check.log" p3-rewrite suite -o "$at/$scheme" --same-pids -- sh -c "$check")
        times="$times; $scheme: build $b s, suite $c s"
    done
    echo "$1: $times"
    find "$at/p3" -name profile.p3prof | sort | while read -r profile; do
        name=${profile#"$at"/p3/}
        verdict=$(p3-prof verify "$profile" 2>&1 | tail -n 1)
        if p3-prof compare "$profile" "$at/sbl/$name" >"$at/compare" 2>&1; then same=equal; else same="differs: $(head -n 1 "$at/compare")"; fi
        echo "  ${name%.p3/profile.p3prof}: $same; $verdict"
    done
    du -sh "$at/p3" "$at/sbl" | sed 's/^/  /'
}

[ $# -gt 0 ] || set -- gzip zlib lz4 zstd jsoncpp lua bzip2 sqlite
for name; do
    mkdir -p "$OUT/$name"
    (try "$name") | tee "$OUT/$name/found"
done
