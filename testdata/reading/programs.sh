#!/bin/sh
# The commands behind the profiles of yaml-cpp and jq in docs/EXAMPLES.md: in a folder with the sources of yaml-cpp (Debian
# 12) and of the crate jq-src.
set -eu

p3-rewrite build -k 1 -o p3-yaml -- sh -c 'cmake -S yaml-cpp -B yb -DYAML_CPP_BUILD_TESTS=OFF \
    -DYAML_CPP_BUILD_TOOLS=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -g" && make -C yb'
(out=$PWD/p3-jq; cd jq-src/modules/jq && autoreconf -i && p3-rewrite build -k 1 -o "$out" -- sh -c './configure \
    --without-oniguruma --disable-docs --disable-maintainer-mode --disable-shared --enable-all-static \
    CFLAGS="-O2 -g" && make')

seq 2000 | sed 's|.*|- name: package &\n  path: /usr/share/doc/package&/README\n  tags: [text, small, one of many]\n  size: &000|' \
    >packages.yaml
make -C p3-yaml/yb/util/parse.p3 run ARGS="$PWD/packages.yaml"
make -C p3-jq/jq.p3 run ARGS="-n 1"

p3-prof show p3-yaml/yb/util/parse.p3/profile.p3prof --top 20 --width 100
p3-prof show p3-jq/jq.p3/profile.p3prof --top 20 --width 100
