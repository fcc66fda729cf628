# Builds the runtime without warnings with gcc 12, clang 14 and each clang that there is an engine for, for x86-64,
# aarch64 and RISC-V; runs its driver on the other two under qemu-user, and a program rewritten by each engine: the same
# profile as x86-64. Then the tests of programs with threads (tests/it/thread_counts).
# LLVM='19 22' names the engines (those whose LLVM is here).
set -eu
cd "$(dirname "$0")/.."
LLVM=${LLVM:-$(sh tools/llvm.sh found)}
OUT=$PWD/target/cross
rm -rf "$OUT" && mkdir -p "$OUT"
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
need() { [ -e "$1" ] || command -v "$1" >/dev/null || { $sudo apt-get update -q >/dev/null; $sudo apt-get install -y -q --no-install-recommends "$2" >/dev/null; }; }
need gcc-12 gcc-12
need clang-14 clang-14
need qemu-aarch64 qemu-user
need aarch64-linux-gnu-gcc-12 gcc-12-aarch64-linux-gnu
need riscv64-linux-gnu-gcc-12 gcc-12-riscv64-linux-gnu
need aarch64-linux-gnu-g++-12 g++-12-aarch64-linux-gnu
need riscv64-linux-gnu-g++-12 g++-12-riscv64-linux-gnu
need /usr/aarch64-linux-gnu/include/stdio.h libc6-dev-arm64-cross
need /usr/riscv64-linux-gnu/include/stdio.h libc6-dev-riscv64-cross

# What clang has to know of a machine: that it is not this one, and RISC-V's calling convention, which modules do not
# name.
target_of() {
    case $1 in
    x86_64) ;;
    riscv64) echo "--target=riscv64-linux-gnu -isystem /usr/riscv64-linux-gnu/include -march=rv64gc -mabi=lp64d" ;;
    *) echo "--target=$1-linux-gnu -isystem /usr/$1-linux-gnu/include" ;;
    esac
}
gcc_of() { case $1 in x86_64) echo gcc-12 ;; *) echo "$1-linux-gnu-gcc-12" ;; esac; }
runner_of() { case $1 in x86_64) ;; *) echo "qemu-$1 -L /usr/$1-linux-gnu" ;; esac; }

RUNTIME="runtime-c/core/*.c runtime-c/sampling/*.c runtime-c/shadow/*.c"
WARN="-Iruntime-c/core -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror"
for arch in x86_64 aarch64 riscv64; do
    for compiler in "$(gcc_of $arch)" $(for v in 14 $LLVM; do echo "clang-$v"; done); do
        case $compiler in clang*) flags=$(target_of $arch) ;; *) flags= ;; esac
        for file in $RUNTIME; do
            # shellcheck disable=SC2086
            "$compiler" $WARN $flags -c "$file" -o "$OUT/x.o"
        done
        echo "no warnings: $compiler for $arch"
    done
done

for arch in aarch64 riscv64; do
    # shellcheck disable=SC2086
    "$(gcc_of $arch)" -std=gnu11 -O1 -pthread -Iruntime-c/core -Iruntime-c/shadow $RUNTIME tests/it/support/runtime_test.c -o "$OUT/driver"
    for what in hash threads fork reset "stop kill" signals; do
        # shellcheck disable=SC2046,SC2086
        P3_PROFILE_FILE=$OUT/raw/%p.p3raw $(runner_of $arch) "$OUT/driver" $what >/dev/null 2>"$OUT/errors" || true
        grep -v -e "uncaught target signal" -e "^qemu" -e "^Killed" "$OUT/errors" && exit 1
        echo "$arch: $what: $(ls "$OUT/raw" | wc -l) profiles"
        rm -rf "$OUT/raw"
    done
done

# A program, natively and for other machines, by each engine: the same profile.
main=$(sh tools/llvm.sh main)
cargo build -q --release --locked
for v in $LLVM; do
    [ "$v" = "$main" ] || LLVM=$v sh tools/engines.sh build "${CARGO_TARGET_DIR:-target}/release" --release
done
BIN=${CARGO_TARGET_DIR:-$PWD/target}/release
for v in $LLVM; do
    for arch in x86_64 aarch64 riscv64; do
        at=$OUT/$arch-$v
        # shellcheck disable=SC2046
        "clang-$v" $(target_of $arch) -O1 -fno-inline -emit-llvm -c testdata/programs/loops.c -o "$OUT/loops.bc"
        "$BIN/p3-rewrite" -q --llvm "$v" "$OUT/loops.bc" -k 3 -o "$at"
        for k in 0 1 2; do
            # shellcheck disable=SC2046
            "clang-$v" $(target_of $arch) -O2 -c -x ir "$at/copy-$k/m0.bc" -o "$OUT/x.o"
            # shellcheck disable=SC2086
            "$(gcc_of $arch)" -Iruntime-c/core "$OUT/x.o" $RUNTIME -o "$OUT/x"
            # shellcheck disable=SC2046
            P3_PROFILE_FILE=$at/raw/%k.p3raw $(runner_of $arch) "$OUT/x" >/dev/null || true
        done
        "$BIN/p3-prof" merge -m "$at/manifest.json" -o "$at.p3prof" "$at/raw"
        "$BIN/p3-prof" verify "$at.p3prof"
        "$BIN/p3-prof" compare "$OUT/x86_64-$v.p3prof" "$at.p3prof"
        echo "LLVM $v, $arch: the same profile as x86-64"
    done
done

# Programs with threads: each thread's own counts are the truth.
for arch in aarch64 riscv64; do
    P3_TARGET=$arch cargo test -q --locked --test it thread_counts:: -- --test-threads 2
done
