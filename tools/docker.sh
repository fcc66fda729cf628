#!/bin/sh
# docker.sh: the image of the Dockerfile, built by buildah in a chroot and used. Nothing is pulled: what stands behind
# FROM is made of Debian's packages and of this machine's Rust, under the same names. As root; images stay in
# target/docker, or DOCKER_AT.
set -eu
cd "$(dirname "$0")/.."
LLVM=$(sh tools/llvm.sh main)
AT=${DOCKER_AT:-$PWD/target/docker}
mkdir -p "$AT"
work=$(mktemp -d)

b() { buildah --root "$AT/images" --runroot "$work/run" --storage-driver vfs "$@"; }

ended() {
    b rm --all >/dev/null 2>&1 || true
    rm -rf --one-file-system "$work"
}
trap ended EXIT

# base NAME PACKAGES: an image of Debian 12, with the certificates that this machine trusts, and its Rust where NAME has
# that
base() {
    b inspect --type image "$1" >/dev/null 2>&1 && return
    mmdebstrap --quiet --variant=apt --include="$2" bookworm "$work/base.tar"
    container=$(b from scratch)
    b add -q "$container" "$work/base.tar" /
    rm "$work/base.tar"
    b copy -q "$container" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
    if [ "$1" != "${1#*rust}" ]; then
        rust=$(${RUSTC:-rustc} --print sysroot)
        b copy -q "$container" "$rust/bin" /usr/local/bin/
        b copy -q "$container" "$rust/lib" /usr/local/lib/
        b config --env PATH=/usr/local/cargo/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --env CARGO_HOME=/usr/local/cargo "$container"
    fi
    b commit -q --rm "$container" "$1" >/dev/null
}

base rust:1-bookworm gcc,libc6-dev,make,ca-certificates
base debian:bookworm-slim ca-certificates
b build --isolation chroot --pull-never -t p3 .

# As its first lines say: a folder of the user's, a module in it. `doctor` is what it runs by itself.
container=$(b from --pull-never localhost/p3)
cp testdata/programs/demo.c "$work/"
in_image() { b run --isolation chroot -v "$work:/src" --workingdir /src "$container" -- "$@"; }
in_image p3-rewrite doctor
in_image clang-$LLVM -O1 -g -fno-inline -emit-llvm -c demo.c -o demo.bc
in_image p3-rewrite demo.bc -k 4 -o out/
in_image make -s -C out run ARGS=1000
in_image p3-prof show out/profile.p3prof --top 1
echo 'the image was built and used'
