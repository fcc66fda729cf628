# peers.sh SAMPLE CSMITH JOBS: checks modules that others wrote, SAMPLE of LLVM's own tests and CSMITH programs of
# csmith, JOBS at a time (0: as many as there are cores). SKIP=n leaves out the sample's first n,
# ONLY=llvm/test/CodeGen/X86 takes files whose path in LLVM's sources begins so, SEED=n is csmith's first seed,
# MINUTES=n begins no module after that time, LLVM=22 takes that version's tests and engine. Sources and what was found
# stay in peers/, or peers/22.
set -eu
cd "$(dirname "$0")/.."
main=$(sh tools/llvm.sh main)
LLVM=${LLVM:-$main}
OUT=$PWD/peers
[ "$LLVM" = "$main" ] || OUT=$OUT/$LLVM
PACKAGE=llvm-toolchain-$LLVM
mkdir -p "$OUT"

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
need() {
    command -v "$1" >/dev/null && return
    $sudo apt-get update -q >/dev/null
    $sudo apt-get install -y -q --no-install-recommends $2 >/dev/null
}

if [ ! -e "$OUT/llvm/complete" ]; then
    need xz xz-utils
    sh tools/fetch.sh "$PACKAGE" "$OUT/src"
    mkdir -p "$OUT/llvm"
    tar -xJf "$OUT/src/${PACKAGE}"_*.orig.tar.xz -C "$OUT/llvm" --strip-components=1 --wildcards '*/llvm/test/*.ll'
    touch "$OUT/llvm/complete"
fi
[ "$2" = 0 ] || need csmith 'csmith libcsmith-dev'

# The ordinary build: its assertions are wanted. Everything that the tests print stays in files, for LLVM has much
# to say about its own tests.
status=0
SAMPLE=$1 P3_PEERS_LLVM=$OUT/llvm P3_PEERS_CSMITH=$2 JOBS=$3 \
    "${CARGO:-cargo}" test --locked --no-default-features --features "estimates,llvm$LLVM" --test it peers:: -- \
    --nocapture --test-threads 1 >"$OUT/found" 2>"$OUT/messages" || status=$?
grep -E "^(refused|invalid|loaders differ|csmith|definitions|[0-9]+ (modules|csmith))" "$OUT/found" || tail -n 20 "$OUT/messages"
exit $status
