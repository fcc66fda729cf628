# selected-programs.sh, read by selected.sh: programs of Debian's sources by which no rule or constant was chosen, with
# their workloads (tools/corpus/programs).

# compiled_program NAME: its bitcode in $at/prog.bc, linked of the modules of a build by its own makefile; $LIBRARIES.
compiled_program() {
    case $1 in
    gperf) LIBRARIES='-lm -lstdc++' ;;
    *) LIBRARIES='-lm -ldl' ;;
    esac
    [ ! -e "$at/prog.bc" ] || return 0
    sh tools/fetch.sh "$1" "$OUT/src"
    rm -rf "$at" && mkdir -p "$at/tree"
    strip=1
    [ "$1" != tcc ] || strip=0 # its archive has no folder
    tar -xf "$(ls "$OUT/src/$1"_*.orig.tar.* | grep -v '\.asc$' | head -n 1)" -C "$at/tree" --strip-components "$strip"
    program=$1 make=make flags='-O2 -g -w' configure='./configure --disable-dependency-tracking --disable-nls'
    case $1 in
    bc) program=bc/bc ;;
    dash | gperf) program=src/$1 ;;
    ed) configure="./configure CC=clang-$LLVM CFLAGS=-O2" ;;
    tcc) configure="./configure --cc=clang-$LLVM --extra-cflags=-O2" make='make tcc' ;;
    gnugo)
        program=interface/gnugo flags="$flags -fcommon"
        configure='./configure --without-curses --without-readline --disable-dependency-tracking'
        ;;
    esac
    # Documentation is built last, and its tools may be missing: what counts is that the program is there.
    (
        cd "$at/tree"
        export CC="clang-$LLVM" CXX="clang++-$LLVM" CFLAGS="$flags" CXXFLAGS='-O2 -g -w -std=gnu++98'
        $configure && p3-rewrite build -k 1 --scheme sbl -o p3 -- $make
    ) >"$at/build.log" 2>&1 || [ -d "$at/tree/p3/$program.p3/native" ] || { tail -n 3 "$at/build.log" >&2; return 1; }
    "llvm-link-$LLVM" "$at/tree/p3/$program".p3/native/*.bc -o "$at/prog.bc"
}

# workload NAME: $arguments, and $stdin.
workload() {
    input=$ROOT/tools/corpus/programs/$1 stdin=/dev/null
    awk 'BEGIN { for (i = 1; i <= 4000; i++) { x = i * 7919 % 10007
        printf "line %d value %d %s%s\n", i, x, x % 3 ? "alpha" : "beta", x % 7 ? "" : " gamma delta" } }' >"$at/text"
    case $1 in
    ed) arguments="-s $at/text" stdin=$input ;;
    gperf) arguments="-t -m 3 $at/keywords" && sh "$input" >"$at/keywords" ;;
    mawk) arguments="-f $input" ;;
    tcc) arguments="-c -I$at/tree -I$at/tree/include -DONE_SOURCE=1 -o $at/object $at/tree/tcc.c" ;;
    *) arguments=$input ;;
    esac
}

# What is over native in each program: everything, residual runs, the hottest paths; and one function at a time, for
# SAMPLE (12) of the functions that ran, equally far apart by name.
programs() {
    echo '| program | native, millions | everything | new, one copy | new, slowest of four | top=20 | functions | median | worst |'
    echo '|---|---:|---:|---:|---:|---:|---:|---:|---:|'
    for name in ${ONLY:-bc dash ed gperf mawk tcc}; do
        at=$OUT/$name
        compiled_program "$name"
        workload "$name"
        whole $arguments
        row="| $name | $((base / 1000000)) | $(over "$everything")"
        for which in '1 new:' '4 new:' '1 top=20:'; do
            row="$row | $(over "$(selected "${which% *}" "${which#* }$at/whole.p3prof" $arguments)")"
        done
        ran_functions | spread "${SAMPLE:-12}" | while read -r function; do
            n=$(selected 1 "through=$function" $arguments </dev/null)
            echo "$function $n"
        done >"$at/functions"
        echo "$row | $(sort -n -k 2 "$at/functions" | awk -v base="$base" '
            { n[NR] = ($2 / base - 1) * 100; worst = $1 }
            END { printf "%d | %+.2f %% | %+.2f %% (`%s`) |", NR, (n[int((NR + 1) / 2)] + n[int(NR / 2) + 1]) / 2, n[NR], worst }')"
    done
}
