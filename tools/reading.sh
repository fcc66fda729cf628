#!/bin/sh
# Makes the profiles in testdata/reading again, of which tests/it/reading.rs prints texts: of a program in C, C++ and Rust. They are
# kept, so that the texts can be tested without a rustc whose LLVM is 22, and with any C++ library.
# P3_BIN: the folder of p3-rewrite and p3-prof built with LLVM 19; P3_BIN22: of these and cargo-p3 built with LLVM 22.
set -eu
cd "$(dirname "$0")/.."
: "${P3_BIN:=$PWD/target/debug}" "${P3_BIN22:=$PWD/target/llvm22/build/debug}"
ROOT=$PWD KEEP=$PWD/testdata/reading WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

# one NAME COMPILER LIBS SOURCE
one() {
    # Headers of another machine are not those of this one: none are found.
    "$2" -O2 -g -fdebug-compilation-dir=. -fdebug-prefix-map=/usr/=/elsewhere/usr/ -emit-llvm -c "$4" -o "$WORK/$1.bc"
    "$P3_BIN/p3-rewrite" -q "$WORK/$1.bc" -k 2 -o "$WORK/$1"
    make -s -C "$WORK/$1" run LDLIBS="$3" P3_PROF="$P3_BIN/p3-prof" >/dev/null
    cp "$WORK/$1/profile.p3prof" "$KEEP/$1.p3prof"
}
one demo clang-19 '' testdata/programs/demo.c
one variants clang++-19 -lstdc++ testdata/reading/variants.cpp

mkdir "$WORK/crate"
cat >"$WORK/crate/Cargo.toml" <<END
[package]
name = "orders"
version = "0.1.0"
edition = "2024"
[[bin]]
name = "orders"
path = "$KEEP/orders.rs"
[profile.release]
opt-level = 2
debug = 1
END
cd "$WORK/crate"
PATH=$P3_BIN22:$PATH RUSTFLAGS="--remap-path-prefix=$ROOT/= --remap-path-prefix=$WORK=crate" cargo p3 -k 2 run --release >/dev/null
find target/p3/copies -name profile.p3prof -exec cp {} "$KEEP/orders.p3prof" \;
