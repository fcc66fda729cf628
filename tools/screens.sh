#!/bin/sh
# screens.sh BIN: takes the screens of docs/PAGE.md and README.md into docs/images, from a profile of
# testdata/programs/demo.c that is made here by the programs in BIN. 128 colours are enough for them.
set -eu
cd "$(dirname "$0")/.."
LLVM=$(sh tools/llvm.sh main)
bin=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

clang-$LLVM -O1 -g -fno-inline -emit-llvm -c testdata/programs/demo.c -o "$work/demo.bc"
"$bin/p3-rewrite" -q "$work/demo.bc" -k 2 -o "$work/out"
make -s -C "$work/out" run ARGS=20000 P3_PROF="$bin/p3-prof" >/dev/null
"$bin/p3-prof" html "$work/out/profile.p3prof" -o "$work/page" >/dev/null

# screen NAME VIEW WIDTH HEIGHT [dark]
screen() {
    scheme=1
    [ "${5:-light}" = dark ] && scheme=0
    chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --hide-scrollbars --force-device-scale-factor=1 --disable-lcd-text \
        --blink-settings=preferredColorScheme=$scheme --user-data-dir="$work/browser" --window-size="$3,$4" \
        --virtual-time-budget=8000 --screenshot="$work/$1.png" "file://$work/page/index.html#$2" 2>"$work/said"
    pngquant --force --skip-if-larger --ext .png 128 "$work/$1.png" || [ $? -eq 98 ]
    size=$(wc -c <"$work/$1.png")
    if [ "$size" -gt 150000 ]; then
        echo "screens: $1.png has $size bytes, more than 150,000" >&2
        exit 1
    fi
    mv "$work/$1.png" "docs/images/$1.png"
}

screen page-function f=sort 1400 720
screen page-coverage coverage 1200 640
screen page-dark f=scan 1400 720 dark
ls -l docs/images
