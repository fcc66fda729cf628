# bench.sh FOLDER: measures what profiling costs and writes bench/FIGURES.md (many hours; ROUNDS=1 ONLY=name,… is
# shorter). FOLDER/prog/NAME holds prog.bc, link.sh, run.sh and run-train.sh of each program. Without it, they are
# made by the recipes in ../shared/bench, which need Debian's source packages (a deb-src entry).
set -eu
cd "$(dirname "$0")/.."
FOLDER=$1
ROUNDS=${ROUNDS:-10}
if [ ! -d "$FOLDER/prog" ]; then
    recipes=../shared/bench
    [ -e "$recipes/sources.sh" ] || {
        echo "bench: no programs in $FOLDER: give BENCH=folder (see tools/bench.sh)" >&2
        exit 2
    }
    mkdir -p "$FOLDER"
    BENCH=$FOLDER bash "$recipes/sources.sh"
    for recipe in bzip2 gnugo hmmer libquantum pocketsphinx x264 specrand lua sqlite minisat povray; do
        BENCH=$FOLDER MODES="O2 noopt" bash "$recipes/$recipe.sh" >"$FOLDER/$recipe.log" 2>&1 ||
            echo "bench: $recipe could not be built, see $FOLDER/$recipe.log" >&2
    done
    # Ours, beside them
    (cd "$FOLDER/src" && apt-get source --download-only -q libzstd git xz-utils >/dev/null)
    for recipe in zstd git xz; do
        RECIPES=$(readlink -f "$recipes") BENCH=$FOLDER MODES="O2 noopt" bash "bench/recipes/$recipe.sh" >"$FOLDER/$recipe.log" 2>&1 ||
            echo "bench: $recipe could not be built, see $FOLDER/$recipe.log" >&2
    done
fi

# The recipe of povray has no workload. (The image without its comments, which hold the time.)
workload() { # FILE WIDTH HEIGHT
    cat >"$FOLDER/prog/povray/$1" <<EOF
#!/bin/bash
exe=\$(readlink -f "\$1") D=\$(dirname "\$(readlink -f "\$0")")
T=\$(mktemp -d); trap 'rm -rf "\$T"' EXIT; cd "\$T"
"\$exe" "+I\$D/scene.pov" +W$2 +H$3 +A0.1 -J -D +WT1 +FP +Oout.ppm -GA >/dev/null 2>&1; grep -av "^#" out.ppm | md5sum
EOF
    chmod +x "$FOLDER/prog/povray/$1"
}
if [ -e "$FOLDER/prog/povray/prog.bc" ] && [ ! -e "$FOLDER/prog/povray/run.sh" ]; then
    cp testdata/bench/scene.pov "$FOLDER/prog/povray/"
    workload run.sh 900 675
    workload run-train.sh 240 180
fi

bench="cargo run -q --release --locked -p p3-bench --"
$bench measure "$FOLDER" --rounds "$ROUNDS" ${ONLY:+--only "$ONLY"}
$bench edges "$FOLDER" --rounds "$ROUNDS" ${ONLY:+--only "$ONLY"}
$bench rewriting "$FOLDER" --rounds "$ROUNDS" ${ONLY:+--only "$ONLY"}
$bench shadows "$FOLDER" ${ONLY:+--only "$ONLY"}
$bench subpaths "$FOLDER" --rounds "$ROUNDS" ${ONLY:+--only "$ONLY"}
$bench report
