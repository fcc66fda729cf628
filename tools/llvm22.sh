#!/bin/sh
# p3-rewrite with LLVM 22: a C++ program by clang 22, a Rust program with its standard library by a rustc whose LLVM is 22, and a
# crate with its dependencies and tests by cargo p3. Every copy's output equals native, the copies' profile equals that of one
# sequential copy.
set -eu
cd "$(dirname "$0")/.."
OUT=$PWD/target/llvm22
need() { command -v "$1" >/dev/null || { echo "make llvm22 needs $2" >&2; exit 2; }; }
need clang-22 'clang-22 llvm-22-dev'
"${CARGO:-cargo}" build --locked --bins --no-default-features --features llvm22 --target-dir "$OUT/build"
REWRITE=$OUT/build/debug/p3-rewrite PROF=$OUT/build/debug/p3-prof

# both NAME MODULE ARGS LDLIBS [OPTION...]: p3 with four copies against sbl
both() {
    name=$1 module=$2 args=$3 libs=$4
    shift 4
    for scheme in p3 sbl; do
        rm -rf "${OUT:?}/$name-$scheme"
        "$REWRITE" -q "$module" --scheme "$scheme" -k 4 -o "$OUT/$name-$scheme" "$@"
        make -s -C "$OUT/$name-$scheme" run ARGS="$args" LDLIBS="$libs" P3_PROF="$PROF"
    done
    "$PROF" compare "$OUT/$name-p3/profile.p3prof" "$OUT/$name-sbl/profile.p3prof"
}

clang++-22 -O2 -g -emit-llvm -c testdata/programs/exceptions.cpp -o "$OUT/exceptions.bc"
both exceptions "$OUT/exceptions.bc" '' '-lm -pthread -ldl'

case $(rustc -vV) in
*'LLVM version: 22'*) ;;
*) echo 'rustc has another LLVM than 22: no Rust program was tried' && exit 0 ;;
esac
rm -rf "$OUT/rust" && mkdir "$OUT/rust"
# What the link-time optimiser leaves is the whole program, std included.
rustc -O -g -C lto=fat -C codegen-units=1 -C save-temps testdata/rust/counting.rs -o "$OUT/rust/counting"
cp "$OUT"/rust/*-cgu.0.rcgu.bc "$OUT/counting.bc"
LIB=$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/lib
# A backtrace reads the program's own debug information, unwinding its tables, and the standard output looks for line ends
# from aligned addresses on: all three differ between copies.
export RUST_BACKTRACE=0
both counting "$OUT/counting.bc" 3000 "$(echo "$LIB"/libcompiler_builtins-*.rlib) -lgcc_s -lutil -lrt -pthread -lm -ldl" \
    --exclude '^rust_eh_personality$|Stdout.*write_all'

# A crate, in a folder of its own: run and tested, in copies and in one.
export PATH="$OUT/build/debug:$PATH" RUST_TEST_THREADS=1
for scheme in p3 sbl; do
    rm -rf "${OUT:?}/crate-$scheme"
    cp -r testdata/rust/project "$OUT/crate-$scheme"
    (
        cd "$OUT/crate-$scheme"
        # Debug information names where the crate is: copies of one scheme are compared with those of the other.
        export RUSTFLAGS="--remap-path-prefix=$PWD=crate"
        cargo p3 --scheme "$scheme" run -q -- 'one three' 'four  five' four >run.out
        sort -u run.out >run.lines
        find target/p3/copies -name profile.p3prof -exec cp {} run.p3prof \;
        cargo p3 --scheme "$scheme" test -q --workspace
        find target/p3/copies -name profile.p3prof | sort >profiles
        while read -r profile; do "$PROF" verify --strict "$profile"; done <profiles
    )
    test "$(wc -l <"$OUT/crate-$scheme/run.lines")" = 3
done
"$PROF" verify --strict "$OUT/crate-p3/run.p3prof"
"$PROF" compare "$OUT/crate-p3/run.p3prof" "$OUT/crate-sbl/run.p3prof"
"$PROF" show --function words::lengths "$OUT/crate-p3/run.p3prof" | grep -q 'lib.rs:14'
paste "$OUT/crate-p3/profiles" "$OUT/crate-sbl/profiles" | while read -r one other; do
    "$PROF" compare "$OUT/crate-p3/$one" "$OUT/crate-sbl/$other"
done
# README's Rust box, by these programs.
P3_TEST_PROGRAMS=$OUT/build/debug "${CARGO:-cargo}" test --locked --test it -- book::readme::rust_box --ignored
