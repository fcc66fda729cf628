#!/bin/sh
# What a new user does with the package, in a clean Debian 12 with a C++ compiler, CMake and pkgconf. Run by deb.sh.
set -eux
cd /tmp
apt-get update -q
# shellcheck disable=SC2086
set -- $LLVM
apt-get install -q -y --no-install-recommends ./p3-rewrite.deb $(for v; do echo "./p3-rewrite-llvm$v.deb"; done)
p3-rewrite --version
p3-rewrite doctor
for page in p3-rewrite p3-rewrite-build p3-prof p3-prof-coverage p3-cc p3-cxx p3-c++ cargo-p3; do
    man "$page" >page.txt
    test -s page.txt
done
test -e /usr/share/bash-completion/completions/p3-prof
test -e /usr/share/zsh/vendor-completions/_p3-prof
test -e /usr/share/fish/vendor_completions.d/p3-prof.fish

# A module of each version
for v; do
    rm -rf out
    "clang-$v" -O1 -g -fno-inline -emit-llvm -c demo.c -o demo.bc
    p3-rewrite demo.bc -k 2 -o out
    make -s -C out run ARGS=1000
    p3-prof verify --strict out/profile.p3prof
done
rm -rf out
"clang-$1" -O1 -g -fno-inline -emit-llvm -c demo.c -o demo.bc
p3-rewrite demo.bc -k 2 -o out
make -s -C out run ARGS=1000
p3-prof verify --strict out/profile.p3prof
p3-prof show out/profile.p3prof --top 1

# The compilers, by each name, and the header where they look for it
cat >asks.cpp <<'END'
#include <p3_profile.h>
#include <string>
int main(int n, char **) { return std::to_string(n) == "1" && p3_profile_dump ? p3_profile_dump() : 3; }
END
for compiler in p3-cxx p3-c++; do
    "$compiler" -O1 asks.cpp -o asks
    ./asks
    p3-prof merge -m asks.p3/manifest.json asks.p3/raw -o asks.p3prof --failure-mode all
    rm -r asks asks.p3
done
p3-cc -O1 demo.c -o demo
./demo 100 >/dev/null
test -e demo.p3/manifest.json
p3-rewrite build -k 2 -o built -- c++ -x c++ asks.cpp -o asks
p3-rewrite suite -o built -- ./asks
p3-prof verify --strict built/asks.p3/profile.p3prof

# Files of build systems, where these look for them
test "$(pkg-config --modversion p3)" = "$(p3-rewrite --version | sed -n '1s/^p3-rewrite \([^ ]*\).*/\1/p')"
# shellcheck disable=SC2046
"clang-$1" $(pkg-config --cflags p3) -fsyntax-only -x c++ asks.cpp
mkdir -p project
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(asks CXX)
find_package(P3 REQUIRED)
add_executable(asks ../asks.cpp)
target_link_libraries(asks P3::interface)
enable_testing()
add_test(NAME asks COMMAND asks)
p3_add_suite(profile COMMAND ${CMAKE_CTEST_COMMAND})
END
cmake -S project -B b -DCMAKE_TOOLCHAIN_FILE=/usr/share/p3-rewrite/p3-toolchain.cmake -DP3_COPIES=2
cmake --build b
cmake --build b --target profile
p3-prof verify --strict b/asks.p3/profile.p3prof
test -e /usr/share/meson/native/p3-meson.ini

apt-get remove -q -y p3-rewrite $(for v; do echo "p3-rewrite-llvm$v"; done)
test ! -e /usr/libexec/p3-rewrite
test ! -e /usr/bin/p3-rewrite
test ! -e /usr/bin/p3-c++
