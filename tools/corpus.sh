# Profiles bzip2, lua5.4 and sqlite3 with its shell, from Debian's sources: with every scheme (k = 4),
# merged, verified and compared. Writes corpus/RESULTS.md: time and memory of each step.
set -eu
cd "$(dirname "$0")/.."
LLVM=$(sh tools/llvm.sh main)
ROOT=$PWD
BIN=${CARGO_TARGET_DIR:-$ROOT/target}/release
OUT=$ROOT/corpus
K=${K:-4}
mkdir -p "$OUT/src"
export P3_PROF=$BIN/p3-prof LC_ALL=C

say() { echo "corpus: $*" >&2; }

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
need() {
    for tool in dpkg-source tclsh time; do
        command -v $tool >/dev/null && continue
        $sudo apt-get update -q >/dev/null
        $sudo apt-get install -y -q dpkg-dev tcl time >/dev/null
    done
}

# unpack PACKAGE: its source tree in $OUT/PACKAGE/tree
unpack() {
    sh "$ROOT/tools/fetch.sh" "$1" "$OUT/src"
    rm -rf "$OUT/$1" && mkdir -p "$OUT/$1/bc"
    dpkg-source -x "${2:---no-check}" "$OUT/src/$1"_*.dsc "$OUT/$1/tree" >/dev/null 2>&1
}

# compile PACKAGE FLAGS FILES: each file to a module of its own
compile() {
    p=$1 flags=$2
    shift 2
    for f; do
        name=$(echo "${f#./}" | tr / _)
        clang-$LLVM -O2 -g -w $flags -emit-llvm -c "$f" -o "$OUT/$p/bc/${name%.*}.bc"
    done
}

build_bzip2() {
    unpack bzip2
    cd "$OUT/bzip2/tree"
    compile bzip2 "-D_FILE_OFFSET_BITS=64" blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c bzip2.c
    cat ./*.c ./*.c ./*.c ./*.h >"$OUT/bzip2/input"
    RUN="ARGS=-9ckvv STDIN=$OUT/bzip2/input"
}

build_lua5_4() {
    # Without Debian's patches, which need generated headers.
    unpack lua5.4 --skip-patches
    cd "$OUT/lua5.4/tree/src"
    files=$(ls ./*.c | grep -v luac.c)
    # Copies must run alike: a fixed seed, and no hashing of addresses, which differ between them.
    sed -i 's/^#define point2uint(p).*/#define point2uint(p) ((void)(p), 0u)/' llimits.h
    compile lua5.4 "-std=gnu99 -DLUA_COMPAT_5_3 -DLUA_USE_POSIX -Dluai_makeseed(L)=42" $files
    RUN="ARGS=$ROOT/tools/corpus/work.lua"
}

build_sqlite3() {
    unpack sqlite3
    cd "$OUT/sqlite3/tree"
    (./configure -q && make -s sqlite3.c shell.c) >/dev/null 2>&1
    compile sqlite3 "-DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_ENABLE_WINDOW_FUNCTIONS" sqlite3.c shell.c
    RUN="STDIN=$ROOT/tools/corpus/work.sql ALLOW_STATUS=1"
}

# C++ with exceptions: a document that ends in an error.
build_yaml_cpp() {
    unpack yaml-cpp
    cd "$OUT/yaml-cpp/tree"
    compile yaml-cpp "-std=c++17 -Iinclude -Isrc" src/*.cpp util/parse.cpp
    {
        for i in $(seq 3000); do
            echo "- {name: item $i, list: [1, 2.5, \"a b\", ~], &a$i text: |"
            echo "    two"
            echo "    lines"
        done | sed 's/, &a[0-9]* text: |/}/; /^    /d'
        echo "- [unfinished"
    } >"$OUT/yaml-cpp/input"
    RUN="STDIN=$OUT/yaml-cpp/input"
}

# C++ with exceptions: the library's own tests, many of which throw.
build_libjsoncpp() {
    unpack libjsoncpp
    cd "$OUT/libjsoncpp/tree"
    compile libjsoncpp "-std=c++17 -Iinclude -Isrc/lib_json" src/lib_json/*.cpp src/test_lib_json/*.cpp
    RUN="ALLOW_STATUS=1"
}

# measure STEP COMMAND…: a row of the table
measure() {
    step=$1
    shift
    command time -o "$OUT/time" -f '%e %U %M' "$@" >"$OUT/log" 2>&1 || { cat "$OUT/log" >&2; exit 1; }
    read -r wall user memory <"$OUT/time"
    echo "| $PROGRAM | $SCHEME | $step | $wall | $user | $((memory / 1024)) |" >>"$OUT/RESULTS.md"
}

profile() {
    dir=$OUT/$PROGRAM
    for SCHEME in sbl pbl p3-weighted p3-hot edge p3; do
        out=$dir/$SCHEME
        measure rewrite "$BIN/p3-rewrite" "$dir/bc" -k "$K" --scheme $SCHEME -o "$out"
        tail -n 1 "$OUT/log" >&2
        measure link make -s -j2 -C "$out"
        eval "measure 'run and merge' make -s -C $out run $(quote $RUN)"
        measure verify "$P3_PROF" verify "$out/profile.p3prof"
        cat "$OUT/log" >&2
        [ $SCHEME = sbl ] && continue
        # Where activations are left, edges are not compared: verify says by how much they may be off.
        grep -q "counts of edges may be off" "$OUT/log" && continue
        measure compare "$P3_PROF" compare "$dir/sbl/profile.p3prof" "$out/profile.p3prof"
        say "$PROGRAM: $SCHEME equals sbl"
    done
    # No path that ran is said to be one that cannot run.
    SCHEME=sbl measure judge env P3_JUDGED="$dir/sbl/profile.p3prof" cargo test --locked --test it -- \
        possible::no_path_that_ran_is_refuted_in_given_profiles --exact --ignored
    "$P3_PROF" show "$out/profile.p3prof" --top 5 >"$dir/report.txt"
    "$P3_PROF" simulate "$dir/sbl/profile.p3prof" >"$dir/simulate.txt"
    cat "$dir/report.txt" "$dir/simulate.txt"
}

quote() { for w; do printf "'%s' " "$w"; done; }

need
{
    echo "# Corpus: k = $K, $(date -u +%F), $(nproc) cores"
    echo
    echo "| program | scheme | step | wall s | user s | MB |"
    echo "|---|---|---|---:|---:|---:|"
} >"$OUT/RESULTS.md"
for PROGRAM in ${PROGRAMS:-bzip2 lua5.4 sqlite3}; do
    say "$PROGRAM: fetch and compile"
    "build_$(echo "$PROGRAM" | tr .- __)"
    cd "$ROOT"
    profile
done
cat "$OUT/RESULTS.md"
