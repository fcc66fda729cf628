#!/bin/sh
# Makes the profiles in testdata/reading again, of which tests/it/reading.rs prints texts: of a program in C, C++ and
# Rust. They are kept, so that the texts can be tested without a rustc whose LLVM is 22, and with any C++ library.
# BIN: the folder of our programs, with an engine that reads what rustc writes.
set -eu
cd "$(dirname "$0")/.."
: "${BIN:=${CARGO_TARGET_DIR:-$PWD/target}/release}"
LLVM=$(sh tools/llvm.sh main)
ROOT=$PWD KEEP=$PWD/testdata/reading WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

# one NAME COMPILER LIBS SOURCE
one() {
    # Headers of another machine are not those of this one: none are found.
    "$2" -O2 -g -fdebug-compilation-dir=. -fdebug-prefix-map=/usr/=/elsewhere/usr/ -emit-llvm -c "$4" -o "$WORK/$1.bc"
    "$BIN/p3-rewrite" -q "$WORK/$1.bc" -k 2 -o "$WORK/$1"
    make -s -C "$WORK/$1" run LDLIBS="$3" P3_PROF="$BIN/p3-prof" >/dev/null
    cp "$WORK/$1/profile.p3prof" "$KEEP/$1.p3prof"
}
one demo "clang-$LLVM" '' testdata/programs/demo.c
one variants "clang++-$LLVM" -lstdc++ testdata/reading/variants.cpp

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
PATH=$BIN:$PATH RUSTFLAGS="--remap-path-prefix=$ROOT/= --remap-path-prefix=$WORK=crate" cargo p3 -k 2 run --release >/dev/null
find target/p3/copies -name profile.p3prof -exec cp {} "$KEEP/orders.p3prof" \;
