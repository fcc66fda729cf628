# Time and memory of p3-rewrite (k = 4) beside one `opt` with LLVM's PGO instrumentation on the same
# module, interleaved in one run; medians. Modules: sqlite3.c at -O2, without and with -g.
set -eu
cd "$(dirname "$0")/.."
OUT=$PWD/bench-out
ROUNDS=${ROUNDS:-7}
mkdir -p "$OUT/src"
if ! ls "$OUT"/src/libsqlite3-sys-*/sqlite3/sqlite3.c >/dev/null 2>&1; then
    # The amalgamation, from the crate that carries it.
    mkdir -p "$OUT/fetch/src" && : >"$OUT/fetch/src/lib.rs"
    printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nlibsqlite3-sys = "0.30"\n[workspace]\n' >"$OUT/fetch/Cargo.toml"
    cargo vendor -q --manifest-path "$OUT/fetch/Cargo.toml" "$OUT/vendor" >/dev/null
    mv "$OUT/vendor/libsqlite3-sys" "$OUT/src/libsqlite3-sys-0"
fi
sqlite=$(ls "$OUT"/src/libsqlite3-sys-*/sqlite3/sqlite3.c)
[ -e "$OUT/sqlite.bc" ] || clang-19 -O2 -w -emit-llvm -c "$sqlite" -o "$OUT/sqlite.bc"
[ -e "$OUT/sqlite-g.bc" ] || clang-19 -O2 -g -w -emit-llvm -c "$sqlite" -o "$OUT/sqlite-g.bc"

timed() { # FILE COMMAND…: appends wall seconds and kilobytes
    file=$1
    shift
    command time -a -o "$file" -f '%e %M' "$@" >/dev/null 2>&1
}

median() { # FILE COLUMN
    sort -n -k "$2" "$1" | awk -v c="$2" '{ v[NR] = $c } END { print v[int((NR + 1) / 2)] }'
}

echo "| module | opt s | p3-rewrite s | ratio | opt MB | p3-rewrite MB | manifest bytes |"
echo "|---|---:|---:|---:|---:|---:|---:|"
for name in sqlite sqlite-g; do
    rm -f "$OUT/opt.time" "$OUT/p3.time"
    for _ in $(seq "$ROUNDS"); do
        timed "$OUT/opt.time" opt-19 -passes=pgo-instr-gen,instrprof "$OUT/$name.bc" -o "$OUT/pgo.bc"
        timed "$OUT/p3.time" target/release/p3-rewrite -q "$OUT/$name.bc" -k 4 -o "$OUT/copies"
    done
    o=$(median "$OUT/opt.time" 1) p=$(median "$OUT/p3.time" 1)
    om=$(median "$OUT/opt.time" 2) pm=$(median "$OUT/p3.time" 2)
    awk -v n="$name" -v o="$o" -v p="$p" -v om="$om" -v pm="$pm" -v m="$(wc -c <"$OUT/copies/manifest.json")" \
        'BEGIN { printf "| %s | %.2f | %.2f | %.2f | %d | %d | %d |\n", n, o, p, p / o, om / 1024, pm / 1024, m }'
done
