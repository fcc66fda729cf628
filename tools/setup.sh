# setup.sh TOOLS PACKAGES: installs the packages when a tool (or a file, by its path), or headers of the versions in
# LLVM, are missing.
set -eu
cd "$(dirname "$0")/.."

missing=
for tool in $1; do
    [ -e "$tool" ] || command -v "$tool" >/dev/null || missing="$missing $tool"
done
# Of the version that tests take, if no others are named.
LLVM=${LLVM:-$(sh tools/llvm.sh main)}
# shellcheck disable=SC2086
for package in $(sh tools/llvm.sh missing $LLVM); do
    missing="$missing $package"
done
[ -z "$missing" ] && exit 0

echo "setup: missing:$missing"
if ! command -v apt-get >/dev/null; then
    echo "setup: this is no Debian system; install LLVM $LLVM with its C headers, Polly, clang and lld" >&2
    echo "setup: by other means, and name its folder by the variable that src/base/llvm.rs has for it" >&2
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
