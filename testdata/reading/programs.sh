#!/bin/sh
# The commands behind the profile of yaml-cpp in docs/EXAMPLES.md: in a folder with the sources of yaml-cpp (Debian 12).
set -eu

p3-rewrite build -k 1 -o p3-yaml -- sh -c 'cmake -S yaml-cpp -B yb -DYAML_CPP_BUILD_TESTS=OFF \
    -DYAML_CPP_BUILD_TOOLS=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -g" && make -C yb'
seq 2000 | sed 's|.*|- name: package &\n  path: /usr/share/doc/package&/README\n  tags: [text, small, one of many]\n  size: &000|' \
    >packages.yaml
make -C p3-yaml/yb/util/parse.p3 run ARGS="$PWD/packages.yaml"

p3-prof show p3-yaml/yb/util/parse.p3/profile.p3prof --top 20 --width 100
