#!/bin/bash
# zstd 1.5, one thread: machine code and sources, at several levels, and back.
. "$RECIPES/env.sh"
n=zstd
for m in $MODES; do
  d=$W/$n/$m; rm -rf "$d"; mkdir -p "$d"; tar xf "$SRC"/libzstd_*.orig.tar.xz -C "$d" --strip-components=1
  BCC_MODE=$m make -C "$d/programs" zstd CC="$CCW" CFLAGS="-O2 -w" HAVE_PTHREAD=0 HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0 ZSTD_NO_ASM=1 \
    >"$d/make.log" 2>&1
  keep $n $m "$(dirname "$(find "$d/programs" -name 'zstd.0.0.preopt.bc' | head -1)")/zstd"
done
mkdir -p "$P/$n/data"
cat "$W/$n/${MODES%% *}"/lib/*/*.c >"$P/$n/data/text"
find "$W/$n/${MODES%% *}" -name '*.o' -type f | sort | head -40 | xargs cat >"$P/$n/data/code"
mklink $n clang-19 ""
mkrun $n run.sh <<'R'
for level in 1 3 9 15; do
  "$exe" -q -$level -c "$D/code" >z && "$exe" -q -d -c z | cmp - "$D/code" && md5sum <z
done
R
mkrun $n run-train.sh <<'R'
for level in 2 5 12 17; do
  "$exe" -q -$level -c "$D/text" >z && "$exe" -q -d -c z | cmp - "$D/text" && md5sum <z
done
R
