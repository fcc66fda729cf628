#!/bin/sh
# deb.sh build: Debian packages of the release binaries in target/debian: p3-rewrite.deb, and p3-rewrite-llvmN.deb with
# the engine
#               of each version in LLVM (those that are here).
# deb.sh try:   they are installed in a clean Debian 12, used as a new user would, and removed.
set -eu
cd "$(dirname "$0")/.."
PACKAGE=target/debian/p3-rewrite.deb
SHARE=target/share
LLVM=${LLVM:-$(sh tools/llvm.sh found)}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

# A file of a build system, with the places that all has once it is installed. The header is where headers are.
installed() {
    sed -e 's|@P3_CC@|/usr/bin/p3-cc|; s|@P3_CXX@|/usr/bin/p3-c++|; s|@P3_REWRITE@|/usr/bin/p3-rewrite|; s|@P3_PROF@|/usr/bin/p3-prof|' \
        -e 's|@P3_DIR@/include|/usr/include|; s|^prefix=@P3_DIR@|prefix=/usr|; s|@P3_DIR@|/usr/share/p3-rewrite|' \
        -e "s|@P3_VERSION@|$version|" "share/$1" >"$SHARE/build-systems/$1"
    ! grep '@P3' "$SHARE/build-systems/$1"
}

# engine N: the package of an engine. What it is linked with is what dpkg-shlibdeps finds; clang is what copies are
# compiled by. p3-rewrite hands its arguments to the engine, so both are of one version: apt upgrades them together.
engine() {
    work=$(mktemp -d)
    libexec=$work/root/usr/libexec/p3-rewrite
    mkdir -p "$libexec" "$work/root/DEBIAN" "$work/debian"
    install -m 755 "target/release/p3-rewrite-$1" "$libexec/"
    printf 'Source: p3-rewrite\n\nPackage: p3-rewrite-llvm%s\nArchitecture: any\n' "$1" >"$work/debian/control"
    depends=$(cd "$work" && dpkg-shlibdeps -O "$libexec/p3-rewrite-$1" | sed -n 's/^shlibs:Depends=//p')
    cat >"$work/root/DEBIAN/control" <<END
Package: p3-rewrite-llvm$1
Version: $version-1
Architecture: $(dpkg --print-architecture)
Maintainer: The p3-rewrite authors
Section: devel
Priority: optional
Depends: $depends, clang-$1
Recommends: p3-rewrite
Breaks: p3-rewrite (<< $version-1), p3-rewrite (>> $version-1)
Suggests: lld-$1, mlir-$1-tools
Description: Exact path profiling of compiled programs: the engine for LLVM $1
 p3-rewrite becomes it for modules that LLVM $1 or an older version wrote.
END
    dpkg-deb --root-owner-group --build "$work/root" "target/debian/p3-rewrite-llvm$1.deb"
    rm -r "$work"
}

build() {
    cargo=${CARGO:-cargo}
    PATH="$PATH:${CARGO_HOME:-$HOME/.cargo}/bin"
    command -v cargo-deb >/dev/null || $cargo install --locked cargo-deb
    # shellcheck disable=SC2086
    set -- $LLVM
    $cargo build --release --locked --no-default-features --features "estimates,llvm$1" --bins
    for v; do
        [ "$v" = "$1" ] || LLVM=$v CARGO=$cargo sh tools/engines.sh build target/release --release
    done
    rm -rf "$SHARE"
    target/release/p3-rewrite manual -o "$SHARE"
    find "$SHARE/man" -name '*.1' -exec gzip -9n {} +
    ln -s p3-cxx "$SHARE/p3-c++"
    mkdir "$SHARE/build-systems"
    for file in p3-toolchain.cmake P3Config.cmake p3-meson.ini p3.pc; do
        installed "$file"
    done
    $cargo deb --no-build --no-strip --output "$PACKAGE"
    for v; do engine "$v"; done
    ls -l target/debian/*.deb
}

try() {
    root=$(mktemp -d)
    trap 'rm -rf --one-file-system "$root"' EXIT
    mmdebstrap --quiet --variant=apt --include=g++,libc6-dev,man-db,cmake,pkgconf bookworm "$root" \
        /etc/apt/sources.list.d/debian.sources
    rm -f target/debian/p3-rewrite_*.deb
    cp "$PACKAGE" target/debian/p3-rewrite-llvm*.deb testdata/programs/demo.c tools/deb-user.sh "$root/tmp/"
    # Folders of their own for what a container has: /proc and /dev, gone with the namespaces.
    unshare --mount --pid --fork sh -euc '
        mount -t proc proc "$0/proc"
        mount --bind /dev "$0/dev"
        exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 LLVM="$1" sh /tmp/deb-user.sh
    ' "$root" "$LLVM"
    echo 'tried in a clean Debian 12'
}

case ${1:-} in
build | try) "$1" ;;
*) echo 'deb.sh build|try' >&2 && exit 2 ;;
esac
