#!/bin/bash
# xz 5.4, one thread: machine code and sources, at several levels and with filters, and back.
. "$RECIPES/env.sh"
n=xz
for m in $MODES; do
  d=$W/$n/$m; rm -rf "$d"; mkdir -p "$d"; tar xf "$SRC"/xz-utils_*.orig.tar.xz -C "$d" --strip-components=1
  (cd "$d" && BCC_MODE=native ./configure CC="$CCW" CFLAGS="-O2 -w" --disable-shared --disable-threads --disable-assembler --disable-nls --disable-doc --disable-scripts \
    >configure.log 2>&1 && BCC_MODE=$m make -j"$(nproc)" >make.log 2>&1)
  keep $n $m "$(dirname "$(find "$d" -name 'xz.0.0.preopt.bc' | head -1)")/xz"
done
mkdir -p "$P/$n/data"
cat "$W/$n/${MODES%% *}"/src/*/*/*.[ch] "$W/$n/${MODES%% *}"/src/*/*.[ch] >"$P/$n/data/text"
find "$W/$n/${MODES%% *}/src" -name '*.o' -type f | sort | head -60 | xargs cat >"$P/$n/data/code"
mklink $n clang-19 ""
mkrun $n run.sh <<'R'
for options in -1 -4 -9e "--x86 --lzma2=preset=6"; do
  "$exe" -q $options -c "$D/code" >z && "$exe" -q -d -c z | cmp - "$D/code" && md5sum <z
done
R
mkrun $n run-train.sh <<'R'
for options in -2 -6 "--delta=dist=4 --lzma2=preset=3" "--format=lzma -5"; do
  "$exe" -q $options -c "$D/text" >z && "$exe" -q -d -c z | cmp - "$D/text" && md5sum <z
done
R
