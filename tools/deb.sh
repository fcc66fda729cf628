#!/bin/sh
# deb.sh build: a Debian package of the release binaries, target/debian/p3-rewrite.deb.
# deb.sh try:   it is installed in a clean Debian 12, used as a new user would, and removed.
set -eu
cd "$(dirname "$0")/.."
PACKAGE=target/debian/p3-rewrite.deb
SHARE=target/share

# A file of a build system, with the places that all has once it is installed. The header is where headers are.
installed() {
    version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
    sed -e 's|@P3_CC@|/usr/bin/p3-cc|; s|@P3_CXX@|/usr/bin/p3-c++|; s|@P3_REWRITE@|/usr/bin/p3-rewrite|; s|@P3_PROF@|/usr/bin/p3-prof|' \
        -e 's|@P3_DIR@/include|/usr/include|; s|^prefix=@P3_DIR@|prefix=/usr|; s|@P3_DIR@|/usr/share/p3-rewrite|' \
        -e "s|@P3_VERSION@|$version|" "share/$1" >"$SHARE/build-systems/$1"
    ! grep '@P3' "$SHARE/build-systems/$1"
}

build() {
    cargo=${CARGO:-cargo}
    PATH="$PATH:${CARGO_HOME:-$HOME/.cargo}/bin"
    command -v cargo-deb >/dev/null || $cargo install --locked cargo-deb
    $cargo build --release --locked --bins
    rm -rf "$SHARE"
    target/release/p3-rewrite manual -o "$SHARE"
    find "$SHARE/man" -name '*.1' -exec gzip -9n {} +
    ln -s p3-cxx "$SHARE/p3-c++"
    mkdir "$SHARE/build-systems"
    for file in p3-toolchain.cmake P3Config.cmake p3-meson.ini p3.pc; do
        installed "$file"
    done
    $cargo deb --no-build --no-strip --output "$PACKAGE"
    ls -l "$PACKAGE"
}

try() {
    root=$(mktemp -d)
    trap 'rm -rf --one-file-system "$root"' EXIT
    mmdebstrap --quiet --variant=apt --include=g++,libc6-dev,man-db,cmake,pkgconf bookworm "$root"
    cp "$PACKAGE" testdata/programs/demo.c tools/deb-user.sh "$root/tmp/"
    # Folders of their own for what a container has: /proc and /dev, gone with the namespaces.
    unshare --mount --pid --fork sh -euc '
        mount -t proc proc "$0/proc"
        mount --bind /dev "$0/dev"
        exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 sh /tmp/deb-user.sh
    ' "$root"
    echo 'tried in a clean Debian 12'
}

case ${1:-} in
build | try) "$1" ;;
*) echo 'deb.sh build|try' >&2 && exit 2 ;;
esac
