# Builds the runtime without warnings with gcc 12, clang 14 and clang 19 for x86-64 and aarch64, and runs
# its driver, and a rewritten program, on aarch64 under qemu-user.
set -eu
cd "$(dirname "$0")/.."
LLVM=$(sh tools/llvm.sh main)
OUT=$PWD/target/cross
rm -rf "$OUT" && mkdir -p "$OUT"
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
need() { command -v "$1" >/dev/null || { $sudo apt-get update -q >/dev/null; $sudo apt-get install -y -q --no-install-recommends "$2" >/dev/null; }; }
need gcc-12 gcc-12
need clang-14 clang-14
need aarch64-linux-gnu-gcc-12 gcc-12-aarch64-linux-gnu
[ -e /usr/aarch64-linux-gnu/include/stdio.h ] || $sudo apt-get install -y -q --no-install-recommends libc6-dev-arm64-cross >/dev/null
need qemu-aarch64 qemu-user

WARN="-std=c11 -O2 -Wall -Wextra -Wpedantic -Werror"
ARM="--target=aarch64-linux-gnu -isystem /usr/aarch64-linux-gnu/include"
for compiler in gcc-12 clang-14 clang-$LLVM aarch64-linux-gnu-gcc-12 "clang-14 $ARM" "clang-$LLVM $ARM"; do
    for file in runtime-c/*.c; do
        $compiler $WARN -c "$file" -o "$OUT/x.o"
    done
    echo "no warnings: $compiler"
done

export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
aarch64-linux-gnu-gcc-12 -std=gnu11 -O1 -pthread -Iruntime-c runtime-c/*.c tests/it/support/runtime_test.c -o "$OUT/driver"
for what in hash threads fork reset "stop kill" signals; do
    P3_PROFILE_FILE=$OUT/raw/%p.p3raw qemu-aarch64 "$OUT/driver" $what >/dev/null 2>"$OUT/errors" || true
    grep -v -e "uncaught target signal" -e "^qemu" -e "^Killed" "$OUT/errors" && exit 1
    echo "aarch64: $what: $(ls "$OUT/raw" | wc -l) profiles"
    rm -rf "$OUT/raw"
done

# A program, natively and for aarch64: the same profile.
cargo build -q --release --locked
BIN=$PWD/target/release
for target in x86_64-linux-gnu aarch64-linux-gnu; do
    include=
    [ $target = x86_64-linux-gnu ] || include="-isystem /usr/aarch64-linux-gnu/include"
    clang-$LLVM --target=$target $include -O1 -fno-inline -emit-llvm -c testdata/programs/loops.c -o "$OUT/loops.bc"
    "$BIN/p3-rewrite" -q "$OUT/loops.bc" -k 3 -o "$OUT/$target"
    for k in 0 1 2; do
        clang-$LLVM --target=$target -O2 -c -x ir "$OUT/$target/copy-$k/m0.bc" -o "$OUT/x.o"
        if [ $target = x86_64-linux-gnu ]; then
            gcc-12 "$OUT/x.o" runtime-c/*.c -o "$OUT/x" && run=
        else
            aarch64-linux-gnu-gcc-12 "$OUT/x.o" runtime-c/*.c -o "$OUT/x" && run=qemu-aarch64
        fi
        P3_PROFILE_FILE=$OUT/$target/raw/%k.p3raw $run "$OUT/x" >/dev/null || true
    done
    "$BIN/p3-prof" merge -m "$OUT/$target/manifest.json" -o "$OUT/$target.p3prof" "$OUT/$target/raw"
    "$BIN/p3-prof" verify "$OUT/$target.p3prof"
done
"$BIN/p3-prof" compare "$OUT/x86_64-linux-gnu.p3prof" "$OUT/aarch64-linux-gnu.p3prof"
echo "aarch64: the same profile as x86-64"
