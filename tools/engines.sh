#!/bin/sh
# engines.sh build DIR [CARGO OPTIONS]: an engine for each LLVM that is here (or of those in LLVM), put into DIR.
# engines.sh try DIR: the engines in DIR, with the other programs of target/debug. A C++ program by each clang that is
# here, a program of clang's and rustc's modules, a Rust program with its standard library, and a crate with its
# dependencies and tests by cargo p3. Every copy's output equals native, the copies' profile equals that of one
# sequential copy. engines.sh test GROUP...: these groups of tests (or options of test programs) by programs and tests
# that are built for each version but the main one; cargo p3, by the newest, if it reads what rustc writes.
set -eu
cd "$(dirname "$0")/.."
LLVM=${LLVM:-$(sh tools/llvm.sh found)}
CARGO=${CARGO:-cargo}
# README's Rust box; the commands of docs/BUILD.md; selections of paths; threads
RUST_TESTS='book::readme::rust_box rust_builds:: selected_rust:: thread_counts::languages'
what=$1

if [ "$what" = test ]; then
    shift
    main=$(sh tools/llvm.sh main)
    newest=$main
    for v in $LLVM; do
        [ "$v" != "$main" ] || continue
        newest=$v
        P3_LLVM=$v "$CARGO" test --locked --no-default-features --features "estimates,llvm$v" --test it -- "$@"
    done
    rust=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
    if [ "$rust" -gt "$newest" ]; then
        echo "cargo p3 is not tested: rustc has LLVM $rust, and the newest engine here is for LLVM $newest"
    else
        # shellcheck disable=SC2086
        "$CARGO" test --locked --no-default-features --features "estimates,llvm$newest" --test it -- \
            $RUST_TESTS --ignored
    fi
    exit
fi

mkdir -p "$2"
DIR=$(cd "$2" && pwd)
shift 2

if [ "$what" = build ]; then
    for v in $LLVM; do
        "$CARGO" build --locked --no-default-features --features "estimates,llvm$v" --bin "p3-rewrite-$v" "$@"
        folder=${CARGO_TARGET_DIR:-target}/debug
        case " $* " in *' --release '*) folder=${CARGO_TARGET_DIR:-target}/release ;; esac
        # A link would be the next build's file.
        [ "$(cd "$folder" && pwd)" = "$DIR" ] || mv -f "$folder/p3-rewrite-$v" "$DIR/"
    done
    exit
fi
[ "$what" = try ] || { echo 'engines.sh build|try DIR, or test GROUP...' >&2; exit 2; }

OUT=$PWD/target/engines
mkdir -p "$OUT"
TARGET=$(cd "${CARGO_TARGET_DIR:-target}/debug" && pwd)
REWRITE=$TARGET/p3-rewrite PROF=$TARGET/p3-prof
P3_ENGINES=$DIR:$TARGET
export P3_ENGINES

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

for v in $LLVM; do
    "clang++-$v" -O2 -g -emit-llvm -c testdata/programs/exceptions.cpp -o "$OUT/exceptions-$v.bc"
    both "exceptions-$v" "$OUT/exceptions-$v.bc" '' '-lm -pthread -ldl'
    # The engine is that of the module's version.
    grep -q "^P3_LLVM := $v\$" "$OUT/exceptions-$v-p3/Makefile"
done

# An engine of a newer version sees the same program in a module.
for v in $LLVM; do
    for newer in $LLVM; do
        [ "$newer" -gt "$v" ] || continue
        both "exceptions-$v-by-$newer" "$OUT/exceptions-$v.bc" '' '-lm -pthread -ldl' --llvm "$newer"
        "$PROF" compare "$OUT/exceptions-$v-p3/profile.p3prof" "$OUT/exceptions-$v-by-$newer-p3/profile.p3prof"
    done
done

# Bitcode of other clangs that are here, typed pointers of 14 and before among it, as far as an engine reads it.
for v in $LLVM; do newest=$v; done
for clang in /usr/bin/clang++-[0-9]*; do
    v=${clang##*-}
    case " $LLVM " in *" $v "*) continue ;; esac
    [ -x "$clang" ] && [ "$v" -lt "$newest" ] || continue
    "$clang" -O2 -g -emit-llvm -c testdata/programs/exceptions.cpp -o "$OUT/exceptions-$v.bc"
    both "exceptions-$v" "$OUT/exceptions-$v.bc" '' '-lm -pthread -ldl'
    echo "bitcode of $clang: read"
done

# Objects that carry bitcode of two versions, in one program.
set -- $LLVM
if [ $# -gt 1 ]; then
    first=$1
    for v; do last=$v; done
    for scheme in p3 sbl; do
        at=$OUT/mixed-$scheme
        rm -rf "$at" && mkdir "$at"
        cp testdata/programs/demo.c "$at"
        (
            cd "$at"
            # The two halves of a program.
            printf 'int twice(int n) { return n > 3 ? 2 * n : n; }\n' >half.c
            printf 'int twice(int);\nint main(int n, char **v) { int s = 0; for (int i = 0; i < 100; i++) s += twice(i) %% 3; return s == 99 ? 0 : s + n * !v; }\n' >main.c
            P3_CC=clang-$first "$TARGET/p3-cc" -O2 -g -c half.c
            P3_CC=clang-$last "$TARGET/p3-cc" -O2 -g -c main.c
            for linker in "$first" "$last"; do
                P3_COPIES=4 P3_CC=clang-$linker P3_FLAGS="--scheme $scheme" "$TARGET/p3-cc" main.o half.o -o "linked-$linker"
                make -s -C "linked-$linker.p3" run ALLOW_STATUS="$(./linked-"$linker" || echo $?)" P3_PROF="$PROF"
            done
        )
    done
    for linker in "$first" "$last"; do
        "$PROF" compare "$OUT/mixed-p3/linked-$linker.p3/profile.p3prof" "$OUT/mixed-sbl/linked-$linker.p3/profile.p3prof"
        "$PROF" verify --strict "$OUT/mixed-p3/linked-$linker.p3/profile.p3prof"
    done
fi

rm -rf "$OUT/rust" && mkdir "$OUT/rust"
# What the link-time optimiser leaves is the whole program, std included.
rustc -O -g -C lto=fat -C codegen-units=1 -C save-temps testdata/rust/counting.rs -o "$OUT/rust/counting"
cp "$OUT"/rust/*-cgu.0.rcgu.bc "$OUT/counting.bc"
LIB=$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/lib
# A backtrace reads the program's own debug information, unwinding its tables, and the standard output looks for line
# ends from aligned addresses on: all three differ between copies. A panic prints the number of its thread, which has
# more digits in one run than in another.
export RUST_BACKTRACE=0
both counting "$OUT/counting.bc" 3000 "$(echo "$LIB"/libcompiler_builtins-*.rlib) -lgcc_s -lutil -lrt -pthread -lm -ldl" \
    --exclude '^rust_eh_personality$|Stdout.*write_all|3num3impyN.*Display3fmt$'

# A crate, in a folder of its own: run and tested, in copies and in one.
export PATH="$TARGET:$PATH" RUST_TEST_THREADS=1
for scheme in p3 sbl; do
    rm -rf "${OUT:?}/crate-$scheme"
    cp -r testdata/rust/project "$OUT/crate-$scheme"
    (
        cd "$OUT/crate-$scheme"
        unset CARGO_TARGET_DIR
        # Debug information names where the crate is: copies of one scheme are compared with those of the other.
        export RUSTFLAGS="--remap-path-prefix=$PWD=crate"
        cargo p3 -k 4 --scheme "$scheme" run -q -- 'one three' 'four  five' four >run.out
        sort -u run.out >run.lines
        find target/p3/copies -name profile.p3prof -exec cp {} run.p3prof \;
        cargo p3 -k 4 --scheme "$scheme" test -q --workspace
        find target/p3/copies -name profile.p3prof | sort >profiles
        while read -r profile; do "$PROF" verify --strict "$profile"; done <profiles
    )
    test "$(wc -l <"$OUT/crate-$scheme/run.lines")" = 3
done
"$PROF" verify --strict "$OUT/crate-p3/run.p3prof"
"$PROF" compare "$OUT/crate-p3/run.p3prof" "$OUT/crate-sbl/run.p3prof"
"$PROF" show --function words::lengths "$OUT/crate-p3/run.p3prof" | grep -q 'lib.rs:13'
paste "$OUT/crate-p3/profiles" "$OUT/crate-sbl/profiles" | while read -r one other; do
    "$PROF" compare "$OUT/crate-p3/$one" "$OUT/crate-sbl/$other"
done
# shellcheck disable=SC2086
P3_TEST_PROGRAMS=$TARGET "$CARGO" test --locked --test it -- $RUST_TESTS --ignored
