# programs.sh FOLDER: profiles the whole-program bitcode that lies in FOLDER/prog/NAME (prog.bc, link.sh,
# run-train.sh) with sbl and with p3 at k = 4, checks that copies behave as the original, that both
# profiles are equal and that they verify. Prints a table of functions by status and of the runs.
set -eu
cd "$(dirname "$0")/.."
LLVM=$(sh tools/llvm.sh main)
BIN=${CARGO_TARGET_DIR:-$PWD/target}/release
FOLDER=$(readlink -f "$1")
OUT=$PWD/bench-out/programs
mkdir -p "$OUT"
RUNTIME=
for file in runtime-c/core/*.c runtime-c/sampling/*.c runtime-c/shadow/*.c; do
    object=$OUT/$(basename "${file%.c}").o
    clang-$LLVM -std=c11 -O2 -fPIC -Iruntime-c/core -c "$file" -o "$object"
    RUNTIME="$RUNTIME $object"
done

# run NAME EXE FOLDER: the training run, its output kept
run() {
    rm -rf "$3/raw" && mkdir -p "$3"
    P3_PROFILE_FILE=$3/raw/%k-%p.p3raw setarch -R "$FOLDER/prog/$1/run-train.sh" "$2" >"$3/output" 2>"$3/errors"
}

echo "| program | exact | cut | skipped | split | paths executed | distinct | abandoned in | native = copies | p3 = sbl | verify |"
echo "|---|---:|---:|---:|---:|---:|---:|---:|---|---|---|"
for dir in "$FOLDER"/prog/*/; do
    name=$(basename "$dir")
    [ -e "$dir/prog.bc" ] && [ -e "$dir/run-train.sh" ] || continue
    [ -z "${PROGRAMS:-}" ] || case " $PROGRAMS " in *" $name "*) ;; *) continue ;; esac
    here=$OUT/$name
    rm -rf "$here" && mkdir -p "$here"
    "$dir/link.sh" "$dir/prog.bc" "$here/native.exe" >/dev/null 2>&1
    run "$name" "$here/native.exe" "$here/native" || true
    same=yes
    for scheme in sbl p3; do
        "$BIN/p3-rewrite" "$dir/prog.bc" --scheme $scheme -k 4 --check -o "$here/$scheme" 2>"$here/$scheme.line"
        k=0
        while [ -e "$here/$scheme/copy-$k" ]; do
            "$dir/link.sh" "$here/$scheme/copy-$k/m0.bc" "$here/x.exe" $RUNTIME >/dev/null 2>&1
            run "$name" "$here/x.exe" "$here/$scheme-$k" || true
            cmp -s "$here/native/output" "$here/$scheme-$k/output" || same="no ($scheme $k)"
            k=$((k + 1))
        done
        "$BIN/p3-prof" merge -m "$here/$scheme/manifest.json" -o "$here/$scheme.p3prof" "$here/$scheme"-*/raw \
            2>>"$here/problems" || "$BIN/p3-prof" merge --failure-mode warn -m "$here/$scheme/manifest.json" \
            -o "$here/$scheme.p3prof" "$here/$scheme"-*/raw 2>>"$here/problems"
    done
    equal=yes
    "$BIN/p3-prof" compare "$here/sbl.p3prof" "$here/p3.p3prof" >"$here/differences" || equal="no ($(wc -l <"$here/differences"))"
    verified=yes
    "$BIN/p3-prof" verify "$here/p3.p3prof" >"$here/verify" || verified="no ($(grep -c violation: "$here/verify"))"
    shown=$("$BIN/p3-prof" show "$here/p3.p3prof" --top 1 | head -n 1)
    numbers=$(sed -E 's/.*functions: ([0-9]+) exact, ([0-9]+) cut, ([0-9]+) skipped, ([0-9]+) split.*/\1 | \2 | \3 | \4/' "$here/p3.line" | tail -n 1)
    paths=$(echo "$shown" | sed -E 's/^([0-9,]+) paths executed, ([0-9,]+) distinct.*/\1 | \2/')
    abandoned=$(grep -c "abandoned by" "$here/verify" || true)
    echo "| $name | $numbers | $paths | $abandoned | $same | $equal | $verified |"
done
