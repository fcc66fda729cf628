# setup.sh TOOLS PACKAGES: installs the packages when a tool or LLVM's headers are missing.
set -eu

missing=
for tool in $1; do
    command -v "$tool" >/dev/null || missing="$missing $tool"
done
prefix=${LLVM_SYS_191_PREFIX:-/usr/lib/llvm-19}
[ -x "$prefix/bin/llvm-config" ] && [ -d "$prefix/include/llvm-c" ] || missing="$missing llvm-19-dev"
[ -e "$prefix/lib/libPolly.a" ] || missing="$missing libpolly-19-dev"
ls "$prefix"/lib/clang/19/lib/*/libclang_rt.profile* >/dev/null 2>&1 || missing="$missing libclang-rt-19-dev"
[ -z "$missing" ] && exit 0

echo "setup: missing:$missing"
if ! command -v apt-get >/dev/null; then
    echo "setup: this is no Debian system; install LLVM 19 with its C headers, Polly, clang and lld" >&2
    echo "setup: by other means, and set LLVM_SYS_191_PREFIX to where it is" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then
    sudo=
elif command -v sudo >/dev/null; then
    sudo=sudo
else
    echo "setup: not root and no sudo; run as root: apt-get install $2" >&2
    exit 1
fi
$sudo apt-get update -q
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -q -y --no-install-recommends $2
